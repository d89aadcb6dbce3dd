import "fake-indexeddb/auto";

import { downloadPath, maxContentAnewBytes } from "@relicario/shared/api";
import type { HttpStream, SecretChange } from "@relicario/shared/contract";

import { changeImage } from "../acts/change-image.ts";
import { addOpener, newRecoveryCode } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover, recoverAny } from "../acts/recover.ts";
import { beginUpload, finishUpload, type UploadOrder } from "../acts/resumable-uploads.ts";
import { rotate } from "../acts/rotate.ts";
import { update } from "../acts/update.ts";
import { copyOf, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { mostSealedBytes } from "../seal/content-pieces.ts";
import { fileSecret, protectOrder, randomFile, uploadingTab, type UploadingTab } from "../testing/uploading.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { ShownPicture } from "../shown-image.ts";
import type { VaultContext } from "../vault-context.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const [market, harbour] = [shown("market"), shown("harbour")];
const text = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});

interface Large {
  readonly world: World;
  readonly laptop: VaultContext;
  /**
   * Each with its content: of exactly the limit, of one byte more, and one that a text replaced.
   */
  readonly atLimit: { readonly id: string; readonly plain: Bytes };
  readonly over: { readonly id: string; readonly plain: Bytes };
  readonly replaced: { readonly id: string; readonly plain: Bytes };
}

async function upload(tab: UploadingTab, order: UploadOrder, file: Blob): Promise<string> {
  const uploadId = await beginUpload(tab.vault, tab, order, {});
  await tab.send(uploadId, file);
  return (await finishUpload(tab.vault, tab, uploadId, null, {})).secretId;
}

async function uploaded(tab: UploadingTab, title: string, size: number): Promise<{ id: string; plain: Bytes }> {
  const { plain, file } = randomFile(size);
  return { id: await upload(tab, protectOrder(fileSecret(title, file)), file), plain };
}

/** A picture and a printed code open all of it. */
async function largeContents(): Promise<Large> {
  const world = createWorld();
  const laptop = await world.open();
  await protect(laptop, textSecret("First", market), {});
  await addOpener(
    laptop,
    { key: { kind: "recovery_code", code: (await newRecoveryCode()).words.join(" ") }, name: "Paper" },
    null,
    {},
  );
  const tab = await uploadingTab(world, laptop);
  const [atLimit, over, replaced] = [
    await uploaded(tab, "At the limit", maxContentAnewBytes),
    await uploaded(tab, "Over it", maxContentAnewBytes + 1),
    await uploaded(tab, "Replaced", 300_000),
  ];
  await update(laptop, replaced.id, { baseVersion: 1, content: text("a text now") }, {});
  return { world, laptop, atLimit, over, replaced };
}

const contentOf = (world: World, id: string): string | undefined =>
  world.service.account.rows.get(id)?.versions[0]?.content;

/** As a device that knows nothing reads it. */
async function opened(world: World, name: string, id: string, by: ShownPicture, version?: number): Promise<Bytes> {
  const fresh = await world.open(name);
  const { sealed } = await recoverAny(fresh, id, by, version === undefined ? {} : { version });
  const { bytes } = await fresh.service.content.range(sealed, 0, mostSealedBytes(sealed.size));
  return openContent(sealed.kind, bytes, sealed);
}

const ways: [string, ShownPicture, (laptop: VaultContext) => Promise<unknown>][] = [
  ["another picture", harbour, (laptop) => changeImage(laptop, market, { shown: harbour, name: "The harbour" }, {})],
  ["rotation that removes a way", market, (laptop) => rotate(laptop, [market], {})],
];

describe.each(ways)("%s", (_, after, act) => {
  it("gives contents of up to 1 MiB another identity, those of former versions too, and larger ones keep theirs", async () => {
    const { world, laptop, atLimit, over, replaced } = await largeContents();
    const before = [atLimit, replaced, over].map(({ id }) => contentOf(world, id));
    await act(laptop);
    expect([atLimit, replaced, over].map(({ id }, index) => contentOf(world, id) === before[index])).toEqual([
      false,
      false,
      true,
    ]);
    for (const { id, plain } of [atLimit, over])
      expect(Buffer.compare(await opened(world, `for ${id}`, id, after), plain)).toBe(0);
    expect(Buffer.compare(await opened(world, "tablet", replaced.id, after, 1), replaced.plain)).toBe(0);
    expect(new TextDecoder().decode((await recover(await world.open("phone"), replaced.id, after, {})).content)).toBe(
      "a text now",
    );
  });

  it.each<[string, (bytes: Bytes) => Bytes]>([
    ["another content", (bytes) => bytes.map((byte, index) => (index === 500_000 ? byte ^ 1 : byte))],
    ["the beginning of a content", (bytes) => bytes.slice(0, 900_000)],
    ["more than the content", (bytes) => copyOf(new Uint8Array([...bytes, 0]))],
  ])("is given up where the service gives %s: nothing is changed", async (_what, damage) => {
    const { world, laptop, atLimit } = await largeContents();
    const sealed = copyOf(Buffer.from(contentOf(world, atLimit.id) ?? "", "base64url"));
    const keyring = structuredClone(world.service.account.keyring);
    world.service.answer = (call, answer) => {
      if (call !== `POST ${downloadPath}`) return answer;
      const { size, start } = answer as HttpStream;
      return size === sealed.length ? { size, start, body: new Blob([damage(sealed)]).stream() } : answer;
    };
    await expect(act(laptop)).rejects.toEqual(code("decryption_failed"));
    expect(world.service.account.keyring).toEqual(keyring);
    world.service.answer = (_call, answer) => answer;
    expect(Buffer.compare(await opened(world, "tablet", atLimit.id, market), atLimit.plain)).toBe(0);
  });
});
