import {
  fromBase64url,
  maxShareViews,
  shareLifetimeDays,
  ShareId,
  Timestamp,
  toBase64url,
  type ChangeShareBody,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { lookUpKeys, personError, requireUnchangedKeys, safetyWordsOf } from "../people/pinned-keys.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { deriveLinkIdentity } from "../seal/link-keys.ts";
import { openSharesInner, type Shares, type SharesInner } from "../seal/shares.ts";
import { requireAccountKey } from "../openers/require-account-key.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, requireRow, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { listSharesOfSecret } from "./list-shares.ts";
import { listUnconfirmedShares } from "./unconfirmed-shares.ts";
import { sealShareTicket } from "./seal-share-ticket.ts";
import { openSharedContent } from "./shared-content.ts";
import {
  isLive,
  sharePathOf,
  requireEntry,
  requireWithinLimit,
  withSharesEnded,
  withEntry,
  type ShareEntry,
} from "../keyring/shares-document.ts";

/**
 * Path and fragment of a link once more; of a person's share its path.
 *
 * @throws PortalError `not_found`, `share_unavailable` for one that is over, `show_opener_first`,
 *   `decryption_failed` where the service keeps another ticket, version or date of it than was
 *   signed.
 */
export async function revealShareLink(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<string> {
  const accountKey = await requireAccountKey(vault, presentedOpener, options);
  const view = await refreshKeyring(vault, options.signal);
  if (view?.openedKeyring == null) throw new PortalError("vault_locked");
  const { shares } = view.openedKeyring;
  const unconfirmed = (await listUnconfirmedShares(vault, view, shares)).find(({ share_id: id }) => id === shareId);
  if (unconfirmed !== undefined) return `${sharePathOf(unconfirmed.audience, shareId)}#s=${unconfirmed.link_key}`;
  const entry = requireEntry(shares, shareId);
  const inner = await openSharesInner(accountKey, vault.userId, shares);
  const innerEntry = inner.shares.find(({ share_id: id }) => id === shareId);
  if (innerEntry === undefined || !isLive(entry, vault.now())) throw new PortalError("share_unavailable");
  const listed = (await listSharesOfSecret(vault, entry.secret_id, options)).find((share) => share.shareId === shareId);
  // whoever has the link would be given something else
  if (listed?.discrepancy === "changed") throw new PortalError("decryption_failed");
  const path = sharePathOf(entry.audience, shareId);
  return innerEntry.link_key === null ? path : `${path}#s=${innerEntry.link_key}`;
}

/**
 * @throws PortalError `validation_error`, `not_found`, `share_unavailable`, `vault_locked`, and
 *   those of publishing.
 */
export async function changeShare(
  vault: VaultSession,
  shareId: string,
  { expiresAt, maxViews }: { readonly expiresAt?: string; readonly maxViews?: number | null },
  options: OperationOptions = {},
): Promise<void> {
  const remaining =
    expiresAt === undefined ? null : Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (remaining !== null && (remaining <= 0 || remaining > shareLifetimeDays.maximum * 24 * 60 * 60 * 1000))
    throw new PortalError("validation_error", { details: { fields: ["expires_at"] } });
  if (maxViews != null && (!Number.isInteger(maxViews) || maxViews < 1 || maxViews > maxShareViews))
    throw new PortalError("validation_error", { details: { fields: ["max_views"] } });
  const changes = {
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(maxViews === undefined ? {} : { max_views: maxViews }),
  };
  if (Object.keys(changes).length === 0) return;
  await publishShares(
    vault,
    async ({ openedKeyring }) => {
      requireLive(vault, openedKeyring.shares, shareId);
      const shares = withEntry(openedKeyring.shares, shareId, expiresAt === undefined ? {} : { expires_at: expiresAt });
      return { shares, send: (keyring) => vault.service.shares.change(shareId, { ...changes, keyring }) };
    },
    options,
  );
}

/**
 * Effective at once, by the service, whatever the keyring says of it: also for a share that only
 * the service names, and while the vault is locked or alarmed. Then the signed mark, by which a
 * service that still serves it, or that revokes what nobody did, is found out. Once more does no
 * harm, and sets a mark that is missing.
 *
 * @throws PortalError `not_found` for what is no share's id; those of the call; after it, when it
 *   is revoked but not marked, `vault_locked` and those of publishing.
 */
export async function revokeShare(vault: VaultSession, shareId: string, options: OperationOptions = {}): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  await vault.service.shares.revoke(shareId, options.signal).catch((error: unknown) => {
    if (!isPortalError(error, "share_unavailable", "not_found")) throw error; // it is over already
  });
  await markSharesEnded(vault, (entry) => entry.share_id === shareId, options);
}

/** Marks live shares as over, by a signed change alone. Without effect where there is none. */
export async function markSharesEnded(
  vault: VaultSession,
  matches: (entry: ShareEntry, account: AccountView) => boolean,
  options: OperationOptions = {},
): Promise<void> {
  await publishShares(
    vault,
    async ({ account, openedKeyring }) => {
      const shares = withSharesEnded(openedKeyring.shares, vault.now(), (entry) => matches(entry, account));
      return shares === null ? null : { shares, send: (keyring) => vault.service.changeKeyring(keyring) };
    },
    options,
  );
}

/**
 * Seals the present version of the secret for whoever has the share. Without effect when it shows
 * that one already.
 *
 * @throws PortalError `not_found`, `share_unavailable`, `person_changed`, `version_conflict`, those
 *   of recovering and of publishing.
 */
export async function updateShareContent(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  if (vault.keys === null) await requireAccountKey(vault, presentedOpener, options); // to know which secret it is of
  const view = await refreshKeyring(vault, options.signal);
  if (view?.openedKeyring == null) throw new PortalError("vault_locked");
  const { secret_id: secretId } = requireLive(vault, view.openedKeyring.shares, shareId);
  const content = await openSharedContent(vault, secretId, presentedOpener, options);
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");

  await publishShares(
    vault,
    async ({ account, openedKeyring }) => {
      const entry = requireLive(vault, openedKeyring.shares, shareId);
      const { row } = requireRow(account, secretId);
      if (row.version !== content.version)
        throw new PortalError("version_conflict", { details: { version: row.version } });
      if (entry.version === row.version) return null;
      const inner = await openSharesInner(accountKey, vault.userId, openedKeyring.shares);
      const recipient = await recipientOfShare(vault, openedKeyring.book, entry, inner, options.signal);
      const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
      const rev = entry.rev + 1;
      const ticket = await sealShareTicket(
        openedKeyring.keys,
        {
          shareId,
          audience: entry.audience,
          rev,
          recipient,
          owner: vault.userId,
          createdAt: formatTimestamp(vault.now()),
        },
        label,
        content,
      );
      const shares = withEntry(openedKeyring.shares, shareId, {
        version: row.version,
        rev,
        ticket_sha256: toBase64url(sha256(ticket)),
      });
      return {
        shares,
        send: (keyring) =>
          vault.service.shares.change(shareId, { version: row.version, ticket: toBase64url(ticket), keyring }),
      };
    },
    options,
  );
}

/**
 * To whom a share was sealed. A person's keys must be those of now: what they were is nobody's to
 * open any more.
 */
async function recipientOfShare(
  vault: VaultSession,
  book: Book,
  { share_id: shareId, audience }: ShareEntry,
  inner: SharesInner,
  signal: AbortSignal | undefined,
): Promise<string> {
  const innerEntry = inner.shares.find(({ share_id: id }) => id === shareId);
  if (innerEntry === undefined) throw new PortalError("decryption_failed");
  if (audience !== "person")
    return innerEntry.recipient ?? deriveRecipient(deriveLinkIdentity(fromBase64url(innerEntry.link_key ?? ""), null));
  const person = book.people.find(({ recipient }) => recipient === innerEntry.recipient);
  if (person === undefined || innerEntry.recipient === null) throw new PortalError("person_changed");
  const directoryEntry = await lookUpKeys(vault, person.name, signal);
  requireUnchangedKeys(book.people, directoryEntry);
  if (directoryEntry.statement.recipient !== innerEntry.recipient)
    throw personError("person_changed", {
      userId: directoryEntry.userId,
      userName: person.name,
      safetyWords: safetyWordsOf(directoryEntry.statement),
      formerSafetyWords: safetyWordsOf(person),
      formerName: null,
    });
  return innerEntry.recipient;
}

/** @throws PortalError `not_found`, `share_unavailable` for one that is over. */
function requireLive(vault: VaultSession, shares: Shares, shareId: string): ShareEntry {
  const entry = requireEntry(shares, shareId);
  if (!isLive(entry, vault.now())) throw new PortalError("share_unavailable");
  return entry;
}

interface ShareChange {
  readonly shares: Shares;
  /** The call that brings the signed change. */
  readonly send: (keyring: ChangeShareBody["keyring"]) => Promise<unknown>;
}

/**
 * Publishes a changed document with the call that it goes with. Null: there is nothing to change.
 */
async function publishShares(
  vault: VaultSession,
  buildChange: (current: {
    readonly account: AccountView;
    readonly openedKeyring: OpenedKeyring;
  }) => Promise<ShareChange | null>,
  options: OperationOptions,
): Promise<void> {
  const sentDigests = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = account?.view.openedKeyring ?? null;
    if (account === null || openedKeyring === null) throw new PortalError("vault_locked");
    const shareChange = await buildChange({ account, openedKeyring });
    if (shareChange === null) return { done: "done" };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { shares: shareChange.shares },
    });
    requireWithinLimit(change.keyring);
    sentDigests.add(change.state.shares_sha256);
    return { change, send: () => shareChange.send(change.keyring), result: "done" };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring !== null && sentDigests.has(view.openedKeyring.state.shares_sha256) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
