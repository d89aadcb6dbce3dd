import { fromB64u, toB64u, type SecretContent, type StoredSecret } from "@relicario/shared/api";
import type { AgeFile, RecoveredSecret, ShownImage } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { AccountKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import { sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { openLabel, type Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { signingKeyOf } from "../seal/sign.ts";
import { isSignedBy, openTicket, type OwnerTicket } from "../seal/ticket.ts";
import { refuseCancelled, type FlowOptions, type Session } from "../session.ts";
import { readAccount, rootRow, type AccountView } from "./list.ts";
import type { OpenedKeyring } from "./read-keyring.ts";
import { recogniseImage } from "./show-image.ts";
import { unlock } from "./unlock.ts";

/** An opened secret with what "save as age file" would need; both are the worker's to keep or drop. */
export type OpenedSecret = Omit<RecoveredSecret, "content" | "save" | "exportAge" | "putAway"> & { readonly content: Bytes; readonly ageFile: AgeFile };

/**
 * Opens one secret. On a locked device the same picture unlocks first.
 *
 * Then: label of the list → opener → ticket: digest, version, rev and every member fit the label → signature → content:
 * digest, age, padding. Nothing is given out before the last check.
 *
 * @throws PortalError those of {@link unlock}, `not_found`, `opener_needed` (this picture does not open this secret),
 *   `list_mismatch`, `decryption_failed`, `payload_too_large`.
 */
export async function recover(session: Session, secretId: string, shown: ShownImage, options: FlowOptions): Promise<OpenedSecret> {
  const unlocked = session.keys === null ? (await unlock(session, shown, options)).opener : null;
  try {
    const account = await readAccount(session, options.signal);
    const { opened, row } = requireRow(account, secretId);
    const label = await openLabel(opened.keys, session.userId, rootRow(row), row.label);
    const opener = unlocked ?? (await recogniseImage(session, shown, opened.book, options)).opener;
    try {
      if (!label.openers.includes(opener.openerId)) throw new PortalError("opener_needed");
      refuseCancelled(options.signal);
      options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
      const stored = await session.service.secret(secretId, options.signal);
      options.onProgress?.({ phase: "opening", done: 0, total: 1 });
      const secret = await openSecret(session.userId, opened, row, label, stored, opener);
      options.onProgress?.({ phase: "opening", done: 1, total: 1 });
      return secret;
    } finally {
      opener.forget();
    }
  } finally {
    unlocked?.forget();
  }
}

async function openSecret(userId: string, opened: OpenedKeyring, row: StoredSecret, label: Label, stored: SecretContent, opener: ShownOpener): Promise<OpenedSecret> {
  if (stored.version !== row.version || stored.label !== row.label) throw new PortalError("list_mismatch");
  const sealedTicket = fromB64u(stored.ticket);
  if (toB64u(sha256(sealedTicket)) !== label.ticket_sha256) throw new PortalError("list_mismatch");
  const ticket = await openTicket(opener, sealedTicket);
  if (!fitsLabel(ticket, userId, row, label)) throw new PortalError("decryption_failed");
  if (stored.content === null) throw new PortalError("payload_too_large");
  const sealed = fromB64u(stored.content);
  const content = await openContent(ticket.content_kind, sealed, { sha256: ticket.content_sha256, identity: ticket.content_identity, size: ticket.size });
  return present(row, label, ticket, content, sealed, isSignedBy(ticket, ownSigningKeys(opened.keys, opened.book)));
}

/** The label is what is shown: a renaming without an opener changes the label alone, and then its `rev` is higher. */
function present(row: StoredSecret, label: Label, ticket: OwnerTicket, content: Bytes, sealed: Bytes, verified: boolean): OpenedSecret {
  return {
    secretId: row.secret_db_id,
    version: row.version,
    title: label.title,
    tags: label.tags,
    contentKind: ticket.content_kind,
    name: label.name,
    mime: ticket.mime,
    size: ticket.size,
    current: true,
    content,
    author: verified ? "verified" : "not_verified",
    ageFile: { sealed, identity: ticket.content_identity, size: ticket.size },
  };
}

/** Every member of the ticket against row and label. A ticket may be older than the label by renamings, never newer. */
function fitsLabel(ticket: OwnerTicket, userId: string, row: StoredSecret, label: Label): boolean {
  const { rev } = rootRow(row);
  const named = ticket.title === label.title && ticket.name === label.name && JSON.stringify(ticket.tags) === JSON.stringify(label.tags);
  return (
    ticket.secret_id === row.secret_db_id &&
    ticket.version === row.version &&
    ticket.owner === userId &&
    ticket.rev <= rev &&
    (named || ticket.rev < rev) &&
    ticket.content_kind === label.content_kind &&
    ticket.size === label.size
  );
}

/** The key derived from the account key and the book's old ones: never one read from a directory. */
function ownSigningKeys(keys: AccountKeys, book: Book): Bytes[] {
  return [keys.signingKey, ...book.old_keys.map((old) => signingKeyOf(fromB64u(old.signing_seed)))];
}

function requireRow(account: AccountView | null, secretId: string): { opened: OpenedKeyring; row: StoredSecret } {
  const row = account?.rows.find((one) => one.secret_db_id === secretId);
  if (row === undefined) throw new PortalError("not_found");
  const opened = account?.view.opened ?? null;
  if (opened === null) throw new PortalError("vault_locked");
  return { opened, row };
}
