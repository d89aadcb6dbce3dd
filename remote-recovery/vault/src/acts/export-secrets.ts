import { fromB64u, toB64u, type SecretContent } from "@relicario/shared/api";
import type { ExportedSecrets } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { makeZip } from "client-zip";

import { newIdentity, recipientOf } from "../seal/age.ts";
import { copyOf, newSha256, sha256, utf8, type Bytes } from "../seal/bytes.ts";
import { contentHeadBytes, paddedLength, pieceBytes, sealedLength } from "../seal/content-pieces.ts";
import type { Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { sealSigned, signTicket, type OwnerTicket } from "../seal/ticket.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { committed, type Sink } from "../transfer/sinks.ts";
import { untilThrough, type Patience } from "../transfer/until-through.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { readMe } from "./export-texts.ts";
import type { OpenedKeyring } from "../steps/read-keyring.ts";
import { readTicket, withShownOpener } from "./recover.ts";
import type { ShownPicture } from "../shown-image.ts";

/** What exporting needs beside the vault. */
export interface ExportParts {
  readonly range: TransferCalls["range"];
  readonly patience: Patience;
  /** Where the archive goes, asked for once it is known that there will be one. */
  readonly openSink: () => Promise<Sink<Blob>>;
}

/** What the manifest says of one secret. Titles stand in its ticket, which is sealed. */
interface Entry {
  readonly secret_id: string;
  readonly version: number;
  readonly author: "verified" | "not_verified";
  /** File names and base64url digests of what the archive holds. */
  readonly ticket: string;
  readonly ticket_sha256: string;
  readonly content: string;
  readonly content_sha256: string;
}

interface Read {
  readonly stored: SecretContent;
  readonly ticket: OwnerTicket;
  readonly author: Entry["author"];
}

interface Exporting {
  readonly row: AccountRow;
  readonly label: Label;
}

/** About 4 MiB, of contents that come in ranges. */
const rangeBytes = 64 * pieceBytes;

/**
 * [Note: Export sequence]
 * 1. A picture is shown; what it does not open, and what the service has dropped, is left and named.
 * 2. An exit identity is made for this archive. Each ticket is checked as for a recovery, and sealed again to the exit
 *    identity alone; after a renaming it is signed again with the names of today.
 * 3. Contents go along as they are sealed, each compared with its ticket's digest; then a manifest of digests, and the
 *    commands of the standard `age`.
 * 4. When the last byte is there the archive is committed; after anything else it is emptied. The identity is given to
 *    whoever asked, and is not in the archive.
 *
 * @throws PortalError those of showing a picture, `opener_needed` when it opens none of them, `list_mismatch`,
 *   `decryption_failed` (`secret_id` in its details), `storage_full`, `cancelled`.
 */
export function exportSecrets(vault: VaultContext, parts: ExportParts, secretIds: readonly string[], shown: ShownPicture, options: ActOptions = {}): Promise<ExportedSecrets> {
  return withShownOpener(vault, shown, options, async (account, show) => {
    const wanted = await labelled(vault, account, secretIds);
    const opener = await show();
    const secrets = wanted.filter(({ row, label }) => row.stored.dropped_at === undefined && label.openers.includes(opener.openerId));
    const [first] = secrets;
    if (first === undefined) throw new PortalError("opener_needed");
    const { opened } = requireRow(account, first.row.secretId);
    const identity = newIdentity();
    const archive = new Archive(vault, parts, opened, opener, await recipientOf(identity), options);
    const sink = await parts.openSink();
    const blob = await committed(sink, async () => {
      const zip = makeZip(archive.files(secrets));
      for await (const chunk of chunksOf(zip)) {
        refuseCancelled(options.signal);
        await sink.write(copyOf(chunk));
      }
    });
    const exported = new Set(secrets.map(({ row }) => row.secretId));
    return { identity, archive: blob, exported: exported.size, left: secretIds.filter((secretId) => !exported.has(secretId)), notVerified: [...archive.notVerified] };
  });
}

async function labelled(vault: VaultContext, account: AccountView | null, secretIds: readonly string[]): Promise<Exporting[]> {
  const rows = [...new Set(secretIds)].map((secretId) => requireRow(account, secretId));
  return Promise.all(rows.map(async ({ opened, row }) => ({ row, label: await labelOf(vault.userId, opened.keys, row) })));
}

/** The files of one archive, made one after another as they are written. */
class Archive {
  readonly #vault: VaultContext;
  readonly #parts: ExportParts;
  readonly #opened: OpenedKeyring;
  readonly #opener: ShownOpener;
  readonly #recipient: string;
  readonly #options: ActOptions;
  /** Ids of those written so far whose author is not. */
  readonly notVerified = new Set<string>();
  #fetched = 0;
  #total = 0;

  constructor(vault: VaultContext, parts: ExportParts, opened: OpenedKeyring, opener: ShownOpener, recipient: string, options: ActOptions) {
    this.#vault = vault;
    this.#parts = parts;
    this.#opened = opened;
    this.#opener = opener;
    this.#recipient = recipient;
    this.#options = options;
  }

  async *files(secrets: readonly Exporting[]): AsyncGenerator<{ readonly name: string; readonly input: Bytes | AsyncIterable<Bytes>; readonly lastModified: Date }> {
    this.#total = secrets.reduce((sum, { row }) => sum + row.stored.size, 0);
    const lastModified = new Date(this.#vault.now());
    const entries: Entry[] = [];
    for (const secret of secrets) {
      this.#tell();
      const { secretId } = secret.row;
      const { stored, ticket, author } = await naming(secretId, this.#read(secret));
      const { version } = ticket;
      if (author === "not_verified") this.notVerified.add(secretId);
      const sealed = await sealSigned([this.#recipient], ticket);
      const entry = {
        secret_id: secretId,
        version,
        author,
        ticket: `${secretId}.ticket.age`,
        ticket_sha256: toB64u(sha256(sealed)),
        content: `${secretId}.age`,
        content_sha256: ticket.content_sha256,
      } as const;
      yield { name: entry.ticket, input: sealed, lastModified };
      yield { name: entry.content, input: this.#content(stored, ticket), lastModified };
      entries.push(entry);
    }
    yield { name: "manifest.json", input: utf8(`${JSON.stringify({ v: 1, made_at: lastModified.toISOString(), secrets: entries }, null, 2)}\n`), lastModified };
    for (const { name, text } of readMe) yield { name, input: utf8(text), lastModified };
  }

  /** The newest version. When another device saved since the list was read, it is read once more before that is an alarm. */
  async #read(secret: Exporting): Promise<Read> {
    try {
      return await this.#readAs(this.#opened, secret);
    } catch (error) {
      if (!isPortalError(error, "list_mismatch")) throw error;
      const { opened, row } = requireRow(await readAccount(this.#vault, this.#options.signal), secret.row.secretId);
      return this.#readAs(opened, { row, label: await labelOf(this.#vault.userId, opened.keys, row) });
    }
  }

  /** A renaming changes the label alone: what leaves is signed again with the names of today. */
  async #readAs(opened: OpenedKeyring, { row, label }: Exporting): Promise<Read> {
    const stored = await this.#vault.service.secret(row.secretId, null, this.#options.signal);
    const { ticket, author } = await readTicket(this.#vault.userId, opened, { row, label, version: row.version }, stored, this.#opener);
    if (author !== "verified" || ticket.rev === row.rev) return { stored, ticket, author };
    const { sig: _, ...signed } = ticket;
    const { title, tags, name } = label;
    return { stored, ticket: await signTicket(opened.keys, { ...signed, title, tags, name, rev: row.rev }), author };
  }

  /** The sealed content, whole or in ranges; ends with an error when it is not what the ticket says. */
  async *#content(stored: SecretContent, ticket: OwnerTicket): AsyncGenerator<Bytes> {
    const digest = newSha256();
    for await (const bytes of stored.content === null ? this.#ranges(ticket) : [fromB64u(stored.content)]) {
      digest.update(bytes);
      this.#fetched += bytes.length;
      this.#tell();
      yield bytes;
    }
    if (toB64u(digest.finish()) !== ticket.content_sha256) throw broken(ticket.secret_id);
  }

  async *#ranges({ secret_id: secretId, version, content_kind: kind, size: plain }: OwnerTicket): AsyncGenerator<Bytes> {
    const most = sealedLength(contentHeadBytes, paddedLength(kind, plain));
    const signal = this.#options.signal ?? new AbortController().signal;
    for (let at = 0, size = Infinity; at < size; ) {
      const start = at;
      const range = await untilThrough(() => this.#parts.range({ secretId, version }, start, start + rangeBytes, signal), this.#parts.patience, signal);
      if (range.bytes.length === 0 || range.size > most) throw broken(secretId);
      size = range.size;
      at += range.bytes.length;
      yield range.bytes;
    }
  }

  #tell(): void {
    this.#options.onProgress?.({ phase: "fetching", done: Math.min(this.#fetched, this.#total), total: this.#total });
  }
}

/** Which secret it was: the person can leave it out. */
async function naming<T>(secretId: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isPortalError(error, "decryption_failed") ? broken(secretId) : error;
  }
}

function broken(secretId: string): PortalError {
  return new PortalError("decryption_failed", { details: { secret_id: secretId } });
}

/** Streams can be iterated over in newer browsers only. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // what failed first is told
  }
}
