import { fromB64u, toB64u, type SecretContent } from "@relicario/shared/api";
import type { AgeFile, RecoveredSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { TitlesKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import { sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import type { Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { labelDigest } from "../seal/state.ts";
import { isSignedBy, openTicket, ticketFor, type OwnerTicket } from "../seal/ticket.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { checkedFormer } from "../steps/former-versions.ts";
import type { OpenedKeyring } from "../steps/read-keyring.ts";
import { showOpener } from "../steps/open-account.ts";
import type { SealedContentKey } from "../worker/opened-contents.ts";
import { unlock } from "./unlock.ts";
import type { Shown } from "../shown-image.ts";

/**
 * An opened secret with what "save as age file" would need; both are the worker's to keep or drop.
 */
export interface OpenedSecret extends OpenedTicket {
  readonly content: Bytes;
  readonly ageFile: AgeFile;
}

/**
 * Content that is too large to be held: it goes out in pieces, with the key of its {@link
 * OpenedTicket}.
 */
export interface OpenedLarge extends OpenedTicket {
  readonly content: null;
  readonly ageFile: null;
}

interface OpenedTicket extends Omit<RecoveredSecret, "content" | "save" | "exportAge" | "putAway"> {
  readonly sealed: OwnContentKey;
}

/** A content of one's own that an opener was shown for. Holds its identity: a secret. */
export type OwnContentKey = SealedContentKey & { readonly secretId: string; readonly version: number };

interface WantedVersion {
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
export async function recover(
  vault: VaultContext,
  secretId: string,
  shown: Shown,
  options: ActOptions & WantedVersion = {},
): Promise<OpenedSecret> {
  const secret = await recoverAny(vault, secretId, shown, options);
  if (secret.content === null) throw new PortalError("payload_too_large");
  return secret;
}

/** The same for contents of any size; a large one is checked when it is saved. */
export function recoverAny(
  vault: VaultContext,
  secretId: string,
  shown: Shown,
  options: ActOptions & WantedVersion = {},
): Promise<OpenedSecret | OpenedLarge> {
  return withShownOpener(
    vault,
    shown,
    options,
    async (account, show) => (await openWith(vault, account, secretId, show, options)).secret,
  );
}

/** Opens one secret with an opener that is shown for it, and says which one that was. */
export async function openWith(
  vault: VaultContext,
  account: AccountView | null,
  secretId: string,
  show: () => Promise<ShownOpener>,
  options: ActOptions & WantedVersion,
): Promise<{ readonly secret: OpenedSecret | OpenedLarge; readonly openerId: string }> {
  const { opened, row } = requireRow(account, secretId);
  const version = options.version ?? row.version;
  if (version > row.version) throw new PortalError("not_found");
  const label = await labelOf(vault.userId, opened.keys, row);
  const opener = await show();
  const { openerId } = opener;
  if (version === row.version && !label.openers.includes(openerId)) throw new PortalError("opener_needed");
  refuseCancelled(options.signal);
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const stored = await vault.service.secret(secretId, version === row.version ? null : version, options.signal);
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const secret = await openSecret(vault.userId, opened, { row, label, version }, stored, opener);
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return { secret, openerId };
}

/**
 * One act with a picture that is shown for it; on a locked device the picture unlocks first. `show`
 * looks at the picture, so that what needs no looking is refused before. The opener is forgotten
 * afterwards.
 *
 * @throws PortalError those of {@link unlock} and of the act.
 */
export async function withShownOpener<T>(
  vault: VaultContext,
  shown: Shown,
  options: ActOptions,
  act: (account: AccountView | null, show: () => Promise<ShownOpener>) => Promise<T>,
): Promise<T> {
  const shownNow: { opener: ShownOpener | null } = { opener: null };
  const unlockFirst = async (): Promise<AccountView | null> => {
    const unlocked = await unlock(vault, shown, options);
    shownNow.opener = unlocked.opener;
    return readAccount(vault, options.signal, unlocked.view);
  };
  const show = async (account: AccountView | null): Promise<ShownOpener> => {
    if (account === null) throw new PortalError("no_keyring");
    return (shownNow.opener ??= await showOpener(vault, shown, account.view, options));
  };
  try {
    const known = vault.keys === null ? await unlockFirst() : await readAccount(vault, options.signal);
    const account = known?.view.opened === null ? await unlockFirst() : known; // its keys are of a former generation
    return await act(account, () => show(account));
  } finally {
    shownNow.opener?.forget();
  }
}

/** Which version of which row is opened; the label is that of the newest. */
interface Opening {
  readonly row: AccountRow;
  readonly label: Label;
  readonly version: number;
}

async function openSecret(
  userId: string,
  opened: OpenedKeyring,
  opening: Opening,
  stored: SecretContent,
  opener: ShownOpener,
): Promise<OpenedSecret | OpenedLarge> {
  const { ticket, author } = await readTicket(userId, opened, opening, stored, opener);
  if (stored.content === null) return { ...present(opening, ticket, author), content: null, ageFile: null };
  const sealed = fromB64u(stored.content);
  const content = await openContent(ticket.content_kind, sealed, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size: ticket.size,
  });
  return {
    ...present(opening, ticket, author),
    content,
    ageFile: { sealed, identity: ticket.content_identity, size: ticket.size },
  };
}

/** What the opener opens, checked against row and label, and whether this account signed it. */
export async function readTicket(
  userId: string,
  opened: OpenedKeyring,
  { row, label, version }: Opening,
  stored: SecretContent,
  opener: ShownOpener,
): Promise<{ readonly ticket: OwnerTicket; readonly author: RecoveredSecret["author"] }> {
  if (stored.version !== version || labelDigest(stored.label) !== row.labelHex) throw new PortalError("list_mismatch");
  const sealed = fromB64u(stored.ticket);
  const ticket =
    version === row.version
      ? await newestTicket(userId, row, label, sealed, opener)
      : await formerTicket(userId, { row, label, version }, stored, sealed, opener);
  return { ticket, author: isSignedBy(ticket, ownSigningKeys(opened.keys, opened.book)) ? "verified" : "not_verified" };
}

async function newestTicket(
  userId: string,
  row: AccountRow,
  label: Label,
  sealed: Bytes,
  opener: ShownOpener,
): Promise<OwnerTicket> {
  if (toB64u(sha256(sealed)) !== label.ticket_sha256) throw new PortalError("list_mismatch");
  const ticket = await openTicket(opener, sealed);
  if (!isOf(ticket, userId, row, row.version) || !fitsLabel(ticket, row, label))
    throw new PortalError("decryption_failed");
  return ticket;
}

/** Its openers may be others than today's. */
async function formerTicket(
  userId: string,
  { row, label, version }: Opening,
  stored: SecretContent,
  sealed: Bytes,
  opener: ShownOpener,
): Promise<OwnerTicket> {
  const line = checkedFormer(row, label, stored.versions).find((former) => former.version === version);
  if (line?.ticket_sha256 !== toB64u(sha256(sealed))) throw new PortalError("list_mismatch");
  const ticket = await ticketFor(opener, sealed);
  if (ticket === null) throw new PortalError("opener_needed");
  if (!isOf(ticket, userId, row, version)) throw new PortalError("decryption_failed");
  return ticket;
}

/**
 * The label is what is shown: a renaming without an opener changes the label alone, and then its
 * `rev` is higher.
 */
function present({ row, label, version }: Opening, ticket: OwnerTicket, author: OpenedTicket["author"]): OpenedTicket {
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
function isOf(ticket: OwnerTicket, userId: string, row: AccountRow, version: number): boolean {
  return (
    ticket.secret_id === row.secretId && ticket.version === version && ticket.owner === userId && ticket.rev <= row.rev
  );
}

/** Every other member against the label. A ticket may be older than the label by renamings. */
function fitsLabel(ticket: OwnerTicket, row: AccountRow, label: Label): boolean {
  const named =
    ticket.title === label.title &&
    ticket.name === label.name &&
    JSON.stringify(ticket.tags) === JSON.stringify(label.tags);
  return (named || ticket.rev < row.rev) && ticket.content_kind === label.content_kind && ticket.size === label.size;
}

/**
 * The key derived from the account key and the book's old ones: never one read from a directory.
 */
export function ownSigningKeys(keys: TitlesKeys, book: Book): Bytes[] {
  return [keys.signingKey, ...book.old_signing_keys.map((old) => fromB64u(old.signing_key))];
}
