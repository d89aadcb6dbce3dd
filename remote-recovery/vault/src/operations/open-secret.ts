import { fromBase64url } from "@relicario/shared/api";
import type { OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import type { OwnerTicket } from "../seal/ticket.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, requireRow, type AccountView } from "../keyring/read-account.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";
import type { AgeFile } from "../transfer/plain-content.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { readTicket, type VersionTarget } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import type { StoredVersion } from "../service/service.ts";

/** Includes what an age file needs. Stays in the worker. */
export interface OpenedSmallSecret extends OpenedSecretBase {
  readonly content: Bytes;
  readonly ageFile: AgeFile;
}

/**
 * A content that is too large for one call. It is fetched in ranges and opened with the key in
 * {@link OpenedSecretBase}.
 */
export interface OpenedLargeSecret extends OpenedSecretBase {
  readonly content: null;
  readonly ageFile: null;
}

interface OpenedSecretBase extends Omit<OpenedSecret, "handle" | "View" | "dispose"> {
  readonly sealed: OwnContentKey;
}

/** Contains the content identity, which is secret. */
type OwnContentKey = SealedContentKey & { readonly secretId: string; readonly version: number };

interface VersionOptions {
  /** Number of an older version. Default: the newest version. */
  readonly version?: number;
}

/**
 * Opens one secret. On a locked device, the opener unlocks first.
 *
 * Checks in this order: the label names the opener; the ticket's digest, version, rev and members
 * match the label; the ticket's signature; the content's digest, age and padding. Returns nothing
 * before the last check.
 *
 * An older version has no label of its own. The current label commits to the digest of its ticket,
 * which must be of that secret and version. Its signature is checked too, and it is marked as not
 * current.
 *
 * @throws PortalError those of {@link unlock}, `not_found`, `opener_needed` (the opener does not
 *   open this secret), `list_mismatch`, `decryption_failed`, `payload_too_large`
 */
export async function openSmallSecret(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions & VersionOptions = {},
): Promise<OpenedSmallSecret> {
  const secret = await openSecret(vault, secretId, presentedOpener, options);
  if (secret.content === null) throw new PortalError("payload_too_large");
  return secret;
}

/**
 * Like {@link openSmallSecret}, for contents of any size. A large content is verified when it is
 * saved.
 */
export function openSecret(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions & VersionOptions = {},
): Promise<OpenedSmallSecret | OpenedLargeSecret> {
  return withPresentedOpener(
    vault,
    presentedOpener,
    options,
    async (account, presentOpener) => (await openSecretWith(vault, account, secretId, presentOpener, options)).secret,
  );
}

export async function openSecretWith(
  vault: VaultSession,
  account: AccountView | null,
  secretId: string,
  presentOpener: () => Promise<OpenerKeys>,
  options: OperationOptions & VersionOptions,
): Promise<{ readonly secret: OpenedSmallSecret | OpenedLargeSecret; readonly openerId: string }> {
  const { openedKeyring, row } = requireRow(account, secretId);
  const version = options.version ?? row.version;
  if (version > row.version) throw new PortalError("not_found");
  const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
  const opener = await presentOpener();
  const { openerId } = opener;
  if (version === row.version && !label.openers.includes(openerId)) throw new PortalError("opener_needed");
  throwIfCancelled(options.signal);
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const storedSecret = await vault.service.getSecret(
    secretId,
    version === row.version ? null : version,
    options.signal,
  );
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const secret = await decryptSecret(vault, openedKeyring, { row, label, version }, storedSecret, opener);
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return { secret, openerId };
}

async function decryptSecret(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  target: VersionTarget,
  storedSecret: StoredVersion,
  opener: OpenerKeys,
): Promise<OpenedSmallSecret | OpenedLargeSecret> {
  const { ticket, signatureStatus } = await readTicket(vault, openedKeyring, target, storedSecret, opener);
  if (storedSecret.content === null)
    return { ...toOpenedSecret(target, ticket, signatureStatus), content: null, ageFile: null };
  const sealedContent = fromBase64url(storedSecret.content);
  const content = await openContent(ticket.content_kind, sealedContent, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size: ticket.size,
  });
  return {
    ...toOpenedSecret(target, ticket, signatureStatus),
    content,
    ageFile: { sealedContent, identity: ticket.content_identity, size: ticket.size },
  };
}

/**
 * Prefers the label's names, because renaming without an opener changes only the label, with a
 * higher `rev`.
 */
function toOpenedSecret(
  { row, label, version }: VersionTarget,
  ticket: OwnerTicket,
  signatureStatus: OpenedSecretBase["signatureStatus"],
): OpenedSecretBase {
  const current = version === row.version;
  const { title, tags, name } = current ? label : ticket;
  return {
    secretId: row.secretId,
    version,
    title,
    signedTitle: ticket.title === title ? null : ticket.title,
    tags,
    contentKind: ticket.content_kind,
    name,
    mime: ticket.mime,
    size: ticket.size,
    current,
    signatureStatus,
    sealed: {
      secretId: row.secretId,
      version,
      identity: ticket.content_identity,
      sha256: ticket.content_sha256,
      kind: ticket.content_kind,
      size: ticket.size,
    },
  };
}
