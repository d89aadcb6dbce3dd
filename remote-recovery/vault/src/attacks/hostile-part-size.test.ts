/** Attacker: the service. It chooses the size of parts to exhaust the device's memory or time. */
import "fake-indexeddb/auto";

import { maxPartBytes, minPartBytes, defaultPartBytes } from "@relicario/shared/api";

import { beginUpload } from "../operations/resumable-uploads.ts";
import { fileSecret, makeProtectPlan, openTabWithFirstSecret, type UploadingTab } from "../testing/uploading-tab.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealingState } from "../transfer/upload-records.ts";

jest.unmock("../transfer/part-sizes.ts");

const size = 200 * 1024 ** 2; // stated, never read
let world: World;
let tab: UploadingTab;

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
});

/** Begins an upload for which the service demands these parts. */
async function beginWithParts(partSize: number, partCount?: number): Promise<string> {
  const { start } = tab.calls;
  const startWithPartSize: typeof start = async (upload, signal) => ({
    ...(await start(upload, signal)),
    part_size: partSize,
    parts: partCount ?? Math.ceil(upload.size / partSize),
  });
  return beginUpload(
    tab.vault,
    { ...tab, calls: { ...tab.calls, start: startWithPartSize } },
    { ...makeProtectPlan(fileSecret("Film", new Blob())), size },
    {},
  );
}

describe("a service that wants the device to run out of memory", () => {
  it.each<[string, number, number | undefined]>([
    ["of one byte", 1, undefined],
    ["below the minimum", minPartBytes - 1, undefined],
    ["above the maximum", maxPartBytes + 1, undefined],
    ["as large as the whole file", 2 * size, undefined],
    ["of an allowed size, but one too many", defaultPartBytes, 27],
    ["of an allowed size, but only one", defaultPartBytes, 1],
  ])("demands parts %s: the upload does not start", async (_case, partSize, partCount) => {
    await expect(beginWithParts(partSize, partCount)).rejects.toMatchObject({ code: "bad_answer" });
    expect(await tab.records.list()).toEqual([]);
    expect(world.service.account.uploads?.size ?? 0).toBe(0);
  });

  it.each([minPartBytes, defaultPartBytes, maxPartBytes])("may demand parts of %d bytes", async (partSize) => {
    const record = await tab.records.get(await beginWithParts(partSize));
    expect(record === null ? null : (await readSealingState(tab.vault.device, record)).part_size).toBe(partSize);
  });
});
