/** Reseals all versions of a secret for another account key or other openers. */
import {
  fromBase64url,
  maxResealedContentBytes,
  toBase64url,
  type StagedRow,
  type VersionRecord,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { AccountKey, MetadataKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256, wipe } from "../seal/bytes.ts";
import { openContent, sealContent, type SealedContent } from "../seal/content.ts";
import { computeMaxSealedLength, computePaddedLength } from "../seal/content-sizes.ts";
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
import type { StoredVersion } from "../service/service.ts";

export interface ResealParams {
  /** Keys that seal labels. */
  readonly keys: MetadataKeys;
  /** Account key of `keys`, whose author key signs tickets. */
  readonly accountKey: AccountKey;
  /** Presented openers, which open the current tickets. */
  readonly openers: readonly OpenerKeys[];
  /** Maps a secret's openers to the new ones; an empty result leaves its tickets unchanged. */
  readonly selectOpeners: (ids: readonly string[]) => readonly Pick<BookOpener, "id" | "recipient">[];
}

export interface ResealedSecretRows {
  readonly rows: readonly StagedRow[];
  readonly root: RootRow;
  /** Versions whose content has a new identity; their shares end. */
  readonly rekeyedVersions: readonly number[];
}

type VersionResealParams = Omit<ResealParams, "selectOpeners"> & {
  readonly targetOpeners: readonly Pick<BookOpener, "id" | "recipient">[];
  /** Whether the secret loses an opener; contents then get new identities. */
  readonly losesOpener: boolean;
};

interface ResealedVersion {
  readonly ticket: string;
  readonly content: string | null;
}

/**
 * Seals the label with `keys` and increments its `rev`. Reseals tickets of earlier versions, as far
 * as a presented opener opens them, to the secret's new openers. If the secret loses an opener,
 * also reseals the newest ticket and gives contents new identities, up to
 * {@link maxResealedContentBytes}. Never signs a ticket that had no valid signature.
 *
 * @throws PortalError errors of reading; nothing that disagrees with its label is resealed
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
  const isContentDropped = row.storedSecret.dropped_at !== undefined;
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
    throw new PortalError("decryption_failed", { details: { secret_id: secretId } }); // the label names an opener
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
    ticket_sha256: newestVersion === null ? label.ticket_sha256 : computeTicketDigest(newestVersion.ticket),
    former_sha256: computeFormerVersionsDigest(
      formerVersions.map(({ version: formerVersion, ticket_sha256: previousDigest }) => ({
        version: formerVersion,
        ticketSha256: getNewTicketDigest(resealedFormers.get(formerVersion), previousDigest),
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
  versionRecords: readonly VersionRecord[],
  params: VersionResealParams,
  signal: AbortSignal | undefined,
): Promise<Map<number, ResealedVersion>> {
  const resealedFormers = new Map<number, ResealedVersion>();
  for (const { version, dropped } of versionRecords) {
    const resealed = dropped
      ? null
      : await resealVersion(vault, openedKeyring, { row, label, version }, params, signal);
    if (resealed !== null) resealedFormers.set(version, resealed);
  }
  return resealedFormers;
}

/** Returns null if no presented opener opens the version. */
async function resealVersion(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  target: { readonly row: AccountRow; readonly label: Label; readonly version: number },
  { accountKey, openers, targetOpeners, losesOpener }: VersionResealParams,
  signal: AbortSignal | undefined,
): Promise<ResealedVersion | null> {
  const { row, label, version } = target;
  const isNewest = version === row.version;
  const storedVersion = await vault.service.getSecret(row.secretId, isNewest ? null : version, signal);
  for (const opener of openers) {
    if (isNewest && !label.openers.includes(opener.openerId)) continue;
    const ticketRead = await readTicket(vault, openedKeyring, target, storedVersion, opener).catch((error: unknown) => {
      if (isPortalError(error, "opener_needed")) return null; // this opener does not open this version
      throw error;
    });
    if (ticketRead === null) continue;
    const { ticket, signatureStatus } = ticketRead;
    const recipients = targetOpeners.map(({ recipient }) => recipient);
    if (signatureStatus !== "verified")
      return { ticket: toBase64url(await sealSignedTicket(recipients, ticket)), content: null };
    const { sig: _, ...ticketBody } = ticket;
    const resealedContent = losesOpener ? await resealContent(vault, ticket, storedVersion, signal) : null;
    const newNames = isNewest ? { title: label.title, tags: label.tags, name: label.name, rev: row.rev + 1 } : {};
    const body = {
      ...ticketBody,
      ...newNames,
      openers: targetOpeners.map(({ id }) => id),
      ...(resealedContent === null
        ? {}
        : { content_sha256: resealedContent.sha256, content_identity: resealedContent.identity }),
    };
    return {
      ticket: toBase64url(await sealSignedTicket(recipients, await signTicket(accountKey, body))),
      content: resealedContent === null ? null : toBase64url(resealedContent.sealed),
    };
  }
  return null;
}

/** Returns null for a content over {@link maxResealedContentBytes}. */
async function resealContent(
  { service }: VaultSession,
  ticket: OwnerTicket,
  storedVersion: StoredVersion,
  signal: AbortSignal | undefined,
): Promise<SealedContent | null> {
  const { secret_id: secretId, version, content_kind: kind, size } = ticket;
  if (size > maxResealedContentBytes) return null;
  const maxBytes = computeMaxSealedLength(computePaddedLength(kind, size));
  const sealed =
    storedVersion.content === null
      ? (await service.content.range({ secretId, version }, 0, maxBytes, signal)).bytes
      : fromBase64url(storedVersion.content);
  const plainBytes = await openContent(kind, sealed, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size,
  });
  try {
    return await sealContent(kind, plainBytes);
  } finally {
    wipe(plainBytes);
  }
}

function toStagedRow(secretId: string, version: number, resealed: ResealedVersion | null, label?: string): StagedRow {
  const sealed =
    resealed === null
      ? {}
      : { ticket: resealed.ticket, ...(resealed.content === null ? {} : { content: resealed.content }) };
  return { secret_db_id: secretId, version, ...(label === undefined ? {} : { label }), ...sealed };
}

function computeTicketDigest(ticket: string): string {
  return toBase64url(sha256(fromBase64url(ticket)));
}

function getNewTicketDigest(resealed: ResealedVersion | undefined, previousDigest: string): string {
  return resealed === undefined ? previousDigest : computeTicketDigest(resealed.ticket);
}
