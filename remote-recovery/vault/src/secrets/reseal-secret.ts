/**
 * One secret sealed anew, with all its versions: for a switch to another account key or other
 * openers.
 */
import {
  fromBase64url,
  maxResealedContentBytes,
  toBase64url,
  type SecretContent,
  type StagedRow,
  type VersionRecord,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256, wipe } from "../seal/bytes.ts";
import { openContent, sealContent, type SealedContent } from "../seal/content.ts";
import { maxSealedLength, paddedLength } from "../seal/content-sizes.ts";
import { computeFormerVersionsDigest, sealLabel, type Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import type { RootRow } from "../seal/state.ts";
import { sealSignedTicket, signTicket, type OwnerTicket } from "../seal/ticket.ts";
import { readTicket } from "./read-ticket.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { verifyFormerVersions } from "./former-versions.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { openRowLabel } from "../keyring/read-account.ts";
import { toRootRow } from "./seal-secret.ts";

export interface ResealParams {
  /** Keys that labels are sealed and tickets signed with. */
  readonly keys: MetadataKeys;
  /** Those that open tickets now. */
  readonly openers: readonly OpenerKeys[];
  /** The openers that a secret with these is to have; none: its tickets stay as they are. */
  readonly selectOpeners: (ids: readonly string[]) => readonly Pick<BookOpener, "id" | "recipient">[];
}

export interface ResealedSecretRows {
  readonly rows: readonly StagedRow[];
  readonly root: RootRow;
  /** Versions whose content has another identity now. Shares of them end. */
  readonly rekeyedVersions: readonly number[];
}

type VersionResealParams = Omit<ResealParams, "selectOpeners"> & {
  readonly targetOpeners: readonly Pick<BookOpener, "id" | "recipient">[];
  /** Whether the secret loses an opener: then contents take another identity, too. */
  readonly losesOpener: boolean;
};

interface ResealedVersion {
  readonly ticket: string;
  readonly content: string | null;
}

/**
 * The label under `keys`, its `rev` one higher. Tickets of former versions that a shown opener
 * opens are sealed anew to what the secret is to have. Where it loses an opener, the newest ticket
 * is too, and contents take another identity. What came to this account unsigned stays unsigned,
 * and a content that is larger than {@link maxResealedContentBytes} keeps its identity.
 *
 * @throws PortalError those of reading: nothing that does not fit its label is sealed anew.
 */
export async function resealSecret(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  row: AccountRow,
  params: ResealParams,
  signal: AbortSignal | undefined,
): Promise<ResealedSecretRows> {
  const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
  const { secretId, version } = row;
  const targetOpeners = params.selectOpeners(label.openers);
  const isContentDropped = row.stored.dropped_at !== undefined;
  const losesOpener =
    targetOpeners.length > 0 && label.openers.some((id) => !targetOpeners.some((opener) => opener.id === id));
  const context = { secretId, version, rev: row.rev + 1 };
  const newestVersion =
    losesOpener && !isContentDropped
      ? await resealVersion(
          vault,
          openedKeyring,
          { row, label, version },
          { ...params, targetOpeners, losesOpener },
          signal,
        )
      : null;
  if (losesOpener && !isContentDropped && newestVersion === null)
    throw new PortalError("decryption_failed", { details: { secret_id: secretId } }); // its label names a shown opener
  const formerVersions =
    version === 1 ? [] : verifyFormerVersions(row, label, await vault.service.getVersions(secretId, signal));
  const resealedFormers =
    targetOpeners.length === 0
      ? new Map<number, ResealedVersion>()
      : await resealFormerVersions(
          vault,
          openedKeyring,
          { row, label },
          formerVersions,
          { ...params, targetOpeners, losesOpener },
          signal,
        );
  const ids = targetOpeners.length === 0 ? label.openers : targetOpeners.map(({ id }) => id);
  const sealedLabel = await sealLabel(params.keys, vault.userId, context, {
    ...label,
    openers: [...ids],
    rehearsed: label.rehearsed.filter(({ opener_id: id }) => ids.includes(id)),
    ticket_sha256: newestVersion === null ? label.ticket_sha256 : ticketDigest(newestVersion.ticket),
    former_sha256: computeFormerVersionsDigest(
      formerVersions.map(({ version: formerVersion, ticket_sha256: previousDigest }) => ({
        version: formerVersion,
        ticketSha256: newTicketDigest(resealedFormers.get(formerVersion), previousDigest),
      })),
    ),
  });
  const rows = [
    toStagedRow(secretId, version, newestVersion, sealedLabel),
    ...[...resealedFormers].map(([formerVersion, resealed]) => toStagedRow(secretId, formerVersion, resealed)),
  ];
  return {
    rows,
    root: toRootRow(context, sealedLabel),
    rekeyedVersions: rows.filter(({ content }) => content !== undefined).map((row) => row.version),
  };
}

async function resealFormerVersions(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  { row, label }: { readonly row: AccountRow; readonly label: Label },
  lines: readonly VersionRecord[],
  params: VersionResealParams,
  signal: AbortSignal | undefined,
): Promise<Map<number, ResealedVersion>> {
  const resealedFormers = new Map<number, ResealedVersion>();
  for (const { version, dropped } of lines) {
    const resealed = dropped
      ? null
      : await resealVersion(vault, openedKeyring, { row, label, version }, params, signal);
    if (resealed !== null) resealedFormers.set(version, resealed);
  }
  return resealedFormers;
}

/** Null when no shown opener opens it. */
async function resealVersion(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  target: { readonly row: AccountRow; readonly label: Label; readonly version: number },
  { keys, openers, targetOpeners, losesOpener }: VersionResealParams,
  signal: AbortSignal | undefined,
): Promise<ResealedVersion | null> {
  const { row, label, version } = target;
  const isNewest = version === row.version;
  const stored = await vault.service.getSecret(row.secretId, isNewest ? null : version, signal);
  for (const opener of openers) {
    if (isNewest && !label.openers.includes(opener.openerId)) continue;
    const ticketRead = await readTicket(vault.userId, openedKeyring, target, stored, opener).catch((error: unknown) => {
      if (isPortalError(error, "opener_needed")) return null; // a former version that this one does not open
      throw error;
    });
    if (ticketRead === null) continue;
    const { ticket, author } = ticketRead;
    const recipients = targetOpeners.map(({ recipient }) => recipient);
    if (author !== "verified")
      return { ticket: toBase64url(await sealSignedTicket(recipients, ticket)), content: null };
    const { sig: _, ...ticketBody } = ticket;
    const resealedContent = losesOpener ? await resealContent(vault, ticket, stored, signal) : null;
    const newNames = isNewest ? { title: label.title, tags: label.tags, name: label.name, rev: row.rev + 1 } : {};
    const body = {
      ...ticketBody,
      ...newNames,
      ...(resealedContent === null
        ? {}
        : { content_sha256: resealedContent.sha256, content_identity: resealedContent.identity }),
    };
    return {
      ticket: toBase64url(await sealSignedTicket(recipients, await signTicket(keys, body))),
      content: resealedContent === null ? null : toBase64url(resealedContent.sealed),
    };
  }
  return null;
}

/** Null for a larger one. */
async function resealContent(
  { service }: VaultSession,
  ticket: OwnerTicket,
  stored: SecretContent,
  signal: AbortSignal | undefined,
): Promise<SealedContent | null> {
  const { secret_id: secretId, version, content_kind: kind, size } = ticket;
  if (size > maxResealedContentBytes) return null;
  const maxBytes = maxSealedLength(paddedLength(kind, size));
  const sealed =
    stored.content === null
      ? (await service.content.range({ secretId, version }, 0, maxBytes, signal)).bytes
      : fromBase64url(stored.content);
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

function toStagedRow(secretId: string, version: number, resealed: ResealedVersion | null, label?: string): StagedRow {
  const sealed =
    resealed === null
      ? {}
      : { ticket: resealed.ticket, ...(resealed.content === null ? {} : { content: resealed.content }) };
  return { secret_db_id: secretId, version, ...(label === undefined ? {} : { label }), ...sealed };
}

function ticketDigest(ticket: string): string {
  return toBase64url(sha256(fromBase64url(ticket)));
}

function newTicketDigest(resealed: ResealedVersion | undefined, previousDigest: string): string {
  return resealed === undefined ? previousDigest : ticketDigest(resealed.ticket);
}
