import "fake-indexeddb/auto";

import { fromBase64url, uploadExpiryHours } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { list } from "./list.ts";
import { openSecret } from "./open-secret.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";
import { contentHeadSize } from "../seal/content-sizes.ts";
import { openContentHead } from "../seal/content-stream.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  makeProtectPlan,
  randomFile,
  openTabWithFirstSecret,
  openUploadingTab,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, makePicture, type World } from "../testing/world.ts";
import { readPublishingState, readSealingState } from "../transfer/upload-records.ts";
import { createResumableDigest } from "../transfer/resumable-digest.ts";
import { saveContent } from "../transfer/save-content.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  restartUpload,
  listUploads,
  type UploadPlan,
} from "./resumable-uploads.ts";

const { plaintext: plainBytes, file } = randomFile(3 * fakePartBytes + 77);
let world: World;
let laptop: VaultSession;
let tab: UploadingTab;
let firstSecretId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, firstId: firstSecretId } = await openTabWithFirstSecret(world));
});

const newSecretPlan = (title = "Film"): UploadPlan => makeProtectPlan(fileSecret(title, file));
const newVersionPlan = (baseVersion: number): UploadPlan => ({
  operation: "update",
  secretId: firstSecretId,
  change: { baseVersion, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
  size: file.size,
  handle: null,
});
const isStored = (uploadId: string): boolean => world.service.account.uploads?.has(uploadId) === true;

/** Begins an upload and sends all parts, without publishing. */
async function beginAndSend(plan = newSecretPlan()): Promise<string> {
  const uploadId = await beginUpload(laptop, tab, plan, {});
  await tab.send(uploadId, file);
  return uploadId;
}

async function saveContentOf(vault: VaultSession, secretId: string): Promise<Blob> {
  const { sealed } = await openSecret(vault, secretId, makePicture("market"), {});
  const { identity, ...content } = sealed;
  const { bytes } = await tab.calls.range(content, 0, contentHeadSize);
  const writtenBlobs: Blob[] = [];
  const sink = {
    write: async (piece: Uint8Array<ArrayBuffer>) => void writtenBlobs.push(new Blob([piece])),
    commit: () => Promise.resolve(new Blob(writtenBlobs)),
    discard: async () => undefined,
  };
  const deps = { calls: tab.calls, digest: createResumableDigest(), retryPolicy: tab.retryPolicy, sink };
  return saveContent(
    deps,
    { ...content, ...(await openContentHead(identity, bytes)) },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
}

describe("an upload", () => {
  it("is published, and another device saves the same bytes", async () => {
    const { secretId, version } = await finishUpload(laptop, tab, await beginAndSend(), null, {});
    expect(version).toBe(1);
    expect(await tab.records.list()).toEqual([]);
    const phone = await world.open("phone");
    expect(new Uint8Array(await (await saveContentOf(phone, secretId)).arrayBuffer())).toEqual(plainBytes);
  });

  it("creates the account with the first secret", async () => {
    world = createWorld();
    laptop = await world.open();
    tab = await openUploadingTab(world, laptop);
    const request = fileSecret("Film", file, makePicture("market"));
    const uploadId = await beginUpload(laptop, tab, makeProtectPlan(request), {});
    await tab.send(uploadId, file);
    expect(world.service.account.keyring).toBeNull();
    await finishUpload(laptop, tab, uploadId, request.protection, {});
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["Film"]);
  });

  it("becomes the next version of a secret, but stays unpublished after a conflict", async () => {
    const uploadId = await beginAndSend(newVersionPlan(1));
    const lateUploadId = await beginAndSend(newVersionPlan(1));
    expect(await finishUpload(laptop, tab, uploadId, null, {})).toEqual({ secretId: firstSecretId, version: 2 });
    await expect(finishUpload(laptop, tab, lateUploadId, null, {})).rejects.toMatchObject({
      code: "version_conflict",
      details: { version: 2 },
    });
    expect([isStored(lateUploadId), (await listUploads(laptop, tab)).length]).toEqual([true, 1]);
  });

  it("is refused before anything is sent if another device has saved first", async () => {
    await update(
      laptop,
      firstSecretId,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    await expect(beginUpload(laptop, tab, newVersionPlan(1), {})).rejects.toMatchObject({ code: "version_conflict" });
    expect(await tab.records.list()).toEqual([]);
  });

  it("is published once by two tabs that finish it at the same time", async () => {
    const uploadId = await beginAndSend();
    const secondTab = await world.open();
    (await unlock(secondTab, makePicture("market"), {})).opener.wipe();
    const responses = await Promise.all([
      finishUpload(laptop, tab, uploadId, null, {}),
      finishUpload(secondTab, await openUploadingTab(world, secondTab), uploadId, null, {}),
    ]);
    expect(responses[0]).toEqual(responses[1]);
    expect(world.service.account.rows.get(responses[0].secretId)?.versions).toHaveLength(1);
  });

  it("is published once when a response is lost", async () => {
    const uploadId = await beginAndSend();
    let lostResponses = 0;
    world.service.transformResponse = (call, response) => {
      if (call.startsWith("PUT /v2/") && lostResponses++ < 1) throw new PortalError("service_unavailable");
      return response;
    };
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    expect(world.service.account.rows.get(secretId)?.versions).toHaveLength(1);
  });

  it("is not published before all parts have arrived", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan(), {});
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "upload_incomplete" });
  });
});

