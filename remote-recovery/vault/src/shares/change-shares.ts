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

import { lookUpKeys, createPersonError, requireUnchangedKeys, deriveSafetyWords } from "../people/pinned-keys.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { deriveLinkIdentity } from "../seal/link-keys.ts";
import { openSharesInner, type Shares, type SharesInner } from "../seal/shares.ts";
import { obtainAccountKey } from "../openers/obtain-account-key.ts";
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
import { openSharedContentKey } from "./shared-content-key.ts";
import {
  isLiveShare,
  buildSharePath,
  requireShareEntry,
  requireWithinLimit,
  markSharesEnded,
  replaceShareEntry,
  type ShareEntry,
} from "../keyring/shares-document.ts";

/**
 * Returns path and fragment of a link; for a person's share only the path.
 *
 * @throws PortalError `not_found`, `share_unavailable` if it has ended, `show_opener_first`,
 *   `decryption_failed` if the service keeps another ticket, version or expiry than was signed
 */
export async function revealShareLink(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<string> {
  const accountKey = await obtainAccountKey(vault, presentedOpener, options);
  const view = await refreshKeyring(vault, options.signal);
  if (view?.openedKeyring == null) throw new PortalError("vault_locked");
  const { shares } = view.openedKeyring;
  const unconfirmedShare = (await listUnconfirmedShares(vault, view, shares)).find(
    ({ share_id: id }) => id === shareId,
  );
  if (unconfirmedShare !== undefined)
    return `${buildSharePath(unconfirmedShare.audience, shareId)}#s=${unconfirmedShare.link_key}`;
  const entry = requireShareEntry(shares, shareId);
  const sharesInner = await openSharesInner(accountKey, vault.userId, shares);
  const innerEntry = sharesInner.shares.find(({ share_id: id }) => id === shareId);
  if (innerEntry === undefined || !isLiveShare(entry, vault.now())) throw new PortalError("share_unavailable");
  const listedShare = (await listSharesOfSecret(vault, entry.secret_id, options)).find(
    (share) => share.shareId === shareId,
  );
  // the link would open something else
  if (listedShare?.discrepancy === "changed") throw new PortalError("decryption_failed");
  const path = buildSharePath(entry.audience, shareId);
  return innerEntry.link_key === null ? path : `${path}#s=${innerEntry.link_key}`;
}

/**
 * @throws PortalError `validation_error`, `not_found`, `share_unavailable`, `vault_locked`, and
 *   errors of publishing
 */
export async function changeShare(
  vault: VaultSession,
  shareId: string,
  { expiresAt, maxViews }: { readonly expiresAt?: string; readonly maxViews?: number | null },
  options: OperationOptions = {},
): Promise<void> {
  const remainingMilliseconds =
    expiresAt === undefined ? null : Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (
    remainingMilliseconds !== null &&
    (remainingMilliseconds <= 0 || remainingMilliseconds > shareLifetimeDays.maximum * 24 * 60 * 60 * 1000)
  )
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
      const shares = replaceShareEntry(
        openedKeyring.shares,
        shareId,
        expiresAt === undefined ? {} : { expires_at: expiresAt },
      );
      const authored = vault.getAccountKeyOf(openedKeyring.keys) !== null;
      const send: ShareChange["send"] = (keyring) =>
        vault.service.shares.change(shareId, { ...changes, keyring }).catch((error: unknown) => {
          // the service compares: a later end or more views need the author key
          if (authored || !isPortalError(error, "keyring_change_invalid")) throw error;
          throw new PortalError("show_opener_first", { cause: error });
        });
      return { shares, send, authored };
    },
    options,
  );
}

/**
 * Revokes at the service first, whatever the state of the keyring: even a share that only the
 * service lists, and while the vault is locked or has refused a state. Then publishes a signed
 * mark, which exposes a service that still serves the share. Idempotent; repeating adds a missing
 * mark.
 *
 * @throws PortalError `not_found` for a malformed id; errors of the call; and, if revoked but not
 *   marked, `vault_locked` and errors of publishing
 */
export async function revokeShare(vault: VaultSession, shareId: string, options: OperationOptions = {}): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  await vault.service.shares.revoke(shareId, options.signal).catch((error: unknown) => {
    if (!isPortalError(error, "share_unavailable", "not_found")) throw error; // already ended
  });
  await publishEndedShares(vault, (entry) => entry.share_id === shareId, options);
}

