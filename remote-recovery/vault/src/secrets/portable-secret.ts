/** Reads the ticket and the sealed content of a secret for an archive or a kit. */
import { fromBase64url, toBase64url } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { createSha256, type Bytes } from "../seal/bytes.ts";
import { contentHeadSize, computePaddedLength, chunkSize, computeSealedLength } from "../seal/content-sizes.ts";
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
import type { StoredVersion } from "../service/service.ts";

export interface ContentSource {
  readonly range: TransferCalls["range"];
  readonly retryPolicy: RetryPolicy;
}

export interface LabelledRow {
  readonly row: AccountRow;
  readonly label: Label;
}

export interface PortableSecret extends LabelledRow {
  readonly storedVersion: StoredVersion;
  /** The ticket with the current title and names. */
  readonly ticket: OwnerTicket;
  readonly signatureStatus: "verified" | "not_verified";
}

/** About 4 MiB. */
const maxRangeBytes = 64 * chunkSize;

/**
 * Reads rows and their labels. Skips repeated ids.
 *
 * @throws PortalError `not_found`, `vault_locked`
 */
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

/** Selects secrets that the opener opens and whose content the service still has. */
export function filterOpenedBy(opener: OpenerKeys, rows: readonly LabelledRow[]): LabelledRow[] {
  return rows.filter(
    ({ row, label }) => row.storedSecret.dropped_at === undefined && label.openers.includes(opener.openerId),
  );
}

/**
 * Reads and verifies the newest version. After a `list_mismatch` reads the account again, because
 * another device may have saved in between.
 *
 * @throws PortalError `list_mismatch`, `decryption_failed` (`secret_id` in its details)
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
      const refreshedRow = requireRow(await readAccount(vault, options.signal), secretId);
      return await readWithCurrentNames(
        vault,
        refreshedRow.openedKeyring,
        {
          row: refreshedRow.row,
          label: await openRowLabel(vault.userId, refreshedRow.openedKeyring.keys, refreshedRow.row),
        },
        opener,
        options,
      );
    }
  } catch (error) {
    throw isPortalError(error, "decryption_failed") ? createBrokenSecretError(secretId) : error;
  }
}

/** Signs the ticket again with the current names, because renaming changes only the label. */
async function readWithCurrentNames(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  { row, label }: LabelledRow,
  opener: OpenerKeys,
  options: OperationOptions,
): Promise<PortableSecret> {
  const stored = await vault.service.getSecret(row.secretId, null, options.signal);
  const { ticket, signatureStatus } = await readTicket(
    vault,
    openedKeyring,
    { row, label, version: row.version },
    stored,
    opener,
  );
  if (signatureStatus !== "verified" || ticket.rev === row.rev)
    return { row, label, storedVersion: stored, ticket, signatureStatus };
  const { sig: _, ...ticketBody } = ticket;
  const { title, tags, name } = label;
  return {
    row,
    label,
    storedVersion: stored,
    ticket: await signTicket(vault.requireAccountKeyOf(openedKeyring.keys), {
      ...ticketBody,
      title,
      tags,
      name,
      rev: row.rev,
    }),
    signatureStatus,
  };
}

/**
 * Yields the sealed content, whole or in ranges.
 *
 * @throws PortalError `decryption_failed` (`secret_id` in its details) after the last bytes, if the
 *   content does not have the digest in the ticket
 */
export async function* readSealedContent(
  { storedVersion, ticket }: Pick<PortableSecret, "storedVersion" | "ticket">,
  source: ContentSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const digest = createSha256();
  for await (const bytes of storedVersion.content === null
    ? readRanges(ticket, source, signal)
    : [fromBase64url(storedVersion.content)]) {
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
  const maxSize = computeSealedLength(contentHeadSize, computePaddedLength(kind, plainSize));
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

/** Names the secret, so that the person can leave it out. */
function createBrokenSecretError(secretId: string): PortalError {
  return new PortalError("decryption_failed", { details: { secret_id: secretId } });
}
