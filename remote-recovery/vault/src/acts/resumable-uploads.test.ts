import "fake-indexeddb/auto";

import { fromB64u, uploadHours } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { list } from "./list.ts";
import { recoverAny } from "./recover.ts";
import { unlock } from "./unlock.ts";
import { update } from "./update.ts";
import { contentHeadBytes } from "../seal/content-pieces.ts";
import { openContentHead } from "../seal/content-stream.ts";
import type { VaultContext } from "../vault-context.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  protectOrder,
  randomFile,
  tabWithFirst,
  uploadingTab,
  type UploadingTab,
} from "../testing/uploading.ts";
import { createWorld, shown, type World } from "../testing/world.ts";
import { readPublishing, readSealing } from "../transfer/records.ts";
import { createRunningDigest } from "../transfer/running-digest.ts";
import { saveContent } from "../transfer/save-content.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  restartUpload,
  uploads,
  type UploadOrder,
} from "./resumable-uploads.ts";

const { plain, file } = randomFile(3 * fakePartBytes + 77);
let world: World;
let laptop: VaultContext;
let tab: UploadingTab;
let first: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, first } = await tabWithFirst(world));
});

const order = (title = "Film"): UploadOrder => protectOrder(fileSecret(title, file));
const newVersion = (baseVersion: number): UploadOrder => ({
  act: "update",
  secretId: first,
  change: { baseVersion, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
  size: file.size,
  handle: null,
});
const there = (uploadId: string): boolean => world.service.account.uploads?.has(uploadId) === true;

/** Begins and sends; publishing is left. */
async function sent(what = order()): Promise<string> {
  const uploadId = await beginUpload(laptop, tab, what, {});
  await tab.send(uploadId, file);
  return uploadId;
}

async function saved(vault: VaultContext, secretId: string): Promise<Blob> {
  const { sealed } = await recoverAny(vault, secretId, shown("market"), {});
  const { identity, ...content } = sealed;
  const { bytes } = await tab.calls.range(content, 0, contentHeadBytes);
  const written: Blob[] = [];
  const sink = {
    write: async (piece: Uint8Array<ArrayBuffer>) => void written.push(new Blob([piece])),
    commit: () => Promise.resolve(new Blob(written)),
    discard: async () => undefined,
  };
  const parts = { calls: tab.calls, digest: createRunningDigest(), patience: tab.patience, sink };
  return (
    (await saveContent(
      parts,
      { ...content, ...(await openContentHead(identity, bytes)) },
      { signal: new AbortController().signal, onProgress: () => undefined },
    )) ?? new Blob()
  );
}

describe("an upload", () => {
  it("is published, and another device saves the same bytes", async () => {
    const { secretId, version } = await finishUpload(laptop, tab, await sent(), null, {});
    expect(version).toBe(1);
    expect(await tab.records.all()).toEqual([]);
    const phone = await world.open("phone");
    expect(new Uint8Array(await (await saved(phone, secretId)).arrayBuffer())).toEqual(plain);
  });

  it("makes the account when it is the very first secret", async () => {
    world = createWorld();
    laptop = await world.open();
    tab = await uploadingTab(world, laptop);
    const request = fileSecret("Film", file, shown("market"));
    const uploadId = await beginUpload(laptop, tab, protectOrder(request), {});
    await tab.send(uploadId, file);
    expect(world.service.account.keyring).toBeNull();
    await finishUpload(laptop, tab, uploadId, request.protection, {});
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["Film"]);
  });

  it("becomes the next version of a secret, and a conflict leaves what was sent", async () => {
    const uploadId = await sent(newVersion(1));
    const late = await sent(newVersion(1));
    expect(await finishUpload(laptop, tab, uploadId, null, {})).toEqual({ secretId: first, version: 2 });
    await expect(finishUpload(laptop, tab, late, null, {})).rejects.toMatchObject({
      code: "version_conflict",
      details: { version: 2 },
    });
    expect([there(late), (await uploads(laptop, tab)).length]).toEqual([true, 1]);
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
    await expect(beginUpload(laptop, tab, newVersion(1), {})).rejects.toMatchObject({ code: "version_conflict" });
    expect(await tab.records.all()).toEqual([]);
  });

  it("is published once by two tabs that finish it at the same time", async () => {
    const uploadId = await sent();
    const other = await world.open();
    const answers = await Promise.all([
      finishUpload(laptop, tab, uploadId, null, {}),
      finishUpload(other, await uploadingTab(world, other), uploadId, null, {}),
    ]);
    expect(answers[0]).toEqual(answers[1]);
    expect(world.service.account.rows.get(answers[0].secretId)?.versions).toHaveLength(1);
  });

  it("is published once when the answer got lost", async () => {
    const uploadId = await sent();
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (call.startsWith("PUT /v2/") && lost++ < 1) throw new PortalError("service_unavailable");
      return answer;
    };
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    expect(world.service.account.rows.get(secretId)?.versions).toHaveLength(1);
  });

  it("is not published before all of it is there", async () => {
    const uploadId = await beginUpload(laptop, tab, order(), {});
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "upload_incomplete" });
  });
});

