/*
 * The attacker is the service, and wants the device to run out of memory, or out of time: it
 * chooses the size of the parts.
 */
import "fake-indexeddb/auto";

import { maxPartBytes, minPartBytes, defaultPartBytes } from "@relicario/shared/api";

import { beginUpload } from "../operations/resumable-uploads.ts";
import { fileSecret, makeProtectOrder, openTabWithFirstSecret, type UploadingTab } from "../testing/uploading-tab.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealingState } from "../transfer/upload-records.ts";

jest.unmock("../transfer/part-sizes.ts");

const size = 200 * 1024 ** 2; // announced; no byte of it is read here
let world: World;
let tab: UploadingTab;

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
});

/** Begins an upload that the service answers so. */
async function begin(partSize: number, parts?: number): Promise<string> {
  const { start } = tab.calls;
  const startWithPartSize: typeof start = async (upload, signal) => ({
    ...(await start(upload, signal)),
    part_size: partSize,
    parts: parts ?? Math.ceil(upload.size / partSize),
  });
  return beginUpload(
    tab.vault,
    { ...tab, calls: { ...tab.calls, start: startWithPartSize } },
    { ...makeProtectOrder(fileSecret("Film", new Blob())), size },
    {},
  );
}

describe("a service that wants the device to run out of memory", () => {
  it.each<[string, number, number | undefined]>([
    ["of a byte, 200 million of them", 1, undefined],
    ["smaller than any service takes", minPartBytes - 1, undefined],
    ["larger than any service takes", maxPartBytes + 1, undefined],
    ["as large as the whole file", 2 * size, undefined],
    ["of a size that it may choose, but one more than there are", defaultPartBytes, 27],
    ["of a size that it may choose, but none", defaultPartBytes, 1],
  ])("asks for parts %s: nothing is begun", async (_case, partSize, parts) => {
    await expect(begin(partSize, parts)).rejects.toMatchObject({ code: "bad_answer" });
    expect(await tab.records.list()).toEqual([]);
    expect(world.service.account.uploads?.size ?? 0).toBe(0);
  });

  it.each([minPartBytes, defaultPartBytes, maxPartBytes])("may ask for parts of %d bytes", async (partSize) => {
    const record = await tab.records.get(await begin(partSize));
    expect(record === null ? null : (await readSealingState(tab.vault.device, record)).part_size).toBe(partSize);
  });
});
