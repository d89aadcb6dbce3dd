/**
 * A secret that leaves the portal sealed, in an archive or a kit: its ticket as it is today, and
 * its sealed content.
 */
import { fromBase64url, toBase64url, type SecretContent } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { createSha256, type Bytes } from "../seal/bytes.ts";
import { contentHeadSize, paddedLength, pieceSize, sealedLength } from "../seal/content-sizes.ts";
import type { Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { signTicket, type OwnerTicket } from "../seal/ticket.ts";
import { readTicket } from "./read-ticket.ts";
import { retryUntilSuccess, type RetryPolicy } from "../transfer/retry-until-success.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";

/** How large contents are fetched. */
export interface ContentSource {
  readonly range: TransferCalls["range"];
  readonly retryPolicy: RetryPolicy;
}

/** A row with its opened label. */
export interface LabelledRow {
  readonly row: AccountRow;
  readonly label: Label;
}

export interface PortableSecret extends LabelledRow {
  readonly stored: SecretContent;
  /** With the names of today. */
  readonly ticket: OwnerTicket;
  readonly author: "verified" | "not_verified";
}

/** About 4 MiB, of contents that come in ranges. */
const maxRangeBytes = 64 * pieceSize;

/** Rows and labels of these secrets, each once. @throws PortalError `not_found`, `vault_locked`. */
export async function readLabelledRows(
  vault: VaultSession,
  account: AccountView | null,
  secretIds: readonly string[],
): Promise<LabelledRow[]> {
  const rows = [...new Set(secretIds)].map((secretId) => requireRow(account, secretId));
  return Promise.all(
    rows.map(async ({ openedKeyring, row }) => ({
      row,
      label: await openRowLabel(vault.userId, openedKeyring.keys, row),
    })),
  );
}

/** Those that the opener opens and whose content is there. */
export function filterOpenedBy(opener: OpenerKeys, rows: readonly LabelledRow[]): LabelledRow[] {
  return rows.filter(
    ({ row, label }) => row.stored.dropped_at === undefined && label.openers.includes(opener.openerId),
  );
}

/**
 * The newest version, checked as for a recovery. When another device saved since the list was read,
 * it is read once more before that is an alarm.
 *
 * @throws PortalError `list_mismatch`, `decryption_failed` (`secret_id` in its details).
 */
export async function readPortableSecret(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  secret: LabelledRow,
  opener: OpenerKeys,
  options: OperationOptions,
): Promise<PortableSecret> {
  const { secretId } = secret.row;
  try {
    try {
      return await readWithCurrentNames(vault, openedKeyring, secret, opener, options);
    } catch (error) {
      if (!isPortalError(error, "list_mismatch")) throw error;
      const refreshed = requireRow(await readAccount(vault, options.signal), secretId);
      return await readWithCurrentNames(
        vault,
        refreshed.openedKeyring,
        { row: refreshed.row, label: await openRowLabel(vault.userId, refreshed.openedKeyring.keys, refreshed.row) },
        opener,
        options,
      );
    }
  } catch (error) {
    throw isPortalError(error, "decryption_failed") ? createBrokenSecretError(secretId) : error;
  }
}

/** A renaming changes the label alone: what leaves is signed again with the names of today. */
async function readWithCurrentNames(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  { row, label }: LabelledRow,
  opener: OpenerKeys,
  options: OperationOptions,
): Promise<PortableSecret> {
  const stored = await vault.service.getSecret(row.secretId, null, options.signal);
  const { ticket, author } = await readTicket(
    vault.userId,
    openedKeyring,
    { row, label, version: row.version },
    stored,
    opener,
  );
  if (author !== "verified" || ticket.rev === row.rev) return { row, label, stored, ticket, author };
  const { sig: _, ...ticketBody } = ticket;
  const { title, tags, name } = label;
  return {
    row,
    label,
    stored,
    ticket: await signTicket(openedKeyring.keys, { ...ticketBody, title, tags, name, rev: row.rev }),
    author,
  };
}

/**
 * The sealed content, whole or in ranges.
 *
 * @throws PortalError `decryption_failed` (`secret_id` in its details) at its end, when it is not
 *   what the ticket says.
 */
export async function* readSealedContent(
  { stored, ticket }: Pick<PortableSecret, "stored" | "ticket">,
  source: ContentSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const digest = createSha256();
  for await (const bytes of stored.content === null
    ? readRanges(ticket, source, signal)
    : [fromBase64url(stored.content)]) {
    digest.update(bytes);
    yield bytes;
  }
  if (toBase64url(digest.finish()) !== ticket.content_sha256) throw createBrokenSecretError(ticket.secret_id);
}

async function* readRanges(
  { secret_id: secretId, version, content_kind: kind, size: plainSize }: OwnerTicket,
  source: ContentSource,
  outerSignal: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const maxSize = sealedLength(contentHeadSize, paddedLength(kind, plainSize));
  const signal = outerSignal ?? new AbortController().signal;
  for (let offset = 0, size = Infinity; offset < size;) {
    const start = offset;
    const range = await retryUntilSuccess(
      () => source.range({ secretId, version }, start, start + maxRangeBytes, signal),
      source.retryPolicy,
      signal,
    );
    if (range.bytes.length === 0 || range.size > maxSize) throw createBrokenSecretError(secretId);
    size = range.size;
    offset += range.bytes.length;
    yield range.bytes;
  }
}

/** Which secret it was: the person can leave it out. */
function createBrokenSecretError(secretId: string): PortalError {
  return new PortalError("decryption_failed", { details: { secret_id: secretId } });
}
