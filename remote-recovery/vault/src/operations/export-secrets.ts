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

export interface ExportDeps extends ContentSource {
  /** Opens the target of the archive. Called only if there is a secret to export. */
  readonly openSink: () => Promise<Sink>;
}

/**
 * An entry of the manifest. Has no title, tags or name of the secret, because the manifest is not
 * sealed; tickets have these.
 */
interface ManifestEntry {
  readonly secret_id: string;
  readonly version: number;
  readonly author: PortableSecret["signatureStatus"];
  readonly favorite: boolean;
  /** File name of the ticket in the archive. */
  readonly ticket: string;
  /** Digest of the ticket's file, base64url. */
  readonly ticket_sha256: string;
  /** File name of the sealed content in the archive. */
  readonly content: string;
  /** Digest of the content's file, base64url. */
  readonly content_sha256: string;
}

/**
 * [Note: Export sequence]
 * 1. An opener is presented: a picture, a passkey or a recovery code. Secrets that it does not
 *    open, or whose content was dropped, are skipped; the result has their ids.
 * 2. An exit identity is generated for this archive. Each ticket is opened, must match the
 *    account's list and the label, and is sealed again only to the exit identity. After a renaming,
 *    a ticket with a verified signature is signed again with the current names. A ticket without a
 *    verified signature is exported too; the result has the id of its secret.
 * 3. Contents stay sealed, and must match the digests in their tickets. The manifest and texts with
 *    commands of the standard `age` follow.
 * 4. The archive is committed after its last byte, and discarded after any failure. The exit
 *    identity is returned, and is not in the archive.
 *
 * @throws PortalError those of {@link withPresentedOpener}; `not_found` and `vault_locked` of
 *   {@link readLabelledRows}; `opener_needed` if the opener opens none of the requested secrets;
 *   `list_mismatch` and `decryption_failed` (`secret_id` in its details) of {@link
 *   readPortableSecret} and {@link readSealedContent}; `storage_full`; `cancelled`
 */
export function exportSecrets(
  vault: VaultSession,
  deps: ExportDeps,
  secretIds: readonly string[],
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<ExportedSecrets> {
  return withPresentedOpener(vault, presentedOpener, options, async (account, getOpenerKeys) => {
    const requestedRows = await readLabelledRows(vault, account, secretIds);
    const opener = await getOpenerKeys();
    const openableRows = filterOpenedBy(opener, requestedRows);
    const [firstLabelledRow] = openableRows;
    if (firstLabelledRow === undefined) throw new PortalError("opener_needed");
    const { openedKeyring } = requireRow(account, firstLabelledRow.row.secretId);
    const exitIdentity = generateIdentity();
    const archiveFiles = new ArchiveFileSource(
      vault,
      deps,
      openedKeyring,
      opener,
      await deriveRecipient(exitIdentity),
      options,
    );
    const sink = await deps.openSink();
    const archive = await commitOnSuccess(sink, async () => {
      const zip = makeZip(archiveFiles.generateFiles(openableRows));
      for await (const chunk of readChunks(zip)) {
        throwIfCancelled(options.signal);
        await sink.write(copyOf(chunk));
      }
    });
    const exportedIds = new Set(openableRows.map(({ row }) => row.secretId));
    return {
      identity: exitIdentity,
      archive,
      exportedCount: exportedIds.size,
      skippedIds: secretIds.filter((secretId) => !exportedIds.has(secretId)),
      unverifiedIds: [...archiveFiles.unverifiedIds],
    };
  });
}

class ArchiveFileSource {
  readonly #vault: VaultSession;
  readonly #deps: ExportDeps;
  readonly #openedKeyring: OpenedKeyring;
  readonly #opener: OpenerKeys;
  readonly #recipient: string;
  readonly #options: OperationOptions;
  /** Ids of exported secrets whose signature is not verified. */
  readonly unverifiedIds = new Set<string>();
  #fetchedBytes = 0;
  #totalBytes = 0;

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

  async *generateFiles(labelledRows: readonly LabelledRow[]): AsyncGenerator<{
    readonly name: string;
    readonly input: Bytes | AsyncIterable<Bytes>;
    readonly lastModified: Date;
  }> {
    this.#totalBytes = labelledRows.reduce((sum, { row }) => sum + row.storedSecret.size, 0);
    const exportedAt = new Date(this.#vault.now());
    const entries: ManifestEntry[] = [];
    for (const labelledRow of labelledRows) {
      this.#reportProgress();
      const { secretId } = labelledRow.row;
      const portableSecret = await readPortableSecret(
        this.#vault,
        this.#openedKeyring,
        labelledRow,
        this.#opener,
        this.#options,
      );
      const { ticket, signatureStatus } = portableSecret;
      const { version } = ticket;
      if (signatureStatus === "not_verified") this.unverifiedIds.add(secretId);
      const sealedTicket = await sealSignedTicket([this.#recipient], ticket);
      const entry = {
        secret_id: secretId,
        version,
        author: signatureStatus,
        favorite: labelledRow.row.storedSecret.favorite,
        ticket: `${secretId}.ticket.age`,
        ticket_sha256: toBase64url(sha256(sealedTicket)),
        content: `${secretId}.age`,
        content_sha256: ticket.content_sha256,
      } as const;
      yield { name: entry.ticket, input: sealedTicket, lastModified: exportedAt };
      yield { name: entry.content, input: this.#readContent(portableSecret), lastModified: exportedAt };
      entries.push(entry);
    }
    yield {
      name: "manifest.json",
      input: utf8(`${JSON.stringify({ v: 2, made_at: exportedAt.toISOString(), secrets: entries }, null, 2)}\n`),
      lastModified: exportedAt,
    };
    for (const { name, text } of readmeFiles) yield { name, input: utf8(text), lastModified: exportedAt };
  }

  async *#readContent(secret: PortableSecret): AsyncGenerator<Bytes> {
    for await (const bytes of readSealedContent(secret, this.#deps, this.#options.signal)) {
      this.#fetchedBytes += bytes.length;
      this.#reportProgress();
      yield bytes;
    }
  }

  #reportProgress(): void {
    this.#options.onProgress?.({
      phase: "fetching",
      done: Math.min(this.#fetchedBytes, this.#totalBytes),
      total: this.#totalBytes,
    });
  }
}
