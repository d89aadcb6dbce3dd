import { fromBase64url, type SecretContent } from "@relicario/shared/api";
import type { AgeFile, OpenedSecret } from "@relicario/shared/contract";
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
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { readTicket, type VersionTarget } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";

/**
 * An opened secret with what "save as age file" would need; both are the worker's to keep or drop.
 */
export interface OpenedSmallSecret extends OpenedSecretBase {
  readonly content: Bytes;
  readonly ageFile: AgeFile;
}

/**
 * Content that is too large to be held: it goes out in pieces, with the key of its {@link
 * OpenedSecretBase}.
 */
export interface OpenedLargeSecret extends OpenedSecretBase {
  readonly content: null;
  readonly ageFile: null;
}

interface OpenedSecretBase extends Omit<OpenedSecret, "content" | "save" | "exportAgeFile" | "dispose"> {
  readonly sealed: OwnContentKey;
}

/** A content of one's own that an opener was shown for. Holds its identity: a secret. */
type OwnContentKey = SealedContentKey & { readonly secretId: string; readonly version: number };

interface VersionOptions {
  /** An older version by number; the newest without. */
  readonly version?: number;
}

/**
 * Opens one secret. On a locked device the same picture unlocks first.
 *
 * Then: label of the list → opener → ticket: digest, version, rev and every member fit the label →
 * signature → content: digest, age, padding. Nothing is given out before the last check. Of an
 * older version no label is left: today's commits to the digest of its ticket, which must be of
 * that secret and version, its author is checked, and it is marked as not current.
 *
 * @throws PortalError those of {@link unlock}, `not_found`, `opener_needed` (this picture does not
 *   open this secret), `list_mismatch`, `decryption_failed`, `payload_too_large`.
 */
export async function openSmallSecret(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions & VersionOptions = {},
): Promise<OpenedSmallSecret> {
  const secret = await openSecret(vault, secretId, presentedOpener, options);
  if (secret.content === null) throw new PortalError("payload_too_large");
  return secret;
}

/** The same for contents of any size; a large one is checked when it is saved. */
export function openSecret(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions & VersionOptions = {},
): Promise<OpenedSmallSecret | OpenedLargeSecret> {
  return withPresentedOpener(
    vault,
    presentedOpener,
    options,
    async (account, presentOpener) => (await openSecretWith(vault, account, secretId, presentOpener, options)).secret,
  );
}

/** Opens one secret with an opener that is shown for it, and says which one that was. */
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
  const stored = await vault.service.getSecret(secretId, version === row.version ? null : version, options.signal);
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const secret = await decryptSecret(vault.userId, openedKeyring, { row, label, version }, stored, opener);
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return { secret, openerId };
}

async function decryptSecret(
  userId: string,
  openedKeyring: OpenedKeyring,
  target: VersionTarget,
  stored: SecretContent,
  opener: OpenerKeys,
): Promise<OpenedSmallSecret | OpenedLargeSecret> {
  const { ticket, author } = await readTicket(userId, openedKeyring, target, stored, opener);
  if (stored.content === null) return { ...toOpenedSecret(target, ticket, author), content: null, ageFile: null };
  const sealedContent = fromBase64url(stored.content);
  const content = await openContent(ticket.content_kind, sealedContent, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size: ticket.size,
  });
  return {
    ...toOpenedSecret(target, ticket, author),
    content,
    ageFile: { sealed: sealedContent, identity: ticket.content_identity, size: ticket.size },
  };
}

/**
 * The label is what is shown: a renaming without an opener changes the label alone, and then its
 * `rev` is higher.
 */
function toOpenedSecret(
  { row, label, version }: VersionTarget,
  ticket: OwnerTicket,
  author: OpenedSecretBase["author"],
): OpenedSecretBase {
  const current = version === row.version;
  const { title, tags, name } = current ? label : ticket;
  return {
    secretId: row.secretId,
    version,
    title,
    tags,
    contentKind: ticket.content_kind,
    name,
    mime: ticket.mime,
    size: ticket.size,
    current,
    author,
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
