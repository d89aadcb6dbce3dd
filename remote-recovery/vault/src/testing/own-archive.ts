import { toBase64url } from "@relicario/shared/api";
import { makeZip } from "client-zip";

import { generateIdentity, deriveRecipient, sealTo } from "../seal/age.ts";
import { sha256Async, type Bytes } from "../seal/bytes.ts";
import { sealContent } from "../seal/content.ts";
import { serializeDocument } from "../seal/document.ts";
import { userId } from "./world.ts";

export interface ArchivedSecret {
  readonly title: string;
  readonly contentKind: "text" | "file";
  readonly plaintext: Bytes;
  /** False claims of the ticket. */
  readonly ticketOverrides?: { readonly size?: number };
}

/**
 * Creates an archive like an export of this portal.
 *
 * @param entries the archive's files, by name
 */
export async function buildArchive(
  secrets: readonly ArchivedSecret[],
): Promise<{ readonly zip: Blob; readonly identity: string; readonly entries: ReadonlyMap<string, Bytes> }> {
  const identity = generateIdentity();
  const recipient = await deriveRecipient(identity);
  const entries = new Map<string, Bytes>();
  const manifestEntries = [];
  for (const [index, { title, contentKind, plaintext, ticketOverrides = {} }] of secrets.entries()) {
    const secretId = `019a9e2c-7c1e-7abc-8def-${String(index).padStart(12, "0")}`;
    const { sealed, sha256, identity: contentIdentity, size } = await sealContent(contentKind, plaintext);
    const ticket = {
      v: 1,
      kind: "owner",
      secret_id: secretId,
      version: 1,
      rev: 1,
      owner: userId,
      title,
      tags: [],
      openers: [],
      name: `${title}.bin`,
      mime: "application/x",
      content_kind: contentKind,
      size,
      content_sha256: sha256,
      content_identity: contentIdentity,
      created_at: "2026-11-21T10:04:05.678Z",
      sig: toBase64url(new Uint8Array(64)),
      ...ticketOverrides,
    };
    const sealedTicket = await sealTo([recipient], serializeDocument(ticket));
    entries.set(`${secretId}.ticket.age`, sealedTicket);
    entries.set(`${secretId}.age`, sealed);
    manifestEntries.push({
      secret_id: secretId,
      favorite: false,
      ticket: `${secretId}.ticket.age`,
      ticket_sha256: toBase64url(await sha256Async(sealedTicket)),
      content: `${secretId}.age`,
      content_sha256: sha256,
    });
  }
  entries.set("manifest.json", new TextEncoder().encode(JSON.stringify({ v: 2, secrets: manifestEntries })));
  return { zip: await zipEntries(entries), identity, entries };
}

/** Zips without compression, like the export. */
export function zipEntries(entries: ReadonlyMap<string, Bytes>): Promise<Blob> {
  return new Response(
    makeZip(
      [...entries].map(([name, input]) => ({ name, input: new Blob([input]).stream(), lastModified: new Date(0) })),
    ),
  ).blob();
}
