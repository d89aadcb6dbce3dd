import "fake-indexeddb/auto";

import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { randomBytes, sha256 } from "../seal/bytes.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  makeProtectOrder,
  randomFile,
  openTabWithFirstSecret,
  openUploadingTab,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealingState } from "./upload-records.ts";
import { createResumableDigest, type ResumableDigest } from "./resumable-digest.ts";
import { beginUpload, finishUpload } from "../operations/resumable-uploads.ts";

const { plain, file } = randomFile(5 * fakePartBytes + 77);
const partCount = 6;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");

let world: World;
let tab: UploadingTab;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
  uploadId = await beginUpload(tab.vault, tab, makeProtectOrder(fileSecret("Film", file)), {});
});

const sentPartCount = (): number => world.service.calls.filter(isPart).length;
const receivedPartCount = (): number => world.service.account.uploads?.get(uploadId)?.parts.size ?? 0;
/** The service accepts the finish only when the digest over all parts is right. */
const publish = (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/** Sends until so many parts left, and is gone then, as a tab that is closed. */
async function sendParts(count: number): Promise<void> {
  const tabClosed = new AbortController();
  let sent = 0;
  world.service.beforeCall = (call) => {
    if (isPart(call) && ++sent > count) tabClosed.abort();
  };
  await expect(tab.send(uploadId, file, { signal: tabClosed.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.beforeCall = () => undefined;
  world.service.calls.length = 0;
}

/** A page that is loaded later on the same device. */
async function openNextTab(): Promise<UploadingTab> {
  return openUploadingTab(world, await world.open());
}

describe("sendContent", () => {
  it("sends every part once, and tells how far it is", async () => {
    const progress: number[] = [];
    await tab.send(uploadId, file, { onProgress: (done) => progress.push(done) });
    expect([sentPartCount(), receivedPartCount(), progress.length]).toEqual([partCount, partCount, partCount]);
    expect(progress[partCount - 1]).toBe((await tab.records.get(uploadId))?.sealedSize);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it.each(["offline", "service_unavailable", "timed_out", "too_many_requests"] as const)(
    "goes on after %s in the middle of a part",
    async (code) => {
      let failures = 0;
      world.service.beforeCall = (call) => {
        if (isPart(call) && receivedPartCount() === 2 && ++failures <= 5) throw new PortalError(code);
      };
      await tab.send(uploadId, file);
      expect([receivedPartCount(), tab.waitCount()]).toEqual([partCount, 5]);
      await expect(publish()).resolves.toMatchObject({ version: 1 });
    },
  );

  it("sends a part again whose answer got lost, and the service keeps it once", async () => {
    let lostAnswers = 0;
    world.service.transformAnswer = (call, answer) => {
      if (isPart(call) && lostAnswers++ < 3) throw new PortalError("service_unavailable");
      return answer;
    };
    await tab.send(uploadId, file);
    expect([sentPartCount(), receivedPartCount()]).toEqual([partCount + 3, partCount]);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("goes on after a service that is away for every call, the first one too", async () => {
    let failuresLeft = 7;
    world.service.beforeCall = () => {
      if (failuresLeft-- > 0) throw new PortalError("service_unavailable");
    };
    await tab.send(uploadId, file);
    expect(receivedPartCount()).toBe(partCount);
  });

  it("writes a part's digest down before the part leaves", async () => {
    const written: (string | undefined)[] = [];
    world.service.beforeCall = async (call) => {
      if (!isPart(call)) return;
      const record = await tab.records.get(uploadId);
      if (record !== null)
        written.push(
          ...(await readSealingState(tab.vault.device, record)).parts.slice(written.length, written.length + 1),
        );
    };
    await tab.send(uploadId, file);
    const sent = [...(world.service.account.uploads?.get(uploadId)?.parts ?? [])]
      .sort(([left], [right]) => left - right)
      .map(([, bytes]) => toBase64url(sha256(bytes)));
    expect(written).toEqual(sent);
  });

  it("ends for good with any other refusal, and stays resumable", async () => {
    let refused = false;
    world.service.beforeCall = (call) => {
      if (isPart(call) && receivedPartCount() === 2 && !refused) {
        refused = true;
        throw new PortalError("quota_exceeded");
      }
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "quota_exceeded" });
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops when the disk is full before a part leaves, loses nothing, and goes on later", async () => {
    let writesLeft = 2;
    const fullRecords = {
      ...tab.records,
      replace: (record: Parameters<typeof tab.records.replace>[0]) =>
        writesLeft-- > 0 ? tab.records.replace(record) : Promise.reject(new PortalError("storage_full")),
    };
    await expect(tab.send(uploadId, file, { records: fullRecords })).rejects.toMatchObject({ code: "storage_full" });
    expect(receivedPartCount()).toBe(2);
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops when it was given up in another tab, and does not bring it back", async () => {
    world.service.beforeCall = async (call) => {
      if (isPart(call) && receivedPartCount() === 2) await tab.records.remove(uploadId);
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "not_found" });
    expect(await tab.records.get(uploadId)).toBeNull();
  });

  it("says that the service dropped it, and keeps what this device has of it", async () => {
    world.service.account.uploads?.clear();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await tab.records.list()).toHaveLength(1);
  });
});

describe("sendContent after a closed tab", () => {
  it("goes on where it stopped, with the digest's state as it was kept", async () => {
    await sendParts(3);
    const receivedBefore = receivedPartCount();
    tab = await openNextTab();
    const record = await tab.records.get(uploadId);
    const { digest_state: storedState, parts: knownParts } =
      record === null ? { digest_state: null, parts: [] } : await readSealingState(tab.vault.device, record);
    const realDigest = createResumableDigest();
    const calls: (string | null)[] = [];
    const digest: ResumableDigest = {
      ...realDigest,
      start: (state) => {
        calls.push(state);
        return realDigest.start(state);
      },
      update: async (bytes) => {
        calls.push("update");
        return realDigest.update(bytes);
      },
    };
    await tab.send(uploadId, file, { digest });
    expect(receivedBefore).toBeGreaterThan(0);
    expect(storedState).not.toBeNull();
    expect(calls).toEqual([storedState, ...Array<string>(partCount - knownParts.length).fill("update")]);
    expect(sentPartCount()).toBe(partCount - receivedBefore);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("sends a part again that was written down but never arrived", async () => {
    await sendParts(3);
    world.service.account.uploads?.get(uploadId)?.parts.delete(2);
    tab = await openNextTab();
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
  ])("refuses %s, and sends nothing", async (_case, makeOther) => {
    await sendParts(3);
    tab = await openNextTab();
    await expect(tab.send(uploadId, makeOther())).rejects.toMatchObject({ code: "file_changed" });
    expect(sentPartCount()).toBe(0);
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("does not take a service's word for a part: one that it has with another digest stops it", async () => {
    await sendParts(3);
    world.service.account.uploads?.get(uploadId)?.parts.set(1, randomBytes(fakePartBytes % 65_536));
    tab = await openNextTab();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "conflict" });
  });

  it("has nothing left to do once all is sealed and sent", async () => {
    await tab.send(uploadId, file);
    world.service.calls.length = 0;
    await (await openNextTab()).send(uploadId, file);
    expect(sentPartCount()).toBe(0);
  });
});
