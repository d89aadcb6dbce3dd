import { Digest, Id, maxFileBytes, maxSmallContentBytes, maxTicketBytes, toBase64url } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { isIdentity, openWith } from "../../seal/age.ts";
import { sha256Async, createSha256, wipe } from "../../seal/bytes.ts";
import { openContent } from "../../seal/content.ts";
import { contentHeadSize, computePaddedLength, computeSealedLength } from "../../seal/content-sizes.ts";
import { parseDocument } from "../../seal/document.ts";
import { OwnerTicket } from "../../seal/ticket.ts";
import { openSealedContent, type SealedContentInfo } from "./sealed-content.ts";
import { parseJson } from "./decode.ts";
import { ItemCollector } from "./item-collector.ts";
import { maxAttachmentBytes, maxTextBytes } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import type { Archive } from "./zip.ts";

const ManifestEntry = z.object({
  secret_id: Id,
  ticket: z.string(),
  ticket_sha256: Digest,
  content: z.string(),
  content_sha256: Digest,
});
/** Version 1 has no favourites. */
const Manifest = z.discriminatedUnion("v", [
  z.object({ v: z.literal(1), secrets: z.array(ManifestEntry.transform((entry) => ({ ...entry, favorite: false }))) }),
  z.object({ v: z.literal(2), secrets: z.array(ManifestEntry.extend({ favorite: z.boolean() })) }),
]);

/**
 * Reads this portal's own archive with its exit identity. Reports and skips contents that do not
 * match their digests. A content that is too large for one call is opened once to verify it, and
 * then stays a part of the archive.
 *
 * @param exitText the text of `exit.txt`, or the identity alone
 * @throws ImportRefusedError `identity_needed`, `identity_wrong`, `damaged`
 */
export async function readOwnArchive(
  archive: Archive,
  texts: ImportTexts,
  exitText: string | undefined,
): Promise<ItemCollector> {
  const manifest = await archive.read("manifest.json", maxTextBytes);
  if (manifest === null) throw new ImportRefusedError("damaged");
  const { success, data } = Manifest.safeParse(parseJson(new TextDecoder().decode(manifest)));
  if (!success) throw new ImportRefusedError("damaged");
  const { secrets } = data;
  if (exitText === undefined || exitText.trim() === "") throw new ImportRefusedError("identity_needed");
  const identity = exitText.split(/\s+/).find(isIdentity);
  if (identity === undefined) throw new ImportRefusedError("identity_wrong");
  const collector = new ItemCollector("relicario", texts);
  for (const entry of secrets) {
    let location = entry.ticket;
    try {
      const sealed = await archive.read(entry.ticket, maxTicketBytes);
      const plain =
        sealed === null || toBase64url(await sha256Async(sealed)) !== entry.ticket_sha256
          ? null
          : await openWith(identity, sealed, "one");
      if (plain === null) {
        if (sealed !== null && collector.items.length + collector.failures.length === 0)
          throw new ImportRefusedError("identity_wrong");
        collector.addFailure(entry.ticket, sealed === null ? "missing_file" : "damaged");
        continue;
      }
      const {
        title,
        tags,
        name,
        mime,
        content_kind: contentKind,
        size,
        content_sha256: sha256,
        content_identity: contentIdentity,
      } = parseDocument(OwnerTicket, plain);
      wipe(plain);
      location = title;
      if (size > maxFileBytes) throw new ImportRefusedError("too_large");
      const content = (await archive.getStoredFile(entry.content)) ?? (await readPacked(archive, entry.content));
      if (content === null) {
        collector.addFailure(title, "missing_file");
        continue;
      }
      if (content.size > computeSealedLength(contentHeadSize, computePaddedLength(contentKind, size)))
        throw new PortalError("decryption_failed");
      const contentInfo = { identity: contentIdentity, contentKind, size, sha256 };
      const contentFields = await (size > maxSmallContentBytes
        ? verifyLargeContent(content, contentInfo)
        : openSmallContent(content, contentInfo));
      collector.addFile({
        kind: "secret",
        title,
        tags,
        name,
        mime,
        itemKey: entry.secret_id,
        contentKind,
        ...(entry.favorite ? { favorite: true } : {}),
        ...contentFields,
      });
    } catch (error) {
      if (error instanceof ImportRefusedError && error.reason !== "too_large") throw error;
      if (!(error instanceof ImportRefusedError) && !isPortalError(error, "decryption_failed")) throw error;
      collector.addFailure(location, error instanceof ImportRefusedError ? "too_large" : "damaged");
    }
  }
  return collector;
}

/** Reads a compressed content, from an archive that the person has repacked. */
async function readPacked(archive: Archive, name: string): Promise<Blob | null> {
  const bytes = await archive.read(name, maxAttachmentBytes);
  return bytes === null ? null : new Blob([bytes]);
}

async function openSmallContent(
  sealed: Blob,
  { contentKind, ...expected }: SealedContentInfo,
): Promise<Pick<ImportItem, "content">> {
  const opened = await openContent(contentKind, new Uint8Array(await sealed.arrayBuffer()), expected);
  const content = new Blob([opened]);
  wipe(opened);
  return { content };
}

/** Opens the content once, in chunks, to verify it and to compute the digest of its plaintext. */
async function verifyLargeContent(
  content: Blob,
  info: SealedContentInfo,
): Promise<Pick<ImportItem, "content" | "sealedContent">> {
  const digest = createSha256();
  await openSealedContent(content, info, (bytes) => {
    digest.update(bytes);
  });
  const { identity, size, sha256 } = info;
  return { content, sealedContent: { identity, size, sha256, plainSha256: toBase64url(digest.finish()) } };
}
