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
  makeProtectOrder,
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

const { plain, file } = randomFile(3 * fakePartBytes + 77);
let world: World;
let laptop: VaultSession;
let tab: UploadingTab;
let first: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, first } = await openTabWithFirstSecret(world));
});

const newSecretPlan = (title = "Film"): UploadPlan => makeProtectOrder(fileSecret(title, file));
const newVersionPlan = (baseVersion: number): UploadPlan => ({
  operation: "update",
  secretId: first,
  change: { baseVersion, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
  size: file.size,
  handle: null,
});
const isStored = (uploadId: string): boolean => world.service.account.uploads?.has(uploadId) === true;

/** Begins and sends; publishing is left. */
async function beginAndSend(plan = newSecretPlan()): Promise<string> {
  const uploadId = await beginUpload(laptop, tab, plan, {});
  await tab.send(uploadId, file);
  return uploadId;
}

async function saveContentOf(vault: VaultSession, secretId: string): Promise<Blob> {
  const { sealed } = await openSecret(vault, secretId, makePicture("market"), {});
  const { identity, ...content } = sealed;
  const { bytes } = await tab.calls.range(content, 0, contentHeadSize);
  const written: Blob[] = [];
  const sink = {
    write: async (piece: Uint8Array<ArrayBuffer>) => void written.push(new Blob([piece])),
    commit: () => Promise.resolve(new Blob(written)),
    discard: async () => undefined,
  };
  const deps = { calls: tab.calls, digest: createResumableDigest(), retryPolicy: tab.retryPolicy, sink };
  return (
    (await saveContent(
      deps,
      { ...content, ...(await openContentHead(identity, bytes)) },
      { signal: new AbortController().signal, onProgress: () => undefined },
    )) ?? new Blob()
  );
}

describe("an upload", () => {
  it("is published, and another device saves the same bytes", async () => {
    const { secretId, version } = await finishUpload(laptop, tab, await beginAndSend(), null, {});
    expect(version).toBe(1);
    expect(await tab.records.list()).toEqual([]);
    const phone = await world.open("phone");
    expect(new Uint8Array(await (await saveContentOf(phone, secretId)).arrayBuffer())).toEqual(plain);
  });

  it("makes the account when it is the very first secret", async () => {
    world = createWorld();
    laptop = await world.open();
    tab = await openUploadingTab(world, laptop);
    const request = fileSecret("Film", file, makePicture("market"));
    const uploadId = await beginUpload(laptop, tab, makeProtectOrder(request), {});
    await tab.send(uploadId, file);
    expect(world.service.account.keyring).toBeNull();
    await finishUpload(laptop, tab, uploadId, request.protection, {});
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["Film"]);
  });

  it("becomes the next version of a secret, and a conflict leaves what was sent", async () => {
    const uploadId = await beginAndSend(newVersionPlan(1));
    const lateUploadId = await beginAndSend(newVersionPlan(1));
    expect(await finishUpload(laptop, tab, uploadId, null, {})).toEqual({ secretId: first, version: 2 });
    await expect(finishUpload(laptop, tab, lateUploadId, null, {})).rejects.toMatchObject({
      code: "version_conflict",
      details: { version: 2 },
    });
    expect([isStored(lateUploadId), (await listUploads(laptop, tab)).length]).toEqual([true, 1]);
  });

  it("is refused before anything is sent when another device saved first", async () => {
    await update(
      laptop,
      first,
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
    const answers = await Promise.all([
      finishUpload(laptop, tab, uploadId, null, {}),
      finishUpload(secondTab, await openUploadingTab(world, secondTab), uploadId, null, {}),
    ]);
    expect(answers[0]).toEqual(answers[1]);
    expect(world.service.account.rows.get(answers[0].secretId)?.versions).toHaveLength(1);
  });

  it("is published once when the answer got lost", async () => {
    const uploadId = await beginAndSend();
    let lostAnswers = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call.startsWith("PUT /v2/") && lostAnswers++ < 1) throw new PortalError("service_unavailable");
      return answer;
    };
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    expect(world.service.account.rows.get(secretId)?.versions).toHaveLength(1);
  });

  it("is not published before all of it is there", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan(), {});
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "upload_incomplete" });
  });
});