describe("what a device keeps of an upload", () => {
  it("waits under the lock without a name, and is published once unlocked", async () => {
    const uploadId = await sent();
    laptop.keys = null;
    expect(await uploads(laptop, tab)).toMatchObject([
      { uploadId, state: "sealed", title: null, name: null, needsFile: false },
    ]);
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "vault_locked" });
    expect(there(uploadId)).toBe(true);
    (await unlock(laptop, shown("market"), {})).opener.forget();
    expect(await uploads(laptop, tab)).toMatchObject([{ title: "Film", name: "film.mp4" }]);
    await expect(finishUpload(laptop, tab, uploadId, null, {})).resolves.toMatchObject({ version: 1 });
  });

  it("says nothing to whoever reads the disk: neither key nor identity, title nor name", async () => {
    const uploadId = await beginUpload(laptop, tab, order("A very telling title"), {});
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("a record");
    const { identity } = await readPublishing(laptop.device, record);
    const { payload_key: key } = await readSealing(laptop.device, record);
    const kept =
      [record.sealing, record.publishing].map(({ data }) => Buffer.from(data).toString("latin1")).join() +
      JSON.stringify({ ...record, sealing: null, publishing: null });
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    for (const secret of [identity, key, Buffer.from(fromB64u(key)).toString("latin1"), "telling", "film.mp4"])
      expect(kept).not.toContain(secret);
  });

  it("is forgotten a day after its last part, here and at the service", async () => {
    const uploadId = await beginUpload(laptop, tab, order(), {});
    const later = { ...laptop, now: () => laptop.now() + uploadHours * 3_600_000 - 60_000 };
    expect(await uploads(later, tab)).toHaveLength(1);
    expect(await uploads({ ...later, now: () => later.now() + 120_000 }, tab)).toEqual([]);
    expect([await tab.records.all(), there(uploadId)]).toEqual([[], false]);
  });

  it("says when it ends: a day after its last part left, however often it was gone on with since", async () => {
    const at = (hours: number): VaultContext => ({
      ...laptop,
      now: () => Date.parse("2026-11-21T10:00:00.000Z") + hours * 3_600_000,
    });
    const uploadId = await beginUpload(at(0), tab, order(), {});
    const sendAt = async (hours: number): Promise<void> => (await uploadingTab(world, at(hours))).send(uploadId, file);
    await sendAt(0);
    const record = await tab.records.get(uploadId);
    if (record === null) throw new TypeError("a record");
    await tab.records.replace({ ...record, sealed: false }); // the tab was closed before this was written
    await sendAt(20);
    expect(await uploads(at(20), tab)).toMatchObject([{ state: "sealed", expiresAt: "2026-11-22T10:00:00.000Z" }]);
  });

  it("is not begun where it cannot be kept: the service is told", async () => {
    const full = { ...tab, records: { ...tab.records, add: () => Promise.reject(new PortalError("storage_full")) } };
    await expect(beginUpload(laptop, full, order(), {})).rejects.toMatchObject({ code: "storage_full" });
    expect(world.service.account.uploads?.size).toBe(0);
  });
});

describe("restartUpload", () => {
  it.each<[string, () => UploadOrder]>([
    ["a new secret", order],
    ["a new version", () => newVersion(1)],
  ])("sends %s from the beginning, with another file and under other keys", async (_what, make) => {
    const uploadId = await sent(make());
    const before = await tab.records.get(uploadId);
    const { plain: other, file: changed } = randomFile(fakePartBytes + 5);
    const { uploadId: again } = await restartUpload(laptop, tab, uploadId, { size: changed.size, handle: null }, {});
    if (again === null || before === null) throw new TypeError("an upload");
    expect([there(uploadId), there(again), (await tab.records.all()).map(({ uploadId: id }) => id)]).toEqual([
      false,
      true,
      [again],
    ]);
    const after = await tab.records.get(again);
    if (after === null) throw new TypeError("a record");
    expect((await readSealing(laptop.device, after)).payload_key).not.toBe(
      (await readSealing(laptop.device, before)).payload_key,
    );
    await tab.send(again, changed);
    const { secretId } = await finishUpload(laptop, tab, again, null, {});
    expect(new Uint8Array(await (await saved(laptop, secretId)).arrayBuffer())).toEqual(other);
  });

  it("begins nothing when a call that left before was published after all", async () => {
    const uploadId = await sent();
    world.service.answer = (call, answer) => {
      if (call.startsWith("PUT /v2/")) world.service.before = () => Promise.reject(new PortalError("offline"));
      if (call.startsWith("PUT /v2/")) throw new PortalError("offline");
      return answer;
    };
    await expect(finishUpload(laptop, tab, uploadId, null, {})).rejects.toMatchObject({ code: "offline" });
    world.service.before = () => undefined;
    await expect(restartUpload(laptop, tab, uploadId, { size: file.size, handle: null }, {})).resolves.toMatchObject({
      version: 1,
      uploadId: null,
    });
    expect([await tab.records.all(), world.service.account.rows.size]).toEqual([[], 2]);
  });

  it("keeps the one before when none can be begun", async () => {
    const uploadId = await sent();
    world.service.before = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    await expect(restartUpload(laptop, tab, uploadId, { size: file.size, handle: null }, {})).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    expect([there(uploadId), (await tab.records.all()).length]).toEqual([true, 1]);
  });
});

describe("discardUpload", () => {
  it("removes record and parts", async () => {
    const uploadId = await sent();
    await discardUpload(tab, uploadId);
    expect([await tab.records.all(), there(uploadId)]).toEqual([[], false]);
  });

  it("forgets the keys at once while the service is away, and tells it when it is back", async () => {
    const uploadId = await sent();
    let away = 4;
    const told = new Promise<void>((resolve) => {
      world.service.before = (call) => {
        if (!call.startsWith("DELETE /v2/")) return;
        if (away-- > 0) throw new PortalError("offline");
        resolve();
      };
    });
    await discardUpload(tab, uploadId);
    expect(await tab.records.all()).toEqual([]);
    await told;
    expect(there(uploadId)).toBe(false);
  });

  it("is without effect once it is published", async () => {
    const uploadId = await sent();
    const { secretId } = await finishUpload(laptop, tab, uploadId, null, {});
    await discardUpload(tab, uploadId);
    expect(world.service.account.rows.has(secretId)).toBe(true);
  });
});
