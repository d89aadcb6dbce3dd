import { ShareId, type SharesWithMe } from "@relicario/shared/api";
import type { OpenedShare, ReceivedShare, Sender } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { isSameWords, knownAs, lookUp, personError, wordsOfKeys, type DirectoryEntry } from "../people/pinned-keys.ts";
import { pinUnknown } from "../people/people.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { recipientOf } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import type { Bytes } from "../seal/bytes.ts";
import { contentOf, mimeOf, nameOf, openClaimed, type Opening } from "../shares/open-claimed.ts";
import type { Shown } from "../shown-image.ts";
import { accountIdentities } from "../steps/account-identities.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { requireAccountKey } from "../steps/show-opener.ts";
import { sendUntilAnswered } from "../steps/until-answered.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import type { SealedContentKey } from "../worker/opened-contents.ts";

/**
 * What others shared with this account. Who they are is the service's word, until one is opened;
 * how well they are known is the book's.
 */
export async function receivedShares(
  vault: VaultContext,
  options: ActOptions & { readonly ended?: boolean } = {},
): Promise<ReceivedShare[]> {
  const shares = await vault.service.shares.withMe(options.ended === true, options.signal);
  const people = vault.keys === null ? [] : ((await readKeyring(vault, options.signal))?.opened?.book.people ?? []);
  return shares.map((share) => present(people, share));
}

function present(people: Book["people"], share: SharesWithMe["shares"][number]): ReceivedShare {
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
  const { standing, formerName, blockedBy } = knownAs(people, {
    userId: from.user_id,
    userName: from.user_name,
    statement: null,
  });
  return {
    shareId,
    from: { userId: from.user_id, userName: formerName ?? from.user_name, standing, blocked: blockedBy !== null },
    audience,
    createdAt,
    expiresAt,
    openedAt,
    viewsLeft,
    available,
  };
}

/** What opens it stays in the worker. */
export type OpenedReceived = Omit<OpenedShare, "save" | "putAway"> & {
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
  vault: VaultContext,
  shareId: string,
  shown: Shown | null,
  options: ActOptions & { readonly accept?: readonly string[] } = {},
): Promise<OpenedReceived> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
  const accountKey = await requireAccountKey(vault, shown, options);
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const offer = await vault.service.opening.offer({ share_id: shareId }, options.signal);
  if (offer.audience !== "person") throw new PortalError("link_incomplete");
  const sender = await knownSender(vault, offer.from, options);

  const claim = { share_id: shareId, claim_id: vault.claims.idFor(shareId) };
  const claimed = await sendUntilAnswered(vault.pause, () => vault.service.opening.claim(claim, options.signal));
  const opened = await openClaimed(claimed, await ownOpenings(vault, accountKey), {
    shareId,
    audience: "person",
    owner: offer.from.user_id,
    ownerKey: sender.signingKey,
  });
  const { ticket, sealed } = opened;
  const highest = (await vault.device.read()).openedShares[shareId] ?? 0;
  if (ticket.rev < highest) throw new PortalError("decryption_failed");
  const content = await contentOf(vault.service.content, opened, claimed, options);
  if (ticket.rev > highest) await rememberOpened(vault, shareId, ticket.rev);
  vault.claims.spent(shareId);
  return {
    shareId,
    title: ticket.title,
    contentKind: ticket.content_kind,
    name: nameOf(ticket),
    mime: mimeOf(ticket),
    size: ticket.size,
    content,
    sender: sender.shown,
    sealed,
  };
}

interface KnownSender {
  /** The signing key that the ticket must have, base64url; null where nobody vouches for one. */
  readonly signingKey: string | null;
  readonly shown: Sender;
}

/**
 * Whose keys the ticket must have. A known sender whose account is gone is still known by what was
 * pinned.
 *
 * @throws PortalError `person_unknown`, `person_changed`, `person_blocked`.
 */
async function knownSender(
  vault: VaultContext,
  from: { readonly user_id: string; readonly user_name: string },
  options: ActOptions & { readonly accept?: readonly string[] },
): Promise<KnownSender> {
  const { user_id: userId, user_name: userName } = from;
  const people = (await readKeyring(vault, options.signal))?.opened?.book.people;
  if (people === undefined) throw new PortalError("vault_locked");
  const { blockedBy } = knownAs(people, { userId, userName, statement: null });
  if (blockedBy !== null) {
    throw personError("person_blocked", {
      userId: blockedBy.user_id,
      userName: blockedBy.name,
      words: wordsOfKeys(blockedBy),
      formerWords: null,
      formerName: null,
    });
  }
  const entry = await directoryEntry(vault, from, options.signal);
  const { standing, pinned, formerName } = knownAs(people, { userId, userName, statement: entry?.statement ?? null });
  const words = entry === null ? [] : wordsOfKeys(entry.statement);
  if (pinned !== null) {
    if (standing === "changed")
      throw personError("person_changed", { userId, userName, words, formerWords: wordsOfKeys(pinned), formerName });
    return {
      signingKey: pinned.signing_key,
      shown: {
        userId,
        userName: pinned.name,
        standing: pinned.compared ? "compared" : "known",
        words: wordsOfKeys(pinned),
      },
    };
  }
  if (options.accept === undefined || !isSameWords(options.accept, words))
    throw personError("person_unknown", { userId, userName, words, formerWords: null, formerName: null });
  if (entry === null) return { signingKey: null, shown: { userId, userName, standing: "says", words } };
  await pinUnknown(vault, entry, options);
  return { signingKey: entry.statement.signing_key, shown: { userId, userName, standing: "known", words } };
}

/** Null where the directory has nothing of that account: it is gone, or has another name by now. */
async function directoryEntry(
  vault: VaultContext,
  { user_id: userId, user_name: userName }: { readonly user_id: string; readonly user_name: string },
  signal: AbortSignal | undefined,
): Promise<DirectoryEntry | null> {
  try {
    const entry = await lookUp(vault, userName, signal);
    if (entry.userId !== userId) throw new PortalError("decryption_failed"); // the service says two things of one name
    return entry;
  } catch (error) {
    if (isPortalError(error, "not_found")) return null;
    throw error;
  }
}

async function ownOpenings(vault: VaultContext, accountKey: AccountKey): Promise<Opening[]> {
  const book = (await readKeyring(vault))?.opened?.book;
  if (book === undefined) throw new PortalError("vault_locked");
  const identities = await accountIdentities(vault, accountKey, book);
  return Promise.all(identities.map(async (identity) => ({ identity, recipient: await recipientOf(identity) })));
}

/** Only grows. Written before the content is shown, so that no crash forgets it. */
async function rememberOpened(vault: VaultContext, shareId: string, rev: number): Promise<void> {
  const writing = vault.device.update(({ openedShares }) =>
    (openedShares[shareId] ?? 0) >= rev ? null : { openedShares: { ...openedShares, [shareId]: rev } },
  );
  await writing.catch((error: unknown) => {
    // it opens all the same; this device cannot tell an older update of it
    if (!isPortalError(error, "storage_full")) throw error;
  });
}
