import { toBase64url } from "@relicario/shared/api";
import type { ExportedSecrets } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { makeZip } from "client-zip";

import { generateIdentity, deriveRecipient } from "../seal/age.ts";
import { readChunks, copyOf, sha256, utf8, type Bytes } from "../seal/bytes.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { sealSignedTicket } from "../seal/ticket.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { commitOnSuccess, type Sink } from "../transfer/sinks.ts";
import {
  readLabelledRows,
  filterOpenedBy,
  readPortableSecret,
  readSealedContent,
  type ContentSource,
  type LabelledRow,
  type PortableSecret,
} from "../secrets/portable-secret.ts";
import { requireRow } from "../keyring/read-account.ts";
import { readmeFiles } from "./archive-readme.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/** What exporting needs beside the vault. */
export interface ExportDeps extends ContentSource {
  /** Where the archive goes, asked for once it is known that there will be one. */
  readonly openSink: () => Promise<Sink<Blob>>;
}

/**
 * What the manifest says of one secret. Titles stand in its ticket, which is sealed; what the
 * service knows too may be read by everybody.
 */
interface ManifestEntry {
  readonly secret_id: string;
  readonly version: number;
  readonly author: PortableSecret["author"];
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
  vault: VaultSession,
  deps: ExportDeps,
  secretIds: readonly string[],
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<ExportedSecrets> {
  return withPresentedOpener(vault, presentedOpener, options, async (account, presentOpener) => {
    const requested = await readLabelledRows(vault, account, secretIds);
    const opener = await presentOpener();
    const secrets = filterOpenedBy(opener, requested);
    const [firstSecret] = secrets;
    if (firstSecret === undefined) throw new PortalError("opener_needed");
    const { openedKeyring } = requireRow(account, firstSecret.row.secretId);
    const identity = generateIdentity();
    const archive = new Archive(vault, deps, openedKeyring, opener, await deriveRecipient(identity), options);
    const sink = await deps.openSink();
    const blob = await commitOnSuccess(sink, async () => {
      const zip = makeZip(archive.files(secrets));
      for await (const chunk of readChunks(zip)) {
        throwIfCancelled(options.signal);
        await sink.write(copyOf(chunk));
      }
    });
    const exportedIds = new Set(secrets.map(({ row }) => row.secretId));
    return {
      identity,
      archive: blob,
      exported: exportedIds.size,
      skipped: secretIds.filter((secretId) => !exportedIds.has(secretId)),
      notVerified: [...archive.notVerified],
    };
  });
}

/** The files of one archive, made one after another as they are written. */
class Archive {
  readonly #vault: VaultSession;
  readonly #deps: ExportDeps;
  readonly #openedKeyring: OpenedKeyring;
  readonly #opener: OpenerKeys;
  readonly #recipient: string;
  readonly #options: OperationOptions;
  /** Ids of those written so far whose author is not. */
  readonly notVerified = new Set<string>();
  #fetched = 0;
  #total = 0;

  constructor(
    vault: VaultSession,
    deps: ExportDeps,
    openedKeyring: OpenedKeyring,
    opener: OpenerKeys,
    recipient: string,
    options: OperationOptions,
  ) {
    this.#vault = vault;
    this.#deps = deps;
    this.#openedKeyring = openedKeyring;
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
    const entries: ManifestEntry[] = [];
    for (const secret of secrets) {
      this.#reportProgress();
      const { secretId } = secret.row;
      const portable = await readPortableSecret(this.#vault, this.#openedKeyring, secret, this.#opener, this.#options);
      const { ticket, author } = portable;
      const { version } = ticket;
      if (author === "not_verified") this.notVerified.add(secretId);
      const sealed = await sealSignedTicket([this.#recipient], ticket);
      const entry = {
        secret_id: secretId,
        version,
        author,
        favorite: secret.row.stored.favorite,
        ticket: `${secretId}.ticket.age`,
        ticket_sha256: toBase64url(sha256(sealed)),
        content: `${secretId}.age`,
        content_sha256: ticket.content_sha256,
      } as const;
      yield { name: entry.ticket, input: sealed, lastModified };
      yield { name: entry.content, input: this.#content(portable), lastModified };
      entries.push(entry);
    }
    yield {
      name: "manifest.json",
      input: utf8(`${JSON.stringify({ v: 2, made_at: lastModified.toISOString(), secrets: entries }, null, 2)}\n`),
      lastModified,
    };
    for (const { name, text } of readmeFiles) yield { name, input: utf8(text), lastModified };
  }

  async *#content(secret: PortableSecret): AsyncGenerator<Bytes> {
    for await (const bytes of readSealedContent(secret, this.#deps, this.#options.signal)) {
      this.#fetched += bytes.length;
      this.#reportProgress();
      yield bytes;
    }
  }

  #reportProgress(): void {
    this.#options.onProgress?.({ phase: "fetching", done: Math.min(this.#fetched, this.#total), total: this.#total });
  }
}
