import { fromB64u, toB64u, type SecretContent } from "@relicario/shared/api";
import type { AgeFile, OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import { sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import type { Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { labelDigest } from "../seal/state.ts";
import { isSignedBy, openTicket, tryOpenTicket, type OwnerTicket } from "../seal/ticket.ts";
import { throwIfCancelled } from "../throw-if-cancelled.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../operation-parts/read-account.ts";
import { verifyFormerVersions } from "../operation-parts/former-versions.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { presentOpener } from "../operation-parts/open-account.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";
import { unlock } from "./unlock.ts";
import type { PresentedOpener } from "../presented-opener.ts";

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

/**
 * One operation with a picture that is shown for it; on a locked device the picture unlocks first.
 * `presentOpener` looks at the picture, so that what needs no looking is refused before. The opener
 * is wiped afterwards.
 *
 * @throws PortalError those of {@link unlock} and of the operation.
 */
export async function withPresentedOpener<T>(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions,
  operation: (account: AccountView | null, presentOpener: () => Promise<OpenerKeys>) => Promise<T>,
): Promise<T> {
  const current: { opener: OpenerKeys | null } = { opener: null };
  const unlockFirst = async (): Promise<AccountView | null> => {
    const unlocked = await unlock(vault, presentedOpener, options);
    current.opener = unlocked.opener;
    return readAccount(vault, options.signal, unlocked.view);
  };
  const presentOnce = async (account: AccountView | null): Promise<OpenerKeys> => {
    if (account === null) throw new PortalError("no_keyring");
    return (current.opener ??= await presentOpener(vault, presentedOpener, account.view, options));
  };
  try {
    const initialAccount = vault.keys === null ? await unlockFirst() : await readAccount(vault, options.signal);
    // its keys are of a former generation
    const account = initialAccount?.view.openedKeyring === null ? await unlockFirst() : initialAccount;
    return await operation(account, () => presentOnce(account));
  } finally {
    current.opener?.wipe();
  }
}

/** Which version of which row is opened; the label is that of the newest. */
interface VersionTarget {
  readonly row: AccountRow;
  readonly label: Label;
  readonly version: number;
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
  const sealedContent = fromB64u(stored.content);
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

/** What the opener opens, checked against row and label, and whether this account signed it. */
export async function readTicket(
  userId: string,
  openedKeyring: OpenedKeyring,
  { row, label, version }: VersionTarget,
  stored: SecretContent,
  opener: OpenerKeys,
): Promise<{ readonly ticket: OwnerTicket; readonly author: OpenedSecret["author"] }> {
  if (stored.version !== version || labelDigest(stored.label) !== row.labelHex) throw new PortalError("list_mismatch");
  const sealedTicket = fromB64u(stored.ticket);
  const ticket =
    version === row.version
      ? await openNewestTicket(userId, row, label, sealedTicket, opener)
      : await openFormerTicket(userId, { row, label, version }, stored, sealedTicket, opener);
  return {
    ticket,
    author: isSignedBy(ticket, collectSigningKeys(openedKeyring.keys, openedKeyring.book))
      ? "verified"
      : "not_verified",
  };
}

async function openNewestTicket(
  userId: string,
  row: AccountRow,
  label: Label,
  sealedTicket: Bytes,
  opener: OpenerKeys,
): Promise<OwnerTicket> {
  if (toB64u(sha256(sealedTicket)) !== label.ticket_sha256) throw new PortalError("list_mismatch");
  const ticket = await openTicket(opener, sealedTicket);
  if (!isTicketOf(ticket, userId, row, row.version) || !matchesLabel(ticket, row, label))
    throw new PortalError("decryption_failed");
  return ticket;
}

/** Its openers may be others than today's. */
async function openFormerTicket(
  userId: string,
  { row, label, version }: VersionTarget,
  stored: SecretContent,
  sealedTicket: Bytes,
  opener: OpenerKeys,
): Promise<OwnerTicket> {
  const versionRecord = verifyFormerVersions(row, label, stored.versions).find((former) => former.version === version);
  if (versionRecord?.ticket_sha256 !== toB64u(sha256(sealedTicket))) throw new PortalError("list_mismatch");
  const ticket = await tryOpenTicket(opener, sealedTicket);
  if (ticket === null) throw new PortalError("opener_needed");
  if (!isTicketOf(ticket, userId, row, version)) throw new PortalError("decryption_failed");
  return ticket;
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

/** Secret, version, owner, and a `rev` that the label has reached. */
function isTicketOf(ticket: OwnerTicket, userId: string, row: AccountRow, version: number): boolean {
  return (
    ticket.secret_id === row.secretId && ticket.version === version && ticket.owner === userId && ticket.rev <= row.rev
  );
}

/** Every other member against the label. A ticket may be older than the label by renamings. */
function matchesLabel(ticket: OwnerTicket, row: AccountRow, label: Label): boolean {
  const hasSameNames =
    ticket.title === label.title &&
    ticket.name === label.name &&
    JSON.stringify(ticket.tags) === JSON.stringify(label.tags);
  return (
    (hasSameNames || ticket.rev < row.rev) && ticket.content_kind === label.content_kind && ticket.size === label.size
  );
}

/**
 * The key derived from the account key and the book's old ones: never one read from a directory.
 */
export function collectSigningKeys(keys: MetadataKeys, book: Book): Bytes[] {
  return [keys.signingKey, ...book.old_signing_keys.map((oldKey) => fromB64u(oldKey.signing_key))];
}
