import "fake-indexeddb/auto";

import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { randomBytes, sha256 } from "../seal/bytes.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  makeProtectPlan,
  randomFile,
  openTabWithFirstSecret,
  openUploadingTab,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { unlock } from "../openers/unlock.ts";
import { createWorld, makePicture, type World } from "../testing/world.ts";
import { readSealingState } from "./upload-records.ts";
import { createResumableDigest, type ResumableDigest } from "./resumable-digest.ts";
import { beginUpload, finishUpload } from "../operations/resumable-uploads.ts";

const { plaintext, file } = randomFile(5 * fakePartBytes + 77);
const partCount = 6;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");

let world: World;
let tab: UploadingTab;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
  uploadId = await beginUpload(tab.vault, tab, makeProtectPlan(fileSecret("Film", file)), {});
});

const sentPartCount = (): number => world.service.calls.filter(isPart).length;
const receivedPartCount = (): number => world.service.account.uploads?.get(uploadId)?.parts.size ?? 0;
/** The service accepts this only if the digest of all parts is correct. */
const publish = (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/** Sends this many parts, then stops like a closed tab. */
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

/** Opens a page loaded later on the same device. */
async function openNextTab(): Promise<UploadingTab> {
  const vault = await world.open();
  (await unlock(vault, makePicture("market"), {})).opener.wipe();
  return openUploadingTab(world, vault);
}

describe("sendContent", () => {
  it("sends every part once and reports progress", async () => {
    const progress: number[] = [];
    await tab.send(uploadId, file, { onProgress: (done) => progress.push(done) });
    expect([sentPartCount(), receivedPartCount(), progress.length]).toEqual([partCount, partCount, partCount]);
    expect(progress[partCount - 1]).toBe((await tab.records.get(uploadId))?.sealedSize);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it.each(["offline", "service_unavailable", "timed_out", "too_many_requests"] as const)(
    "continues after %s in the middle of a part",
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

  it("sends a part again after a lost response, and the service stores it once", async () => {
    let lostAnswers = 0;
    world.service.transformResponse = (call, answer) => {
      if (isPart(call) && lostAnswers++ < 3) throw new PortalError("service_unavailable");
      return answer;
    };
    await tab.send(uploadId, file);
    expect([sentPartCount(), receivedPartCount()]).toEqual([partCount + 3, partCount]);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("continues if the service is unavailable from the first call", async () => {
    let failuresLeft = 7;
    world.service.beforeCall = () => {
      if (failuresLeft-- > 0) throw new PortalError("service_unavailable");
    };
    await tab.send(uploadId, file);
    expect(receivedPartCount()).toBe(partCount);
  });

  it("saves a part's digest before sending the part", async () => {
    const recordedDigests: (string | undefined)[] = [];
    world.service.beforeCall = async (call) => {
      if (!isPart(call)) return;
      const record = await tab.records.get(uploadId);
      if (record !== null)
        recordedDigests.push(
          ...(await readSealingState(tab.vault.device, record)).parts.slice(
            recordedDigests.length,
            recordedDigests.length + 1,
          ),
        );
    };
    await tab.send(uploadId, file);
    const sentDigests = [...(world.service.account.uploads?.get(uploadId)?.parts ?? [])]
      .sort(([left], [right]) => left - right)
      .map(([, bytes]) => toBase64url(sha256(bytes)));
    expect(recordedDigests).toEqual(sentDigests);
  });

  it("stops at any other error and can be resumed", async () => {
    let hasFailed = false;
    world.service.beforeCall = (call) => {
      if (isPart(call) && receivedPartCount() === 2 && !hasFailed) {
        hasFailed = true;
        throw new PortalError("quota_exceeded");
      }
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "quota_exceeded" });
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops before sending if the disk is full and can be resumed", async () => {
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

  it("stops if another tab discards the upload, and does not restore the upload", async () => {
    world.service.beforeCall = async (call) => {
      if (isPart(call) && receivedPartCount() === 2) await tab.records.remove(uploadId);
    };
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "not_found" });
    expect(await tab.records.get(uploadId)).toBeNull();
  });

  it("throws upload_dropped if the service dropped the upload, and keeps the record", async () => {
    world.service.account.uploads?.clear();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await tab.records.list()).toHaveLength(1);
  });
});

describe("sendContent after a closed tab", () => {
  it("continues after the last part, with the saved digest state", async () => {
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

  it("sends a part again that was recorded but never arrived", async () => {
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
      () => new Blob([plaintext.map((byte, index) => (index === 150_000 ? byte ^ 1 : byte))]),
    ],
    ["a shorter file", () => file.slice(0, -1)],
    ["a longer file", () => new Blob([file, randomBytes(1)])],
  ])("refuses %s and sends nothing", async (_case, makeOtherFile) => {
    await sendParts(3);
    tab = await openNextTab();
    await expect(tab.send(uploadId, makeOtherFile())).rejects.toMatchObject({ code: "file_changed" });
    expect(sentPartCount()).toBe(0);
    await tab.send(uploadId, file);
    await expect(publish()).resolves.toMatchObject({ version: 1 });
  });

  it("stops if the service has a part with another digest", async () => {
    await sendParts(3);
    world.service.account.uploads?.get(uploadId)?.parts.set(1, randomBytes(fakePartBytes % 65_536));
    tab = await openNextTab();
    await expect(tab.send(uploadId, file)).rejects.toMatchObject({ code: "conflict" });
  });

  it("sends nothing if everything was sent", async () => {
    await tab.send(uploadId, file);
    world.service.calls.length = 0;
    await (await openNextTab()).send(uploadId, file);
    expect(sentPartCount()).toBe(0);
  });
});
