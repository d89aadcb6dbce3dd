import {
  fromB64u,
  maxShareViews,
  shareDays,
  ShareId,
  Timestamp,
  toB64u,
  type ChangeShare,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { lookUp, personError, refuseChanged, wordsOfKeys } from "../people/pinned-keys.ts";
import { recipientOf } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import { linkIdentity } from "../seal/link.ts";
import { openSharesInner, type Shares, type SharesInner } from "../seal/shares.ts";
import { requireAccountKey } from "../steps/show-opener.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import { labelOf, requireRow, type AccountView } from "../steps/read-account.ts";
import { readKeyring, type OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { Shown } from "../shown-image.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { sharesOfSecret } from "./list-shares.ts";
import { waitingShares } from "./new-shares.ts";
import { sealShareTicket } from "./sealed-share.ts";
import { sharedContent } from "./shared-content.ts";
import { isLive, pathOf, requireEntry, requireRoom, withEnded, withEntry, type ShareEntry } from "./shares-document.ts";

/**
 * Path and fragment of a link once more; of a person's share its path.
 *
 * @throws PortalError `not_found`, `share_unavailable` for one that is over, `show_opener_first`,
 *   `decryption_failed` where the service keeps another ticket, version or date of it than was
 *   signed.
 */
export async function showShareLink(
  vault: VaultContext,
  shareId: string,
  shown: Shown | null,
  options: ActOptions = {},
): Promise<string> {
  const accountKey = await requireAccountKey(vault, shown, options);
  const view = await readKeyring(vault, options.signal);
  if (view?.opened == null) throw new PortalError("vault_locked");
  const { shares } = view.opened;
  const waiting = (await waitingShares(vault, view, shares)).find(({ share_id: id }) => id === shareId);
  if (waiting !== undefined) return `${pathOf(waiting.audience, shareId)}#s=${waiting.link_key}`;
  const entry = requireEntry(shares, shareId);
  const inner = await openSharesInner(accountKey, vault.userId, shares);
  const kept = inner.shares.find(({ share_id: id }) => id === shareId);
  if (kept === undefined || !isLive(entry, vault.now())) throw new PortalError("share_unavailable");
  const listed = (await sharesOfSecret(vault, entry.secret_id, options)).find((share) => share.shareId === shareId);
  // whoever has the link would be given something else
  if (listed?.doubt === "changed") throw new PortalError("decryption_failed");
  const path = pathOf(entry.audience, shareId);
  return kept.link_key === null ? path : `${path}#s=${kept.link_key}`;
}

/**
 * @throws PortalError `validation_error`, `not_found`, `share_unavailable`, `vault_locked`, and
 *   those of publishing.
 */
export async function changeShare(
  vault: VaultContext,
  shareId: string,
  { expiresAt, maxViews }: { readonly expiresAt?: string; readonly maxViews?: number | null },
  options: ActOptions = {},
): Promise<void> {
  const until =
    expiresAt === undefined ? null : Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (until !== null && (until <= 0 || until > shareDays.most * 24 * 60 * 60 * 1000))
    throw new PortalError("validation_error", { details: { fields: ["expires_at"] } });
  if (maxViews != null && (!Number.isInteger(maxViews) || maxViews < 1 || maxViews > maxShareViews))
    throw new PortalError("validation_error", { details: { fields: ["max_views"] } });
  const wanted = {
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(maxViews === undefined ? {} : { max_views: maxViews }),
  };
  if (Object.keys(wanted).length === 0) return;
  await publishShares(
    vault,
    async ({ opened }) => {
      requireLive(vault, opened.shares, shareId);
      const shares = withEntry(opened.shares, shareId, expiresAt === undefined ? {} : { expires_at: expiresAt });
      return { shares, send: (keyring) => vault.service.shares.change(shareId, { ...wanted, keyring }) };
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
export async function revokeShare(vault: VaultContext, shareId: string, options: ActOptions = {}): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  await vault.service.shares.revoke(shareId, options.signal).catch((error: unknown) => {
    if (!isPortalError(error, "share_unavailable", "not_found")) throw error; // it is over already
  });
  await markEnded(vault, (entry) => entry.share_id === shareId, options);
}

/** Marks live shares as over, by a signed change alone. Without effect where there is none. */
export async function markEnded(
  vault: VaultContext,
  ends: (entry: ShareEntry, account: AccountView) => boolean,
  options: ActOptions = {},
): Promise<void> {
  await publishShares(
    vault,
    async ({ account, opened }) => {
      const shares = withEnded(opened.shares, vault.now(), (entry) => ends(entry, account));
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
  vault: VaultContext,
  shareId: string,
  shown: Shown,
  options: ActOptions = {},
): Promise<void> {
  if (!ShareId.safeParse(shareId).success) throw new PortalError("not_found");
  if (vault.keys === null) await requireAccountKey(vault, shown, options); // to know which secret it is of
  const view = await readKeyring(vault, options.signal);
  if (view?.opened == null) throw new PortalError("vault_locked");
  const { secret_id: secretId } = requireLive(vault, view.opened.shares, shareId);
  const content = await sharedContent(vault, secretId, shown, options);
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");

  await publishShares(
    vault,
    async ({ account, opened }) => {
      const entry = requireLive(vault, opened.shares, shareId);
      const { row } = requireRow(account, secretId);
      if (row.version !== content.version)
        throw new PortalError("version_conflict", { details: { version: row.version } });
      if (entry.version === row.version) return null;
      const inner = await openSharesInner(accountKey, vault.userId, opened.shares);
      const recipient = await recipientOfShare(vault, opened.book, entry, inner, options.signal);
      const label = await labelOf(vault.userId, opened.keys, row);
      const rev = entry.rev + 1;
      const ticket = await sealShareTicket(
        opened.keys,
        { shareId, audience: entry.audience, rev, recipient, owner: vault.userId, createdAt: timestamp(vault.now()) },
        label,
        content,
      );
      const shares = withEntry(opened.shares, shareId, {
        version: row.version,
        rev,
        ticket_sha256: toB64u(sha256(ticket)),
      });
      return {
        shares,
        send: (keyring) =>
          vault.service.shares.change(shareId, { version: row.version, ticket: toB64u(ticket), keyring }),
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
  vault: VaultContext,
  book: Book,
  { share_id: shareId, audience }: ShareEntry,
  inner: SharesInner,
  signal: AbortSignal | undefined,
): Promise<string> {
  const kept = inner.shares.find(({ share_id: id }) => id === shareId);
  if (kept === undefined) throw new PortalError("decryption_failed");
  if (audience !== "person") return kept.recipient ?? recipientOf(linkIdentity(fromB64u(kept.link_key ?? ""), null));
  const person = book.people.find(({ recipient }) => recipient === kept.recipient);
  if (person === undefined || kept.recipient === null) throw new PortalError("person_changed");
  const entry = await lookUp(vault, person.name, signal);
  refuseChanged(book.people, entry);
  if (entry.statement.recipient !== kept.recipient)
    throw personError("person_changed", {
      userId: entry.userId,
      userName: person.name,
      words: wordsOfKeys(entry.statement),
      formerWords: wordsOfKeys(person),
      formerName: null,
    });
  return kept.recipient;
}

/** @throws PortalError `not_found`, `share_unavailable` for one that is over. */
function requireLive(vault: VaultContext, shares: Shares, shareId: string): ShareEntry {
  const entry = requireEntry(shares, shareId);
  if (!isLive(entry, vault.now())) throw new PortalError("share_unavailable");
  return entry;
}

interface Changed {
  readonly shares: Shares;
  /** The call that brings the signed change. */
  readonly send: (keyring: ChangeShare["keyring"]) => Promise<unknown>;
}

/**
 * Publishes a changed document with the call that it goes with. Null: there is nothing to change.
 */
async function publishShares(
  vault: VaultContext,
  make: (now: { readonly account: AccountView; readonly opened: OpenedKeyring }) => Promise<Changed | null>,
  options: ActOptions,
): Promise<void> {
  const sent = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const opened = account?.view.opened ?? null;
    if (account === null || opened === null) throw new PortalError("vault_locked");
    const changed = await make({ account, opened });
    if (changed === null) return { done: "done" };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], {
      documents: { shares: changed.shares },
    });
    requireRoom(change.keyring);
    sent.add(change.state.shares_sha256);
    return { change, send: () => changed.send(change.keyring), result: "done" };
  };
  const published = ({ view }: AccountView): "done" | null =>
    view.opened !== null && sent.has(view.opened.state.shares_sha256) ? "done" : null;
  await publishUntilItFits(vault, { prepare, published }, options);
}
