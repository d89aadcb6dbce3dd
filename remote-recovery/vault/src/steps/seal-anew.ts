/**
 * One secret sealed anew, with all its versions: for a switch to another account key or other
 * openers.
 */
import {
  fromB64u,
  maxContentAnewBytes,
  toB64u,
  type SecretContent,
  type StagedRow,
  type VersionLine,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { TitlesKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256, wipe } from "../seal/bytes.ts";
import { openContent, sealContent, type SealedContent } from "../seal/content.ts";
import { mostSealedBytes, paddedLength } from "../seal/content-pieces.ts";
import { formerDigest, sealLabel, type Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import type { RootRow } from "../seal/state.ts";
import { sealSigned, signTicket, type OwnerTicket } from "../seal/ticket.ts";
import { readTicket } from "../acts/recover.ts";
import type { AccountRow, VaultContext } from "../vault-context.ts";
import { checkedFormer } from "./former-versions.ts";
import type { OpenedKeyring } from "./read-keyring.ts";
import { labelOf } from "./read-account.ts";
import { rootRow } from "./sealed-secret.ts";

export interface SealingAnew {
  /** Keys that labels are sealed and tickets signed with. */
  readonly keys: TitlesKeys;
  /** Those that open tickets now. */
  readonly shown: readonly ShownOpener[];
  /** The openers that a secret with these is to have; none: its tickets stay as they are. */
  readonly wanted: (ids: readonly string[]) => readonly Pick<BookOpener, "id" | "recipient">[];
}

export interface SecretSealedAnew {
  readonly rows: readonly StagedRow[];
  readonly root: RootRow;
  /** Versions whose content has another identity now. Shares of them end. */
  readonly contents: readonly number[];
}

type SealingVersion = Omit<SealingAnew, "wanted"> & {
  readonly wanted: readonly Pick<BookOpener, "id" | "recipient">[];
  /** Whether the secret loses an opener: then contents take another identity, too. */
  readonly isLosing: boolean;
};

interface VersionSealedAnew {
  readonly ticket: string;
  readonly content: string | null;
}

/**
 * The label under `keys`, its `rev` one higher. Tickets of former versions that a shown opener
 * opens are sealed anew to what the secret is to have. Where it loses an opener, the newest ticket
 * is too, and contents take another identity. What came to this account unsigned stays unsigned,
 * and a content that is larger than {@link maxContentAnewBytes} keeps its identity.
 *
 * @throws PortalError those of reading: nothing that does not fit its label is sealed anew.
 */
export async function sealSecretAnew(
  vault: VaultContext,
  opened: OpenedKeyring,
  row: AccountRow,
  how: SealingAnew,
  signal: AbortSignal | undefined,
): Promise<SecretSealedAnew> {
  const label = await labelOf(vault.userId, opened.keys, row);
  const { secretId, version } = row;
  const wanted = how.wanted(label.openers);
  const isGone = row.stored.dropped_at !== undefined;
  const isLosing = wanted.length > 0 && label.openers.some((id) => !wanted.some((one) => one.id === id));
  const place = { secretId, version, rev: row.rev + 1 };
  const present =
    isLosing && !isGone
      ? await versionAnew(vault, opened, { row, label, version }, { ...how, wanted, isLosing }, signal)
      : null;
  if (isLosing && !isGone && present === null)
    throw new PortalError("decryption_failed", { details: { secret_id: secretId } }); // its label names a shown opener
  const former = version === 1 ? [] : checkedFormer(row, label, await vault.service.versions(secretId, signal));
  const formers =
    wanted.length === 0
      ? new Map<number, VersionSealedAnew>()
      : await formersAnew(vault, opened, { row, label }, former, { ...how, wanted, isLosing }, signal);
  const ids = wanted.length === 0 ? label.openers : wanted.map(({ id }) => id);
  const sealed = await sealLabel(how.keys, vault.userId, place, {
    ...label,
    openers: [...ids],
    rehearsed: label.rehearsed.filter(({ opener_id: id }) => ids.includes(id)),
    ticket_sha256: present === null ? label.ticket_sha256 : digestOf(present.ticket),
    former_sha256: formerDigest(
      former.map(({ version: one, ticket_sha256: before }) => ({
        version: one,
        ticketSha256: digestIn(formers.get(one), before),
      })),
    ),
  });
  const rows = [
    stagedRow(secretId, version, present, sealed),
    ...[...formers].map(([one, anew]) => stagedRow(secretId, one, anew)),
  ];
  return {
    rows,
    root: rootRow(place, sealed),
    contents: rows.filter(({ content }) => content !== undefined).map((one) => one.version),
  };
}

async function formersAnew(
  vault: VaultContext,
  opened: OpenedKeyring,
  { row, label }: { readonly row: AccountRow; readonly label: Label },
  lines: readonly VersionLine[],
  how: SealingVersion,
  signal: AbortSignal | undefined,
): Promise<Map<number, VersionSealedAnew>> {
  const formers = new Map<number, VersionSealedAnew>();
  for (const { version, dropped } of lines) {
    const anew = dropped ? null : await versionAnew(vault, opened, { row, label, version }, how, signal);
    if (anew !== null) formers.set(version, anew);
  }
  return formers;
}

/** Null when no shown opener opens it. */
async function versionAnew(
  vault: VaultContext,
  opened: OpenedKeyring,
  which: { readonly row: AccountRow; readonly label: Label; readonly version: number },
  { keys, shown, wanted, isLosing }: SealingVersion,
  signal: AbortSignal | undefined,
): Promise<VersionSealedAnew | null> {
  const { row, label, version } = which;
  const isPresent = version === row.version;
  const stored = await vault.service.secret(row.secretId, isPresent ? null : version, signal);
  for (const opener of shown) {
    if (isPresent && !label.openers.includes(opener.openerId)) continue;
    const read = await readTicket(vault.userId, opened, which, stored, opener).catch((error: unknown) => {
      if (isPortalError(error, "opener_needed")) return null; // a former version that this one does not open
      throw error;
    });
    if (read === null) continue;
    const { ticket, author } = read;
    const recipients = wanted.map(({ recipient }) => recipient);
    if (author !== "verified") return { ticket: toB64u(await sealSigned(recipients, ticket)), content: null };
    const { sig: _, ...signed } = ticket;
    const content = isLosing ? await contentAnew(vault, ticket, stored, signal) : null;
    const named = isPresent ? { title: label.title, tags: label.tags, name: label.name, rev: row.rev + 1 } : {};
    const body = {
      ...signed,
      ...named,
      ...(content === null ? {} : { content_sha256: content.sha256, content_identity: content.identity }),
    };
    return {
      ticket: toB64u(await sealSigned(recipients, await signTicket(keys, body))),
      content: content === null ? null : toB64u(content.sealed),
    };
  }
  return null;
}

/** Null for a larger one. */
async function contentAnew(
  { service }: VaultContext,
  ticket: OwnerTicket,
  stored: SecretContent,
  signal: AbortSignal | undefined,
): Promise<SealedContent | null> {
  const { secret_id: secretId, version, content_kind: kind, size } = ticket;
  if (size > maxContentAnewBytes) return null;
  const most = mostSealedBytes(paddedLength(kind, size));
  const sealed =
    stored.content === null
      ? (await service.content.range({ secretId, version }, 0, most, signal)).bytes
      : fromB64u(stored.content);
  const plain = await openContent(kind, sealed, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size,
  });
  try {
    return await sealContent(kind, plain);
  } finally {
    wipe(plain);
  }
}

function stagedRow(secretId: string, version: number, anew: VersionSealedAnew | null, label?: string): StagedRow {
  const sealed =
    anew === null ? {} : { ticket: anew.ticket, ...(anew.content === null ? {} : { content: anew.content }) };
  return { secret_db_id: secretId, version, ...(label === undefined ? {} : { label }), ...sealed };
}

function digestOf(ticket: string): string {
  return toB64u(sha256(fromB64u(ticket)));
}

function digestIn(anew: VersionSealedAnew | undefined, before: string): string {
  return anew === undefined ? before : digestOf(anew.ticket);
}
