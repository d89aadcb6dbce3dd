/**
 * A secret that leaves the portal sealed, in an archive or a kit: its ticket as it is today, and
 * its sealed content.
 */
import { fromB64u, toB64u, type SecretContent } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { newSha256, type Bytes } from "../seal/bytes.ts";
import { contentHeadBytes, paddedLength, pieceBytes, sealedLength } from "../seal/content-pieces.ts";
import type { Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { signTicket, type OwnerTicket } from "../seal/ticket.ts";
import { readTicket } from "../acts/recover.ts";
import { untilThrough, type Patience } from "../transfer/until-through.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "./read-account.ts";
import type { OpenedKeyring } from "./read-keyring.ts";

/** How large contents are fetched. */
export interface ContentSource {
  readonly range: TransferCalls["range"];
  readonly patience: Patience;
}

/** A row with its opened label. */
export interface LabelledRow {
  readonly row: AccountRow;
  readonly label: Label;
}

export interface LeavingSecret extends LabelledRow {
  readonly stored: SecretContent;
  /** With the names of today. */
  readonly ticket: OwnerTicket;
  readonly author: "verified" | "not_verified";
}

/** About 4 MiB, of contents that come in ranges. */
const rangeBytes = 64 * pieceBytes;

/** Rows and labels of these secrets, each once. @throws PortalError `not_found`, `vault_locked`. */
export async function labelledRows(
  vault: VaultContext,
  account: AccountView | null,
  secretIds: readonly string[],
): Promise<LabelledRow[]> {
  const rows = [...new Set(secretIds)].map((secretId) => requireRow(account, secretId));
  return Promise.all(
    rows.map(async ({ opened, row }) => ({ row, label: await labelOf(vault.userId, opened.keys, row) })),
  );
}

/** Those that the opener opens and whose content is there. */
export function openedBy(opener: ShownOpener, rows: readonly LabelledRow[]): LabelledRow[] {
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
export async function readLeaving(
  vault: VaultContext,
  opened: OpenedKeyring,
  secret: LabelledRow,
  opener: ShownOpener,
  options: ActOptions,
): Promise<LeavingSecret> {
  const { secretId } = secret.row;
  try {
    try {
      return await readAs(vault, opened, secret, opener, options);
    } catch (error) {
      if (!isPortalError(error, "list_mismatch")) throw error;
      const again = requireRow(await readAccount(vault, options.signal), secretId);
      return await readAs(
        vault,
        again.opened,
        { row: again.row, label: await labelOf(vault.userId, again.opened.keys, again.row) },
        opener,
        options,
      );
    }
  } catch (error) {
    throw isPortalError(error, "decryption_failed") ? broken(secretId) : error;
  }
}

/** A renaming changes the label alone: what leaves is signed again with the names of today. */
async function readAs(
  vault: VaultContext,
  opened: OpenedKeyring,
  { row, label }: LabelledRow,
  opener: ShownOpener,
  options: ActOptions,
): Promise<LeavingSecret> {
  const stored = await vault.service.secret(row.secretId, null, options.signal);
  const { ticket, author } = await readTicket(
    vault.userId,
    opened,
    { row, label, version: row.version },
    stored,
    opener,
  );
  if (author !== "verified" || ticket.rev === row.rev) return { row, label, stored, ticket, author };
  const { sig: _, ...signed } = ticket;
  const { title, tags, name } = label;
  return {
    row,
    label,
    stored,
    ticket: await signTicket(opened.keys, { ...signed, title, tags, name, rev: row.rev }),
    author,
  };
}

/**
 * The sealed content, whole or in ranges.
 *
 * @throws PortalError `decryption_failed` (`secret_id` in its details) at its end, when it is not
 *   what the ticket says.
 */
export async function* sealedContent(
  { stored, ticket }: Pick<LeavingSecret, "stored" | "ticket">,
  source: ContentSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const digest = newSha256();
  for await (const bytes of stored.content === null ? ranges(ticket, source, signal) : [fromB64u(stored.content)]) {
    digest.update(bytes);
    yield bytes;
  }
  if (toB64u(digest.finish()) !== ticket.content_sha256) throw broken(ticket.secret_id);
}

async function* ranges(
  { secret_id: secretId, version, content_kind: kind, size: plain }: OwnerTicket,
  source: ContentSource,
  given: AbortSignal | undefined,
): AsyncGenerator<Bytes> {
  const most = sealedLength(contentHeadBytes, paddedLength(kind, plain));
  const signal = given ?? new AbortController().signal;
  for (let at = 0, size = Infinity; at < size;) {
    const start = at;
    const range = await untilThrough(
      () => source.range({ secretId, version }, start, start + rangeBytes, signal),
      source.patience,
      signal,
    );
    if (range.bytes.length === 0 || range.size > most) throw broken(secretId);
    size = range.size;
    at += range.bytes.length;
    yield range.bytes;
  }
}

/** Which secret it was: the person can leave it out. */
function broken(secretId: string): PortalError {
  return new PortalError("decryption_failed", { details: { secret_id: secretId } });
}