describe("the record of an upload", () => {
  it("is listed without a name while locked, and published after unlocking", async () => {
    const uploadId = await beginAndSend();
    laptop.lock();
    expect(await listUploads(laptop, tab)).toMatchObject([
      { uploadId, state: "sealed", title: null, name: null, needsFile: false },
    ]);
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "vault_locked" });
    expect(isStored(uploadId)).toBe(true);
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    expect(await listUploads(laptop, tab)).toMatchObject([{ title: "Film", name: "film.mp4" }]);
    await expect(finishUpload(laptop, tab, uploadId, null, {})).resolves.toMatchObject({ version: 1 });
  });

  it("is removed from the list when its tab was closed after the service had published it", async () => {
    const uploadId = await beginAndSend();
    const closedTab = {
      ...tab,
      records: { ...tab.records, remove: () => Promise.reject(new PortalError("storage_full")) },
    };
    await expect(finishUpload(laptop, closedTab, uploadId, null, {})).rejects.toMatchObject({ code: "storage_full" });
    world.service.transformResponse = () => {
      throw new PortalError("service_unavailable");
    };
    expect(await listUploads(laptop, tab)).toHaveLength(1); // not known yet
    world.service.transformResponse = (_call, response) => response;
    expect(await listUploads(laptop, tab)).toEqual([]);
  });

  it("reveals neither key, identity, title nor name on the disk", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan("A very telling title"), {});
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("expected a record");
    const { identity } = await readPublishingState(laptop.device, record);
    const { payload_key: key } = await readSealingState(laptop.device, record);
    const storedText =
      [record.sealing, record.publishing].map(({ data }) => Buffer.from(data).toString("latin1")).join() +
      JSON.stringify({ ...record, sealing: null, publishing: null });
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    for (const secret of [identity, key, Buffer.from(fromBase64url(key)).toString("latin1"), "telling", "film.mp4"])
      expect(storedText).not.toContain(secret);
  });

  it("is deleted a day after its last part, here and at the service", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan(), {});
    const { now } = laptop;
    const laterBy = (milliseconds: number): VaultSession => Object.assign(laptop, { now: () => now() + milliseconds });
    expect(await listUploads(laterBy(uploadExpiryHours * 3_600_000 - 60_000), tab)).toHaveLength(1);
    expect(await listUploads(laterBy(uploadExpiryHours * 3_600_000 + 60_000), tab)).toEqual([]);
    expect([await tab.records.list(), isStored(uploadId)]).toEqual([[], false]);
  });

  it("expires a day after its last part was sent, however often it is resumed", async () => {
    const deviceAt = (hours: number): VaultSession =>
      Object.assign(laptop, { now: () => Date.parse("2026-11-21T10:00:00.000Z") + hours * 3_600_000 });
    const uploadId = await beginUpload(deviceAt(0), tab, newSecretPlan(), {});
    const sendAt = async (hours: number): Promise<void> =>
      (await openUploadingTab(world, deviceAt(hours))).send(uploadId, file);
    await sendAt(0);
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("expected a record");
    await tab.records.replace({ ...record, sealed: false }); // the tab closed before this was saved
    await sendAt(20);
    expect(await listUploads(deviceAt(20), tab)).toMatchObject([
      { state: "sealed", expiresAt: "2026-11-22T10:00:00.000Z" },
    ]);
  });

  it("that cannot be saved cancels the upload at the service", async () => {
    const fullTab = { ...tab, records: { ...tab.records, add: () => Promise.reject(new PortalError("storage_full")) } };
    await expect(beginUpload(laptop, fullTab, newSecretPlan(), {})).rejects.toMatchObject({ code: "storage_full" });
    expect(world.service.account.uploads?.size).toBe(0);
  });
});

