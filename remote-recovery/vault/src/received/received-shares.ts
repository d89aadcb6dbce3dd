import { ShareId, type ReceivedShares } from "@relicario/shared/api";
import type { OpenedShare, ReceivedShare, Sender } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import {
  hasSameWords,
  assessTrust,
  lookUpKeys,
  personError,
  safetyWordsOf,
  type DirectoryEntry,
} from "../people/pinned-keys.ts";
import { pinUnknown } from "../people/people.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import type { Bytes } from "../seal/bytes.ts";
import {
  fetchSmallContent,
  mimeOf,
  displayNameOf,
  openClaimedTicket,
  type OpeningIdentity,
} from "../shares/open-claimed-ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { deriveAccountIdentities } from "../keyring/account-identities.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { requireAccountKey } from "../openers/require-account-key.ts";
import { sendWithRetry } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";

/**
 * What others shared with this account. Who they are is the service's word, until one is opened;
 * how well they are known is the book's.
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

/** What opens it stays in the worker. */
export type OpenedReceivedShare = Omit<OpenedShare, "save" | "dispose"> & {
  readonly content: Bytes | null;
  readonly sealed: SealedContentKey;
};

/**
 * [Note: Opening what a person sent]
 * 1. A look, which costs nothing, says who sent it.
 * 2. Whose keys: the directory's statement of that account against the book. Unknown, changed and
 *    blocked stop here, before a view is claimed; accepting the words that were shown pins their
 *    keys.
 * 3. One view is claimed, under an id that repeats safely.
 * 4. The ticket opens by the account's identity, or by one from before a rotation, and must be of
 *    this share, for a person, to that identity, by the sender, signed by the pinned key. An update
 *    that is older than one opened here before is refused.
 * 5. The content, as the ticket says of it.
 *
 * @throws PortalError those of {@link VaultReceived.open}.
 */
export async function openReceived(
  vault: VaultSession,
  shareId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions & { readonly acceptedWords?: readonly string[] } = {},
): Promise<OpenedReceivedShare> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
  const accountKey = await requireAccountKey(vault, presentedOpener, options);
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await vault.service.opening.getOffer({ share_id: shareId }, options.signal);
  if (offer.audience !== "person") throw new PortalError("link_incomplete");
  const resolvedSender = await resolveSender(vault, offer.from, options);

  const claim = { share_id: shareId, claim_id: vault.claims.idFor(shareId) };
  const claimed = await sendWithRetry(vault.pause, () => vault.service.opening.claim(claim, options.signal));
  const opened = await openClaimedTicket(claimed, await listOwnIdentities(vault, accountKey), {
    shareId,
    audience: "person",
    owner: offer.from.user_id,
    ownerKey: resolvedSender.signingKey,
  });
  const { ticket, sealed } = opened;
  const highestRev = (await vault.device.read()).openedShares[shareId] ?? 0;
  if (ticket.rev < highestRev) throw new PortalError("decryption_failed");
  const content = await fetchSmallContent(vault.service.content, opened, claimed, options);
  if (ticket.rev > highestRev) await saveOpenedRev(vault, shareId, ticket.rev);
  vault.claims.markUsed(shareId);
  return {
    shareId,
    title: ticket.title,
    contentKind: ticket.content_kind,
    name: displayNameOf(ticket),
    mime: mimeOf(ticket),
    size: ticket.size,
    content,
    sender: resolvedSender.sender,
    sealed,
  };
}

interface ResolvedSender {
  /** The signing key that the ticket must have, base64url; null where nobody vouches for one. */
  readonly signingKey: string | null;
  readonly sender: Sender;
}

/**
 * Whose keys the ticket must have. A known sender whose account is gone is still known by what was
 * pinned.
 *
 * @throws PortalError `person_unknown`, `person_changed`, `person_blocked`.
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
    throw personError("person_blocked", {
      userId: blockedBy.user_id,
      userName: blockedBy.name,
      safetyWords: safetyWordsOf(blockedBy),
      formerSafetyWords: null,
      formerName: null,
    });
  }
  const entry = await findDirectoryEntry(vault, from, options.signal);
  const { trust, pinned, formerName } = assessTrust(people, {
    userId,
    userName,
    statement: entry?.statement ?? null,
  });
  const safetyWords = entry === null ? [] : safetyWordsOf(entry.statement);
  if (pinned !== null) {
    if (trust === "changed")
      throw personError("person_changed", {
        userId,
        userName,
        safetyWords,
        formerSafetyWords: safetyWordsOf(pinned),
        formerName,
      });
    return {
      signingKey: pinned.signing_key,
      sender: {
        userId,
        userName: pinned.name,
        trust: pinned.compared ? "compared" : "known",
        safetyWords: safetyWordsOf(pinned),
      },
    };
  }
  if (options.acceptedWords === undefined || !hasSameWords(options.acceptedWords, safetyWords))
    throw personError("person_unknown", {
      userId,
      userName,
      safetyWords,
      formerSafetyWords: null,
      formerName: null,
    });
  if (entry === null) return { signingKey: null, sender: { userId, userName, trust: "says", safetyWords } };
  await pinUnknown(vault, entry, options);
  return { signingKey: entry.statement.signing_key, sender: { userId, userName, trust: "known", safetyWords } };
}

/** Null where the directory has nothing of that account: it is gone, or has another name by now. */
async function findDirectoryEntry(
  vault: VaultSession,
  { user_id: userId, user_name: userName }: { readonly user_id: string; readonly user_name: string },
  signal: AbortSignal | undefined,
): Promise<DirectoryEntry | null> {
  try {
    const entry = await lookUpKeys(vault, userName, signal);
    if (entry.userId !== userId) throw new PortalError("decryption_failed"); // the service says two things of one name
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

/** Only grows. Written before the content is shown, so that no crash forgets it. */
async function saveOpenedRev(vault: VaultSession, shareId: string, rev: number): Promise<void> {
  const write = vault.device.update(({ openedShares }) =>
    (openedShares[shareId] ?? 0) >= rev ? null : { openedShares: { ...openedShares, [shareId]: rev } },
  );
  await write.catch((error: unknown) => {
    // it opens all the same; this device cannot tell an older update of it
    if (!isPortalError(error, "storage_full")) throw error;
  });
}
