import { toB64u } from "@relicario/shared/api";
import type { ExportedSecrets } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { makeZip } from "client-zip";

import { newIdentity, recipientOf } from "../seal/age.ts";
import { chunksOf, copyOf, sha256, utf8, type Bytes } from "../seal/bytes.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { sealSigned } from "../seal/ticket.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { committed, type Sink } from "../transfer/sinks.ts";
import {
  labelledRows,
  openedBy,
  readLeaving,
  sealedContent,
  type ContentSource,
  type LabelledRow,
  type LeavingSecret,
} from "../steps/leaving-secret.ts";
import { requireRow } from "../steps/read-account.ts";
import { readMe } from "./export-texts.ts";
import type { OpenedKeyring } from "../steps/read-keyring.ts";
import { withShownOpener } from "./recover.ts";
import type { Shown } from "../shown-image.ts";

/** What exporting needs beside the vault. */
export interface ExportParts extends ContentSource {
  /** Where the archive goes, asked for once it is known that there will be one. */
  readonly openSink: () => Promise<Sink<Blob>>;
}

/**
 * What the manifest says of one secret. Titles stand in its ticket, which is sealed; what the
 * service knows too may be read by everybody.
 */
interface Entry {
  readonly secret_id: string;
  readonly version: number;
  readonly author: LeavingSecret["author"];
  readonly favorite: boolean;
  /** File names and base64url digests of what the archive holds. */
  readonly ticket: string;
  readonly ticket_sha256: string;
  readonly content: string;
  readonly content_sha256: string;
}

/**
 * [Note: Export sequence]
 * 1. A picture is shown; what it does not open, and what the service has dropped, is left and
 *    named.
 * 2. An exit identity is made for this archive. Each ticket is checked as for a recovery, and
 *    sealed again to the exit identity alone; after a renaming it is signed again with the names of
 *    today.
 * 3. Contents go along as they are sealed, each compared with its ticket's digest; then a manifest
 *    of digests, and the commands of the standard `age`.
 * 4. When the last byte is there the archive is committed; after anything else it is emptied. The
 *    identity is given to whoever asked, and is not in the archive.
 *
 * @throws PortalError those of showing a picture, `opener_needed` when it opens none of them,
 *   `list_mismatch`, `decryption_failed` (`secret_id` in its details), `storage_full`, `cancelled`.
 */
export function exportSecrets(
  vault: VaultContext,
  parts: ExportParts,
  secretIds: readonly string[],
  shown: Shown,
  options: ActOptions = {},
): Promise<ExportedSecrets> {
  return withShownOpener(vault, shown, options, async (account, show) => {
    const wanted = await labelledRows(vault, account, secretIds);
    const opener = await show();
    const secrets = openedBy(opener, wanted);
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
    return {
      identity,
      archive: blob,
      exported: exported.size,
      left: secretIds.filter((secretId) => !exported.has(secretId)),
      notVerified: [...archive.notVerified],
    };
  });
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

  constructor(
    vault: VaultContext,
    parts: ExportParts,
    opened: OpenedKeyring,
    opener: ShownOpener,
    recipient: string,
    options: ActOptions,
  ) {
    this.#vault = vault;
    this.#parts = parts;
    this.#opened = opened;
    this.#opener = opener;
    this.#recipient = recipient;
    this.#options = options;
  }

  async *files(secrets: readonly LabelledRow[]): AsyncGenerator<{
    readonly name: string;
    readonly input: Bytes | AsyncIterable<Bytes>;
    readonly lastModified: Date;
  }> {
    this.#total = secrets.reduce((sum, { row }) => sum + row.stored.size, 0);
    const lastModified = new Date(this.#vault.now());
    const entries: Entry[] = [];
    for (const secret of secrets) {
      this.#tell();
      const { secretId } = secret.row;
      const leaving = await readLeaving(this.#vault, this.#opened, secret, this.#opener, this.#options);
      const { ticket, author } = leaving;
      const { version } = ticket;
      if (author === "not_verified") this.notVerified.add(secretId);
      const sealed = await sealSigned([this.#recipient], ticket);
      const entry = {
        secret_id: secretId,
        version,
        author,
        favorite: secret.row.stored.favorite,
        ticket: `${secretId}.ticket.age`,
        ticket_sha256: toB64u(sha256(sealed)),
        content: `${secretId}.age`,
        content_sha256: ticket.content_sha256,
      } as const;
      yield { name: entry.ticket, input: sealed, lastModified };
      yield { name: entry.content, input: this.#content(leaving), lastModified };
      entries.push(entry);
    }
    yield {
      name: "manifest.json",
      input: utf8(`${JSON.stringify({ v: 2, made_at: lastModified.toISOString(), secrets: entries }, null, 2)}\n`),
      lastModified,
    };
    for (const { name, text } of readMe) yield { name, input: utf8(text), lastModified };
  }

  async *#content(secret: LeavingSecret): AsyncGenerator<Bytes> {
    for await (const bytes of sealedContent(secret, this.#parts, this.#options.signal)) {
      this.#fetched += bytes.length;
      this.#tell();
      yield bytes;
    }
  }

  #tell(): void {
    this.#options.onProgress?.({ phase: "fetching", done: Math.min(this.#fetched, this.#total), total: this.#total });
  }
}