describe("restartUpload", () => {
  it.each<[string, () => UploadPlan]>([
    ["a new secret", newSecretPlan],
    ["a new version", () => newVersionPlan(1)],
  ])("sends %s from the beginning, with another file and other keys", async (_case, createPlan) => {
    const uploadId = await beginAndSend(createPlan());
    const formerRecord = await tab.records.get(uploadId);
    const { plaintext: otherBytes, file: otherFile } = randomFile(fakePartBytes + 5);
    const { uploadId: restartedId } = await restartUpload(
      laptop,
      tab,
      uploadId,
      { size: otherFile.size, handle: null },
      {},
    );
    if (restartedId === null || formerRecord === null) throw new TypeError("expected an upload");
    expect([
      isStored(uploadId),
      isStored(restartedId),
      (await tab.records.list()).map(({ uploadId: id }) => id),
    ]).toEqual([false, true, [restartedId]]);
    const restartedRecord = await tab.records.get(restartedId);
    if (restartedRecord === null) throw new TypeError("expected a record");
    expect((await readSealingState(laptop.device, restartedRecord)).payload_key).not.toBe(
      (await readSealingState(laptop.device, formerRecord)).payload_key,
    );
    await tab.send(restartedId, otherFile);
    const { secretId } = await finishUpload(laptop, tab, restartedId, null, {});
    expect(new Uint8Array(await (await saveContentOf(laptop, secretId)).arrayBuffer())).toEqual(otherBytes);
  });

  it("starts nothing when an earlier call was published after all", async () => {
    const uploadId = await beginAndSend();
    world.service.transformResponse = (call, response) => {
      if (call.startsWith("PUT /v2/")) world.service.beforeCall = () => Promise.reject(new PortalError("offline"));
      if (call.startsWith("PUT /v2/")) throw new PortalError("offline");
      return response;
    };
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "offline" });
    world.service.beforeCall = () => undefined;
    await expect(restartUpload(laptop, tab, uploadId, { size: file.size, handle: null }, {})).resolves.toMatchObject({
      version: 1,
      uploadId: null,
    });
    expect([await tab.records.list(), world.service.account.rows.size]).toEqual([[], 2]);
  });

  it("keeps the former upload when no new one can be started", async () => {
    const uploadId = await beginAndSend();
    world.service.beforeCall = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    await expect(restartUpload(laptop, tab, uploadId, { size: file.size, handle: null }, {})).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    expect([isStored(uploadId), (await tab.records.list()).length]).toEqual([true, 1]);
  });
});

describe("discardUpload", () => {
  it("removes record and parts", async () => {
    const uploadId = await beginAndSend();
    await discardUpload(tab, uploadId);
    expect([await tab.records.list(), isStored(uploadId)]).toEqual([[], false]);
  });

  it("deletes the keys immediately, and the parts when the service is available again", async () => {
    const uploadId = await beginAndSend();
    let failuresLeft = 4;
    const serviceNotified = new Promise<void>((resolve) => {
      world.service.beforeCall = (call) => {
        if (!call.startsWith("DELETE /v2/")) return;
        if (failuresLeft-- > 0) throw new PortalError("offline");
        resolve();
      };
    });
    await discardUpload(tab, uploadId);
    expect(await tab.records.list()).toEqual([]);
    await serviceNotified;
    expect(isStored(uploadId)).toBe(false);
  });

  it("has no effect on a published upload", async () => {
    const uploadId = await beginAndSend();
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    await discardUpload(tab, uploadId);
    expect(world.service.account.rows.has(secretId)).toBe(true);
  });
});
