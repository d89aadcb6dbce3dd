import "fake-indexeddb/auto";

import { toB64u } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { randomBytes, sha256 } from "../seal/bytes.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  protectOrder,
  randomFile,
  tabWithFirst,
  uploadingTab,
  type UploadingTab,
} from "../testing/uploading.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealing } from "./records.ts";
import { createRunningDigest, type RunningDigest } from "./running-digest.ts";
import { beginUpload, finishUpload } from "../acts/resumable-uploads.ts";

const { plain, file } = randomFile(5 * fakePartBytes + 77);
const parts = 6;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");

let world: World;
let tab: UploadingTab;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await tabWithFirst(world));
  uploadId = await beginUpload(tab.vault, tab, protectOrder(fileSecret("Film", file)), {});
});

const partsSent = (): number => world.service.calls.filter(isPart).length;
const partsThere = (): number => world.service.account.uploads?.get(uploadId)?.parts.size ?? 0;
/** The service accepts the finish only when the digest over all parts is right. */
const publish = (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/** Sends until so many parts left, and is gone then, as a tab that is closed. */
async function sendSome(count: number): Promise<void> {
  const closed = new AbortController();
  let sent = 0;
  world.service.before = (call) => {
    if (isPart(call) && ++sent > count) closed.abort();
  };
  await expect(tab.send(uploadId, file, { signal: closed.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.before = () => undefined;
  world.service.calls.length = 0;
}

/** A page that is loaded later on the same device. */
async function laterTab(): Promise<UploadingTab> {
  return uploadingTab(world, await world.open());
}

describe("sendContent", () => {
  it("sends every part once, and tells how far it is", async () => {
    const told: number[] = [];
    await tab.send(uploadId, file, { onProgress: (done) => told.push(done) });
    expect([partsSent(), partsThere(), told.length]).toEqual([parts, parts, parts]);
    expect(told[parts - 1]).toBe((await tab.records.get(uploadId))?.sealedSize);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it.each(["offline", "service_unavailable", "timed_out", "too_many_requests"] as const)(
    "goes on after %s in the middle of a part",
    async (code) => {
      let broken = 0;
      world.service.before = (call) => {
        if (isPart(call) && partsThere() === 2 && ++broken <= 5) throw new PortalError(code);
      };
      await tab.send(uploadId, file);
      expect([partsThere(), tab.waits()]).toEqual([parts, 5]);
      await expect(publish()).resolves.toMatchObject({ version: 1 });
    },
  );

  it("sends a part again whose answer got lost, and the service keeps it once", async () => {
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (isPart(call) && lost++ < 3) throw new PortalError("service_unavailable");
      return answer;
    };
    await tab.send(uploadId, file);
    expect([partsSent(), partsThere()]).toEqual([parts + 3, parts]);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("goes on after a service that is away for every call, the first one too", async () => {
    let away = 7;
    world.service.before = () => {
      if (away-- > 0) throw new PortalError("service_unavailable");
    };
    await tab.send(uploadId, file);
    expect(partsThere()).toBe(parts);
  });

  it("writes a part's digest down before the part leaves", async () => {
    const written: (string | undefined)[] = [];
    world.service.before = async (call) => {
      if (!isPart(call)) return;
      const record = await tab.records.get(uploadId);
      if (record !== null)
        written.push(...(await readSealing(tab.vault.device, record)).parts.slice(written.length, written.length + 1));
    };
    await tab.send(uploadId, file);
    const sent = [...(world.service.account.uploads?.get(uploadId)?.parts ?? [])]
      .sort(([left], [right]) => left - right)
      .map(([, bytes]) => toB64u(sha256(bytes)));
    expect(written).toEqual(sent);
  });

  it("ends for good with any other refusal, and stays resumable", async () => {
    let refused = false;
    world.service.before = (call) => {
      if (isPart(call) && partsThere() === 2 && !refused) {
        refused = true;
        throw new PortalError("quota_exceeded");
      }
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "quota_exceeded" });
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops when the disk is full before a part leaves, loses nothing, and goes on later", async () => {
    let room = 2;
    const full = {
      ...tab.records,
      replace: (record: Parameters<typeof tab.records.replace>[0]) =>
        room-- > 0 ? tab.records.replace(record) : Promise.reject(new PortalError("storage_full")),
    };
    await expect(tab.send(uploadId, file, { records: full })).rejects.toMatchObject({ code: "storage_full" });
    expect(partsThere()).toBe(2);
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops when it was given up in another tab, and does not bring it back", async () => {
    world.service.before = async (call) => {
      if (isPart(call) && partsThere() === 2) await tab.records.remove(uploadId);
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "not_found" });
    expect(await tab.records.get(uploadId)).toBeNull();
  });

  it("says that the service dropped it, and keeps what this device has of it", async () => {
    world.service.account.uploads?.clear();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await tab.records.all()).toHaveLength(1);
  });
});

describe("sendContent after a closed tab", () => {
  it("goes on where it stopped, with the digest's state as it was kept", async () => {
    await sendSome(3);
    const there = partsThere();
    tab = await laterTab();
    const record = await tab.records.get(uploadId);
    const { digest_state: kept, parts: known } =
      record === null ? { digest_state: null, parts: [] } : await readSealing(tab.vault.device, record);
    const own = createRunningDigest();
    const calls: (string | null)[] = [];
    const digest: RunningDigest = {
      ...own,
      start: (state) => {
        calls.push(state);
        return own.start(state);
      },
      update: async (bytes) => {
        calls.push("update");
        return own.update(bytes);
      },
    };
    await tab.send(uploadId, file, { digest });
    expect(there).toBeGreaterThan(0);
    expect(kept).not.toBeNull();
    expect(calls).toEqual([kept, ...Array<string>(parts - known.length).fill("update")]);
    expect(partsSent()).toBe(parts - there);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("sends a part again that was written down but never arrived", async () => {
    await sendSome(3);
    world.service.account.uploads?.get(uploadId)?.parts.delete(2);
    tab = await laterTab();
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it.each<[string, () => Blob]>([
    ["another file of the same size", () => randomFile(file.size).file],
    [
      "a file with one byte changed in a part that was sent",
      () => new Blob([plain.map((byte, index) => (index === 150_000 ? byte ^ 1 : byte))]),
    ],
    ["a shorter file", () => file.slice(0, -1)],
    ["a longer file", () => new Blob([file, randomBytes(1)])],
  ])("refuses %s, and sends nothing", async (_what, other) => {
    await sendSome(3);
    tab = await laterTab();
    await expect(tab.send(uploadId, other())).rejects.toMatchObject({ code: "file_changed" });
    expect(partsSent()).toBe(0);
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("does not take a service's word for a part: one that it has with another digest stops it", async () => {
    await sendSome(3);
    world.service.account.uploads?.get(uploadId)?.parts.set(1, randomBytes(fakePartBytes % 65_536));
    tab = await laterTab();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "conflict" });
  });

  it("has nothing left to do once all is sealed and sent", async () => {
    await tab.send(uploadId, file);
    world.service.calls.length = 0;
    await (await laterTab()).send(uploadId, file);
    expect(partsSent()).toBe(0);
  });
});
