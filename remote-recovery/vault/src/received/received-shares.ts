import { ShareId, type ReceivedShares } from "@relicario/shared/api";
import type { OpenedShare, ReceivedShare, Sender } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import {
  hasSameWords,
  assessTrust,
  lookUpKeys,
  createPersonError,
  deriveSafetyWords,
  type DirectoryEntry,
} from "../people/pinned-keys.ts";
import { pinUnknownPerson } from "../people/people.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import type { Bytes } from "../seal/bytes.ts";
import {
  fetchSmallContent,
  getMimeType,
  getDisplayName,
  openClaimedTicket,
  type OpeningIdentity,
} from "../shares/open-claimed-ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { deriveAccountIdentities } from "../keyring/account-identities.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { obtainAccountKey } from "../openers/obtain-account-key.ts";
import { sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";

/**
 * Lists shares that other people sent to this account. The sender is a claim of the service until a
 * share is opened; `trust` comes from the book.
 */
export async function listReceivedShares(
  vault: VaultSession,
  options: OperationOptions & { readonly includeEnded?: boolean } = {},
): Promise<ReceivedShare[]> {
  const shares = await vault.service.shares.listReceived(options.includeEnded === true, options.signal);
  const people =
    vault.keys === null ? [] : ((await refreshKeyring(vault, options.signal))?.openedKeyring?.book.people ?? []);
  return shares.map((share) => toReceivedShare(people, share));
}

function toReceivedShare(people: Book["people"], share: ReceivedShares["shares"][number]): ReceivedShare {
  const {
    share_id: shareId,
    from,
    audience,
    created_at: createdAt,
    expires_at: expiresAt,
    opened_at: openedAt,
    views_left: viewsLeft,
    available,
  } = share;
  const { trust, formerName, blockedBy } = assessTrust(people, {
    userId: from.user_id,
    userName: from.user_name,
    statement: null,
  });
  return {
    shareId,
    from: {
      userId: from.user_id,
      userName: formerName ?? from.user_name,
      trust,
      blocked: blockedBy !== null,
    },
    audience,
    createdAt,
    expiresAt,
    openedAt,
    viewsLeft,
    available,
  };
}

/** `sealed` stays in the worker. */
export type OpenedReceivedShare = Omit<OpenedShare, "handle" | "View" | "dispose"> & {
  readonly content: Bytes | null;
  readonly sealed: SealedContentKey;
};

/**
 * [Note: Opening what a person sent]
 * 1. The offer, which costs no view, names the sender.
 * 2. The key directory's statement of the sender is compared with the book. Unknown, changed and
 *    blocked senders are refused before a view is claimed. Accepting the shown safety words pins
 *    the keys.
 * 3. One view is claimed, with an id that makes the claim repeatable.
 * 4. The ticket opens with an identity of the account, current or former. It must belong to this
 *    share, be for a person and for that identity, come from the sender, and be signed by the
 *    pinned key. An update older than one that was opened on this device is refused.
 * 5. The content is fetched and opened with the ticket's key.
 *
 * @throws PortalError those of {@link VaultReceived.open}
 */
export async function openReceived(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions & { readonly acceptedWords?: readonly string[] } = {},
): Promise<OpenedReceivedShare> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
  const accountKey = await obtainAccountKey(vault, presentedOpener, options);
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await vault.service.shareOpening.getOffer({ share_id: shareId }, options.signal);
  if (offer.audience !== "person") throw new PortalError("link_incomplete");
  const resolvedSender = await resolveSender(vault, offer.from, options);

  const claim = { share_id: shareId, claim_id: vault.claims.getClaimId(shareId) };
  const claimedShare = await sendWithRetry(vault.pause, () => vault.service.shareOpening.claim(claim, options.signal));
  const openedTicket = await openClaimedTicket(claimedShare, await listOwnIdentities(vault, accountKey), {
    shareId,
    audience: "person",
    owner: offer.from.user_id,
    ownerKey: resolvedSender.authorKey,
  });
  const { ticket, sealed } = openedTicket;
  const highestRev = (await vault.device.read()).openedShares[shareId] ?? 0;
  if (ticket.rev < highestRev) throw new PortalError("decryption_failed");
  const content = await fetchSmallContent(vault.service.content, openedTicket, claimedShare, options);
  if (ticket.rev > highestRev) await saveOpenedRev(vault, shareId, ticket.rev);
  vault.claims.markUsed(shareId);
  return {
    shareId,
    title: ticket.title,
    contentKind: ticket.content_kind,
    name: getDisplayName(ticket),
    mime: getMimeType(ticket),
    size: ticket.size,
    content,
    sender: resolvedSender.sender,
    sealed,
  };
}

