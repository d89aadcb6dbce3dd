import "fake-indexeddb/auto";

import type { SecretChange } from "@relicario/shared/contract";

import { fakePartBytes } from "../testing/fake-uploads.ts";
import { randomFile, uploadingTab } from "../testing/uploading.ts";
import { createWorld, shown, textSecret } from "../testing/world.ts";
import { protect } from "./protect.ts";
import { recover, recoverAny } from "./recover.ts";
import { beginUpload, finishUpload, type UploadOrder } from "./resumable-uploads.ts";
import { update } from "./update.ts";
import { history, removeVersions } from "./versions.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const market = shown("market");
const text = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});
const { file } = randomFile(3 * fakePartBytes);

/** A secret of two versions, and a tab that uploads. */
async function twoVersions() {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("First", market, "one"), {});
  await update(laptop, secretId, { baseVersion: 1, content: text("two") }, {});
  const tab = await uploadingTab(world, laptop);
  const order: UploadOrder = {
    act: "update",
    secretId,
    change: { baseVersion: 2, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
    size: file.size,
    handle: null,
  };
  return { world, laptop, secretId, tab, order };
}

describe("a large content as a new version", () => {
  it("is refused before a part is sent when there is no room for it, and nothing of it is kept", async () => {
    const { world, laptop, secretId, tab, order } = await twoVersions();
    world.service.account.formerVersions = 1;
    await expect(beginUpload(laptop, tab, order, {})).rejects.toEqual(code("too_many_versions"));
    expect(await tab.records.all()).toEqual([]);
    expect([...(world.service.account.uploads?.keys() ?? [])]).toEqual([]);
    await removeVersions(laptop, secretId, [1], {});
    const uploadId = await beginUpload(laptop, tab, order, {});
    await tab.send(uploadId, file);
    expect(await finishUpload(laptop, tab, uploadId, null, {})).toEqual({ secretId, version: 3 });
  });

  it("commits to the versions before it, and is one of them when another follows", async () => {
    const { world, laptop, secretId, tab, order } = await twoVersions();
    const uploadId = await beginUpload(laptop, tab, order, {});
    await tab.send(uploadId, file);
    await finishUpload(laptop, tab, uploadId, null, {});
    await update(laptop, secretId, { baseVersion: 3, content: text("four") }, {});
    expect((await history(laptop, secretId, {})).map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    expect(await recoverAny(laptop, secretId, market, { version: 3 })).toMatchObject({
      version: 3,
      current: false,
      content: null,
      author: "verified",
    });
    const versions = world.service.account.rows.get(secretId)?.versions ?? [];
    Object.assign(versions[0] ?? {}, { ticket: versions[2]?.ticket });
    await expect(recoverAny(laptop, secretId, market, { version: 3 })).rejects.toEqual(code("list_mismatch"));
    expect(await recover(laptop, secretId, market, {})).toMatchObject({ version: 4 });
  });
});
