import "fake-indexeddb/auto";

import { downloadPath, maxResealedContentBytes } from "@relicario/shared/api";
import type { StreamedResponse, SecretChange } from "@relicario/shared/contract";

import { replaceImage } from "../operations/replace-image.ts";
import { addOpener, generateRecoveryCode } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret, openSecret } from "../operations/open-secret.ts";
import { beginUpload, finishUpload, type UploadPlan } from "../operations/resumable-uploads.ts";
import { rotateAccountKey } from "../operations/rotate.ts";
import { update } from "../operations/update.ts";
import { copyOf, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { computeMaxSealedLength } from "../seal/content-sizes.ts";
import {
  fileSecret,
  makeProtectPlan,
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
  readonly vault: VaultSession;
  /** Files of exactly the limit and one byte more, and a file that was replaced by a text. */
  readonly atLimit: { readonly id: string; readonly plain: Bytes };
  readonly overLimit: { readonly id: string; readonly plain: Bytes };
  readonly replacedByText: { readonly id: string; readonly plain: Bytes };
}

async function upload(tab: UploadingTab, order: UploadPlan, file: Blob): Promise<string> {
  const uploadId = await beginUpload(tab.vault, tab, order, {});
  await tab.send(uploadId, file);
  return (await finishUpload(tab.vault, tab, uploadId, null, {})).secretId;
}

async function uploadRandomFile(tab: UploadingTab, title: string, size: number): Promise<{ id: string; plain: Bytes }> {
  const { plaintext, file } = randomFile(size);
  return { id: await upload(tab, makeProtectPlan(fileSecret(title, file)), file), plain: plaintext };
}

/** Creates secrets that a picture and a recovery code open. */
async function createLargeContents(): Promise<LargeContents> {
  const world = createWorld();
  const vault = await world.open();
  await protect(vault, textSecret("First", market), {});
  await addOpener(
    vault,
    { key: { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") }, name: "Paper" },
    null,
    {},
  );
  const tab = await openUploadingTab(world, vault);
  const [atLimit, overLimit, replacedByText] = [
    await uploadRandomFile(tab, "At the limit", maxResealedContentBytes),
    await uploadRandomFile(tab, "Over it", maxResealedContentBytes + 1),
    await uploadRandomFile(tab, "Replaced", 300_000),
  ];
  await update(vault, replacedByText.id, { baseVersion: 1, content: textContent("a text now") }, {});
  return { world, vault, atLimit, overLimit, replacedByText };
}

const getStoredContent = (world: World, id: string): string | undefined =>
  world.service.account.rows.get(id)?.versions[0]?.content;

/** Opens a secret on a device without data of the account. */
async function openOnFreshDevice(
  world: World,
  name: string,
  id: string,
  picture: PresentedPicture,
  version?: number,
): Promise<Bytes> {
  const freshVault = await world.open(name);
  const { sealed } = await openSecret(freshVault, id, picture, version === undefined ? {} : { version });
  const { bytes } = await freshVault.service.content.range(sealed, 0, computeMaxSealedLength(sealed.size));
  return openContent(sealed.kind, bytes, sealed);
}

const cases: [string, PresentedPicture, (vault: VaultSession) => Promise<unknown>][] = [
  [
    "replacing an image",
    harbour,
    (vault) => replaceImage(vault, market, { presentedPicture: harbour, name: "The harbour" }, {}),
  ],
  ["a rotation that removes an opener", market, (vault) => rotateAccountKey(vault, [market], {})],
];

describe.each(cases)("%s", (_, pictureAfter, operation) => {
  it("rekeys contents of up to 1 MiB, including contents of earlier versions, but no larger contents", async () => {
    const { world, vault, atLimit, overLimit, replacedByText } = await createLargeContents();
    const previousContents = [atLimit, replacedByText, overLimit].map(({ id }) => getStoredContent(world, id));
    await operation(vault);
    expect(
      [atLimit, replacedByText, overLimit].map(
        ({ id }, index) => getStoredContent(world, id) === previousContents[index],
      ),
    ).toEqual([false, false, true]);
    for (const { id, plain } of [atLimit, overLimit])
      expect(Buffer.compare(await openOnFreshDevice(world, `for ${id}`, id, pictureAfter), plain)).toBe(0);
    expect(
      Buffer.compare(
        await openOnFreshDevice(world, "tablet", replacedByText.id, pictureAfter, 1),
        replacedByText.plain,
      ),
    ).toBe(0);
    expect(
      new TextDecoder().decode(
        (await openSmallSecret(await world.open("phone"), replacedByText.id, pictureAfter, {})).content,
      ),
    ).toBe("a text now");
  });

  it.each<[string, (bytes: Bytes) => Bytes]>([
    ["another content", (bytes) => bytes.map((byte, index) => (index === 500_000 ? byte ^ 1 : byte))],
    ["the beginning of a content", (bytes) => bytes.slice(0, 900_000)],
    ["more than the content", (bytes) => copyOf(new Uint8Array([...bytes, 0]))],
  ])("stops and changes nothing if the service sends %s", async (_case, damage) => {
    const { world, vault, atLimit } = await createLargeContents();
    const sealed = copyOf(Buffer.from(getStoredContent(world, atLimit.id) ?? "", "base64url"));
    const keyring = structuredClone(world.service.account.keyring);
    world.service.transformResponse = (call, answer) => {
      if (call !== `POST ${downloadPath}`) return answer;
      const { totalSize, offset } = answer as StreamedResponse;
      return totalSize === sealed.length ? { totalSize, offset, body: new Blob([damage(sealed)]).stream() } : answer;
    };
    await expect(operation(vault)).rejects.toEqual(errorWithCode("decryption_failed"));
    expect(world.service.account.keyring).toEqual(keyring);
    world.service.transformResponse = (_call, answer) => answer;
    expect(Buffer.compare(await openOnFreshDevice(world, "tablet", atLimit.id, market), atLimit.plain)).toBe(0);
  });
});