describe("what a device keeps of an upload", () => {
  it("waits under the lock without a name, and is published once unlocked", async () => {
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

  it("says nothing to whoever reads the disk: neither key nor identity, title nor name", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan("A very telling title"), {});
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("a record");
    const { identity } = await readPublishingState(laptop.device, record);
    const { payload_key: key } = await readSealingState(laptop.device, record);
    const stored =
      [record.sealing, record.publishing].map(({ data }) => Buffer.from(data).toString("latin1")).join() +
      JSON.stringify({ ...record, sealing: null, publishing: null });
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    for (const secret of [identity, key, Buffer.from(fromBase64url(key)).toString("latin1"), "telling", "film.mp4"])
      expect(stored).not.toContain(secret);
  });

  it("is forgotten a day after its last part, here and at the service", async () => {
    const uploadId = await beginUpload(laptop, tab, newSecretPlan(), {});
    const { now } = laptop;
    const laterBy = (milliseconds: number): VaultSession => Object.assign(laptop, { now: () => now() + milliseconds });
    expect(await listUploads(laterBy(uploadExpiryHours * 3_600_000 - 60_000), tab)).toHaveLength(1);
    expect(await listUploads(laterBy(uploadExpiryHours * 3_600_000 + 60_000), tab)).toEqual([]);
    expect([await tab.records.list(), isStored(uploadId)]).toEqual([[], false]);
  });

  it("says when it ends: a day after its last part left, however often it was gone on with since", async () => {
    const deviceAt = (hours: number): VaultSession =>
      Object.assign(laptop, { now: () => Date.parse("2026-11-21T10:00:00.000Z") + hours * 3_600_000 });
    const uploadId = await beginUpload(deviceAt(0), tab, newSecretPlan(), {});
    const sendAt = async (hours: number): Promise<void> =>
      (await openUploadingTab(world, deviceAt(hours))).send(uploadId, file);
    await sendAt(0);
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("a record");
    await tab.records.replace({ ...record, sealed: false }); // the tab was closed before this was written
    await sendAt(20);
    expect(await listUploads(deviceAt(20), tab)).toMatchObject([
      { state: "sealed", expiresAt: "2026-11-22T10:00:00.000Z" },
    ]);
  });

  it("is not begun where it cannot be kept: the service is told", async () => {
    const fullTab = { ...tab, records: { ...tab.records, add: () => Promise.reject(new PortalError("storage_full")) } };
    await expect(beginUpload(laptop, fullTab, newSecretPlan(), {})).rejects.toMatchObject({ code: "storage_full" });
    expect(world.service.account.uploads?.size).toBe(0);
  });
});

describe("restartUpload", () => {
  it.each<[string, () => UploadPlan]>([
    ["a new secret", newSecretPlan],
    ["a new version", () => newVersionPlan(1)],
  ])("sends %s from the beginning, with another file and under other keys", async (_case, createPlan) => {
    const uploadId = await beginAndSend(createPlan());
    const before = await tab.records.get(uploadId);
    const { plain: otherBytes, file: changed } = randomFile(fakePartBytes + 5);
    const { uploadId: restartedId } = await restartUpload(
      laptop,
      tab,
      uploadId,
      { size: changed.size, handle: null },
      {},
    );
    if (restartedId === null || before === null) throw new TypeError("an upload");
    expect([
      isStored(uploadId),
      isStored(restartedId),
      (await tab.records.list()).map(({ uploadId: id }) => id),
    ]).toEqual([false, true, [restartedId]]);
    const after = await tab.records.get(restartedId);
    if (after === null) throw new TypeError("a record");
    expect((await readSealingState(laptop.device, after)).payload_key).not.toBe(
      (await readSealingState(laptop.device, before)).payload_key,
    );
    await tab.send(restartedId, changed);
    const { secretId } = await finishUpload(laptop, tab, restartedId, null, {});
    expect(new Uint8Array(await (await saveContentOf(laptop, secretId)).arrayBuffer())).toEqual(otherBytes);
  });

  it("begins nothing when a call that left before was published after all", async () => {
    const uploadId = await beginAndSend();
    world.service.transformAnswer = (call, answer) => {
      if (call.startsWith("PUT /v2/")) world.service.beforeCall = () => Promise.reject(new PortalError("offline"));
      if (call.startsWith("PUT /v2/")) throw new PortalError("offline");
      return answer;
    };
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "offline" });
    world.service.beforeCall = () => undefined;
    await expect(restartUpload(laptop, tab, uploadId, { size: file.size, handle: null }, {})).resolves.toMatchObject({
      version: 1,
      uploadId: null,
    });
    expect([await tab.records.list(), world.service.account.rows.size]).toEqual([[], 2]);
  });

  it("keeps the one before when none can be begun", async () => {
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

  it("forgets the keys at once while the service is away, and tells it when it is back", async () => {
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

  it("is without effect once it is published", async () => {
    const uploadId = await beginAndSend();
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    await discardUpload(tab, uploadId);
    expect(world.service.account.rows.has(secretId)).toBe(true);
  });
});
