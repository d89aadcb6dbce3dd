import "fake-indexeddb/auto";

import { downloadPath, maxResealedContentBytes } from "@relicario/shared/api";
import type { StreamedResponse, SecretChange } from "@relicario/shared/contract";

import { replaceImage } from "../operations/replace-image.ts";
import { addOpener, generateRecoveryCode } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret, openSecret } from "../operations/open-secret.ts";
import { beginUpload, finishUpload, type UploadPlan } from "../operations/resumable-uploads.ts";
import { rotate } from "../operations/rotate.ts";
import { update } from "../operations/update.ts";
import { copyOf, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { maxSealedLength } from "../seal/content-sizes.ts";
import {
  fileSecret,
  makeProtectOrder,
  randomFile,
  openUploadingTab,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import type { VaultSession } from "../session/vault-session.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const [market, harbour] = [makePicture("market"), makePicture("harbour")];
const textContent = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});

interface LargeContents {
  readonly world: World;
  readonly laptop: VaultSession;
  /**
   * Each with its content: of exactly the limit, of one byte more, and one that a text replaced.
   */
  readonly atLimit: { readonly id: string; readonly plain: Bytes };
  readonly overLimit: { readonly id: string; readonly plain: Bytes };
  readonly replaced: { readonly id: string; readonly plain: Bytes };
}

async function upload(tab: UploadingTab, order: UploadPlan, file: Blob): Promise<string> {
  const uploadId = await beginUpload(tab.vault, tab, order, {});
  await tab.send(uploadId, file);
  return (await finishUpload(tab.vault, tab, uploadId, null, {})).secretId;
}

async function uploadRandomFile(tab: UploadingTab, title: string, size: number): Promise<{ id: string; plain: Bytes }> {
  const { plain, file } = randomFile(size);
  return { id: await upload(tab, makeProtectOrder(fileSecret(title, file)), file), plain };
}

/** A picture and a printed code open all of it. */
async function createLargeContents(): Promise<LargeContents> {
  const world = createWorld();
  const laptop = await world.open();
  await protect(laptop, textSecret("First", market), {});
  await addOpener(
    laptop,
    { key: { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") }, name: "Paper" },
    null,
    {},
  );
  const tab = await openUploadingTab(world, laptop);
  const [atLimit, overLimit, replaced] = [
    await uploadRandomFile(tab, "At the limit", maxResealedContentBytes),
    await uploadRandomFile(tab, "Over it", maxResealedContentBytes + 1),
    await uploadRandomFile(tab, "Replaced", 300_000),
  ];
  await update(laptop, replaced.id, { baseVersion: 1, content: textContent("a text now") }, {});
  return { world, laptop, atLimit, overLimit, replaced };
}

const contentOf = (world: World, id: string): string | undefined =>
  world.service.account.rows.get(id)?.versions[0]?.content;

/** As a device that knows nothing reads it. */
async function openOnFreshDevice(
  world: World,
  name: string,
  id: string,
  picture: PresentedPicture,
  version?: number,
): Promise<Bytes> {
  const fresh = await world.open(name);
  const { sealed } = await openSecret(fresh, id, picture, version === undefined ? {} : { version });
  const { bytes } = await fresh.service.content.range(sealed, 0, maxSealedLength(sealed.size));
  return openContent(sealed.kind, bytes, sealed);
}

const cases: [string, PresentedPicture, (laptop: VaultSession) => Promise<unknown>][] = [
  [
    "another picture",
    harbour,
    (laptop) => replaceImage(laptop, market, { presentedPicture: harbour, name: "The harbour" }, {}),
  ],
  ["rotation that removes a way", market, (laptop) => rotate(laptop, [market], {})],
];

describe.each(cases)("%s", (_, pictureAfter, operation) => {
  it("gives contents of up to 1 MiB another identity, those of former versions too, and larger ones keep theirs", async () => {
    const { world, laptop, atLimit, overLimit, replaced } = await createLargeContents();
    const previousContents = [atLimit, replaced, overLimit].map(({ id }) => contentOf(world, id));
    await operation(laptop);
    expect(
      [atLimit, replaced, overLimit].map(({ id }, index) => contentOf(world, id) === previousContents[index]),
    ).toEqual([false, false, true]);
    for (const { id, plain } of [atLimit, overLimit])
      expect(Buffer.compare(await openOnFreshDevice(world, `for ${id}`, id, pictureAfter), plain)).toBe(0);
    expect(Buffer.compare(await openOnFreshDevice(world, "tablet", replaced.id, pictureAfter, 1), replaced.plain)).toBe(
      0,
    );
    expect(
      new TextDecoder().decode(
        (await openSmallSecret(await world.open("phone"), replaced.id, pictureAfter, {})).content,
      ),
    ).toBe("a text now");
  });

  it.each<[string, (bytes: Bytes) => Bytes]>([
    ["another content", (bytes) => bytes.map((byte, index) => (index === 500_000 ? byte ^ 1 : byte))],
    ["the beginning of a content", (bytes) => bytes.slice(0, 900_000)],
    ["more than the content", (bytes) => copyOf(new Uint8Array([...bytes, 0]))],
  ])("is given up where the service gives %s: nothing is changed", async (_case, damage) => {
    const { world, laptop, atLimit } = await createLargeContents();
    const sealed = copyOf(Buffer.from(contentOf(world, atLimit.id) ?? "", "base64url"));
    const keyring = structuredClone(world.service.account.keyring);
    world.service.transformAnswer = (call, answer) => {
      if (call !== `POST ${downloadPath}`) return answer;
      const { totalSize, offset } = answer as StreamedResponse;
      return totalSize === sealed.length ? { totalSize, offset, body: new Blob([damage(sealed)]).stream() } : answer;
    };
    await expect(operation(laptop)).rejects.toEqual(errorWithCode("decryption_failed"));
    expect(world.service.account.keyring).toEqual(keyring);
    world.service.transformAnswer = (_call, answer) => answer;
    expect(Buffer.compare(await openOnFreshDevice(world, "tablet", atLimit.id, market), atLimit.plain)).toBe(0);
  });
});
