import "fake-indexeddb/auto";

import type { SecretChange } from "@relicario/shared/contract";

import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile, openUploadingTab } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret } from "../testing/world.ts";
import { protect } from "./protect.ts";
import { openSmallSecret, openSecret } from "./open-secret.ts";
import { beginUpload, finishUpload, type UploadPlan } from "./resumable-uploads.ts";
import { update } from "./update.ts";
import { listVersions, removeVersions } from "./versions.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const market = makePicture("market");
const textContent = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});
const { file } = randomFile(3 * fakePartBytes);

/** A secret with two versions, and a tab that uploads. */
async function createTwoVersions() {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("First", market, "one"), {});
  await update(laptop, secretId, { baseVersion: 1, content: textContent("two") }, {});
  const tab = await openUploadingTab(world, laptop);
  const plan: UploadPlan = {
    operation: "update",
    secretId,
    change: { baseVersion: 2, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
    size: file.size,
    handle: null,
  };
  return { world, laptop, secretId, tab, plan };
}

describe("a large content as a new version", () => {
  it("is refused before a part is sent when there are too many versions, and saves nothing", async () => {
    const { world, laptop, secretId, tab, plan } = await createTwoVersions();
    world.service.account.formerVersionLimit = 1;
    await expect(beginUpload(laptop, tab, plan, {})).rejects.toEqual(errorWithCode("too_many_versions"));
    expect(await tab.records.list()).toEqual([]);
    expect([...(world.service.account.uploads?.keys() ?? [])]).toEqual([]);
    await removeVersions(laptop, secretId, [1], {});
    const uploadId = await beginUpload(laptop, tab, plan, {});
    await tab.send(uploadId, file);
    expect(await finishUpload(laptop, tab, uploadId, null, {})).toEqual({ secretId, version: 3 });
  });

  it("commits to its former versions, and becomes a former version itself", async () => {
    const { world, laptop, secretId, tab, plan } = await createTwoVersions();
    const uploadId = await beginUpload(laptop, tab, plan, {});
    await tab.send(uploadId, file);
    await finishUpload(laptop, tab, uploadId, null, {});
    await update(laptop, secretId, { baseVersion: 3, content: textContent("four") }, {});
    expect((await listVersions(laptop, secretId, {})).map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    expect(await openSecret(laptop, secretId, market, { version: 3 })).toMatchObject({
      version: 3,
      current: false,
      content: null,
      signatureStatus: "verified",
    });
    const versions = world.service.account.rows.get(secretId)?.versions ?? [];
    Object.assign(versions[0] ?? {}, { ticket: versions[2]?.ticket });
    await expect(openSecret(laptop, secretId, market, { version: 3 })).rejects.toEqual(errorWithCode("list_mismatch"));
    expect(await openSmallSecret(laptop, secretId, market, {})).toMatchObject({ version: 4 });
  });
});