interface ResolvedSender {
  /** Author key that the ticket requires, base64url; null if the directory has none. */
  readonly authorKey: string | null;
  readonly sender: Sender;
}

/**
 * Finds the keys that must have signed the ticket. A pinned sender is trusted by the pin, even if
 * the account no longer exists.
 *
 * @throws PortalError `person_unknown`, `person_changed`, `person_blocked`
 */
async function resolveSender(
  vault: VaultSession,
  from: { readonly user_id: string; readonly user_name: string },
  options: OperationOptions & { readonly acceptedWords?: readonly string[] },
): Promise<ResolvedSender> {
  const { user_id: userId, user_name: userName } = from;
  const people = (await refreshKeyring(vault, options.signal))?.openedKeyring?.book.people;
  if (people === undefined) throw new PortalError("vault_locked");
  const { blockedBy } = assessTrust(people, { userId, userName, statement: null });
  if (blockedBy !== null) {
    throw createPersonError("person_blocked", {
      userId: blockedBy.user_id,
      userName: blockedBy.name,
      safetyWords: deriveSafetyWords(blockedBy),
      formerSafetyWords: null,
      formerName: null,
    });
  }
  const entry = await findDirectoryEntry(vault, from, options.signal);
  const { trust, pin, formerName } = assessTrust(people, {
    userId,
    userName,
    statement: entry?.statement ?? null,
  });
  const safetyWords = entry === null ? [] : deriveSafetyWords(entry.statement);
  if (pin !== null) {
    if (trust === "changed")
      throw createPersonError("person_changed", {
        userId,
        userName,
        safetyWords,
        formerSafetyWords: deriveSafetyWords(pin),
        formerName,
      });
    return {
      authorKey: pin.author_key,
      sender: {
        userId,
        userName: pin.name,
        trust: pin.compared ? "compared" : "known",
        safetyWords: deriveSafetyWords(pin),
      },
    };
  }
  if (options.acceptedWords === undefined || !hasSameWords(options.acceptedWords, safetyWords))
    throw createPersonError("person_unknown", {
      userId,
      userName,
      safetyWords,
      formerSafetyWords: null,
      formerName: null,
    });
  if (entry === null) return { authorKey: null, sender: { userId, userName, trust: "says", safetyWords } };
  await pinUnknownPerson(vault, entry, options);
  return { authorKey: entry.statement.author_key, sender: { userId, userName, trust: "known", safetyWords } };
}

/** Null if the directory does not list the account, because it was deleted or renamed. */
async function findDirectoryEntry(
  vault: VaultSession,
  { user_id: userId, user_name: userName }: { readonly user_id: string; readonly user_name: string },
  signal: AbortSignal | undefined,
): Promise<DirectoryEntry | null> {
  try {
    const entry = await lookUpKeys(vault, userName, signal);
    if (entry.userId !== userId) throw new PortalError("decryption_failed"); // two accounts for one name
    return entry;
  } catch (error) {
    if (isPortalError(error, "not_found")) return null;
    throw error;
  }
}

async function listOwnIdentities(vault: VaultSession, accountKey: AccountKey): Promise<OpeningIdentity[]> {
  const book = (await refreshKeyring(vault))?.openedKeyring?.book;
  if (book === undefined) throw new PortalError("vault_locked");
  const identities = await deriveAccountIdentities(vault, accountKey, book);
  return Promise.all(identities.map(async (identity) => ({ identity, recipient: await deriveRecipient(identity) })));
}

/** Saves the highest opened rev, before the content is shown so that a crash does not lose it. */
async function saveOpenedRev(vault: VaultSession, shareId: string, rev: number): Promise<void> {
  const saving = vault.device.update(({ openedShares }) =>
    (openedShares[shareId] ?? 0) >= rev ? null : { openedShares: { ...openedShares, [shareId]: rev } },
  );
  await saving.catch((error: unknown) => {
    // the content still opens, but this device cannot detect older updates of the share
    if (!isPortalError(error, "storage_full")) throw error;
  });
}