/** Marks live shares as ended in a signed change. Sends nothing if no share matches. */
export async function publishEndedShares(
  vault: VaultSession,
  matches: (entry: ShareEntry, account: AccountView) => boolean,
  options: OperationOptions = {},
): Promise<void> {
  await publishShares(
    vault,
    async ({ account, openedKeyring }) => {
      const shares = markSharesEnded(openedKeyring.shares, vault.now(), (entry) => matches(entry, account));
      return shares === null ? null : { shares, send: (keyring) => vault.service.changeKeyring(keyring) };
    },
    options,
  );
}

/**
 * Seals the current version of the secret to the share's recipient. Sends nothing if the share
 * already has it.
 *
 * @param presentedOpener null for the opener that is kept open
 * @throws PortalError `not_found`, `share_unavailable`, `person_changed`, `version_conflict`,
 *   errors of opening the secret and of publishing
 */
export async function updateShareContent(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  if (vault.keys === null) await obtainAccountKey(vault, presentedOpener, options); // the keyring names the secret
  const view = await refreshKeyring(vault, options.signal);
  if (view?.openedKeyring == null) throw new PortalError("vault_locked");
  const { secret_id: secretId } = requireLive(vault, view.openedKeyring.shares, shareId);
  const content = await openSharedContentKey(vault, secretId, presentedOpener, options);
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
      const sharesInner = await openSharesInner(accountKey, vault.userId, openedKeyring.shares);
      const recipient = await resolveShareRecipient(vault, openedKeyring.book, entry, sharesInner, options.signal);
      const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
      const rev = entry.rev + 1;
      const { ticket, signature } = await sealShareTicket(
        accountKey,
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
      const shares = replaceShareEntry(openedKeyring.shares, shareId, {
        version: row.version,
        rev,
        ticket_sha256: toBase64url(sha256(ticket)),
      });
      return {
        shares,
        send: (keyring) =>
          vault.service.shares.change(shareId, {
            version: row.version,
            ticket: toBase64url(ticket),
            ticket_sig: signature,
            keyring,
          }),
      };
    },
    options,
  );
}

/**
 * Returns the recipient that a share was sealed to. A person's keys must be unchanged, because the
 * earlier ones may no longer open anything.
 */
async function resolveShareRecipient(
  vault: VaultSession,
  book: Book,
  { share_id: shareId, audience }: ShareEntry,
  sharesInner: SharesInner,
  signal: AbortSignal | undefined,
): Promise<string> {
  const innerEntry = sharesInner.shares.find(({ share_id: id }) => id === shareId);
  if (innerEntry === undefined) throw new PortalError("decryption_failed");
  if (audience !== "person")
    return innerEntry.recipient ?? deriveRecipient(deriveLinkIdentity(fromBase64url(innerEntry.link_key ?? ""), null));
  const person = book.people.find(({ recipient }) => recipient === innerEntry.recipient);
  if (person === undefined || innerEntry.recipient === null) throw new PortalError("person_changed");
  const directoryEntry = await lookUpKeys(vault, person.name, signal);
  requireUnchangedKeys(book.people, directoryEntry);
  if (directoryEntry.statement.recipient !== innerEntry.recipient)
    throw createPersonError("person_changed", {
      userId: directoryEntry.userId,
      userName: person.name,
      safetyWords: deriveSafetyWords(directoryEntry.statement),
      formerSafetyWords: deriveSafetyWords(person),
      formerName: null,
    });
  return innerEntry.recipient;
}

/** @throws PortalError `not_found`, `share_unavailable` if it has ended */
function requireLive(vault: VaultSession, shares: Shares, shareId: string): ShareEntry {
  const entry = requireShareEntry(shares, shareId);
  if (!isLiveShare(entry, vault.now())) throw new PortalError("share_unavailable");
  return entry;
}

interface ShareChange {
  readonly shares: Shares;
  readonly send: (keyring: ChangeShareBody["keyring"]) => Promise<unknown>;
  readonly authored?: boolean;
}

/** Publishes a changed document with the call that contains it; null changes nothing. */
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
      ...(shareChange.authored === undefined ? {} : { authored: shareChange.authored }),
    });
    requireWithinLimit(change.keyringChange);
    sentDigests.add(change.state.shares_sha256);
    return { change, send: () => shareChange.send(change.keyringChange), result: "done" };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring !== null && sentDigests.has(view.openedKeyring.state.shares_sha256) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
