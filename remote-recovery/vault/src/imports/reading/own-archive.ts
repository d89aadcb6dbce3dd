import { Digest, Id, toB64u } from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { isIdentity, openWith } from "../../seal/age.ts";
import { digestOf, wipe } from "../../seal/bytes.ts";
import { openContent } from "../../seal/content.ts";
import { parseDocument } from "../../seal/document.ts";
import { OwnerTicket } from "../../seal/ticket.ts";
import { jsonOf } from "./decode.ts";
import { Items } from "./items.ts";
import { maxAttachmentBytes, maxTextBytes } from "./limits.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";
import type { Archive } from "./zip.ts";

const Entry = z.object({ secret_id: Id, ticket: z.string(), ticket_sha256: Digest, content: z.string(), content_sha256: Digest });
/** Version 1 said nothing of favourites. */
const Manifest = z.discriminatedUnion("v", [
  z.object({ v: z.literal(1), secrets: z.array(Entry.transform((entry) => ({ ...entry, favorite: false }))) }),
  z.object({ v: z.literal(2), secrets: z.array(Entry.extend({ favorite: z.boolean() })) }),
]);

/**
 * An archive of this portal, opened with its exit identity. What does not fit its digests is named and left.
 *
 * @param exitText the text of `exit.txt`, with or without lines around the identity
 * @throws Refused `identity_needed`, `identity_wrong`, `damaged`.
 */
export async function readOwnArchive(archive: Archive, words: Words, exitText: string | undefined): Promise<Items> {
  const manifest = await archive.read("manifest.json", maxTextBytes);
  if (manifest === null) throw new Refused("damaged");
  const { secrets } = jsonOf(Manifest, new TextDecoder().decode(manifest));
  if (exitText === undefined || exitText.trim() === "") throw new Refused("identity_needed");
  const identity = exitText.split(/\s+/).find(isIdentity);
  if (identity === undefined) throw new Refused("identity_wrong");
  const items = new Items("relicario", words);
  for (const entry of secrets) {
    try {
      const sealed = await archive.read(entry.ticket, maxTextBytes);
      const plain = sealed === null || toB64u(await digestOf(sealed)) !== entry.ticket_sha256 ? null : await openWith(identity, sealed, "one");
      if (plain === null) {
        if (sealed !== null && items.items.length + items.failures.length === 0) throw new Refused("identity_wrong");
        items.fail(entry.ticket, sealed === null ? "missing_file" : "damaged");
        continue;
      }
      const { title, tags, name, mime, content_kind: contentKind, size, content_sha256: sha256, content_identity: contentIdentity } = parseDocument(OwnerTicket, plain);
      wipe(plain);
      const content = await archive.read(entry.content, maxAttachmentBytes);
      if (content === null) {
        items.fail(title, "missing_file");
        continue;
      }
      const opened = await openContent(contentKind, content, { sha256, identity: contentIdentity, size });
      items.file({ kind: "secret", title, tags, name, mime, content: new Blob([opened]), which: entry.secret_id, contentKind, ...(entry.favorite ? { favorite: true } : {}) });
      wipe(opened);
    } catch (error) {
      if (error instanceof Refused && error.reason !== "too_large") throw error;
      if (!(error instanceof Refused) && !isPortalError(error, "decryption_failed")) throw error;
      items.fail(entry.content, error instanceof Refused ? "too_large" : "damaged");
    }
  }
  return items;
}
