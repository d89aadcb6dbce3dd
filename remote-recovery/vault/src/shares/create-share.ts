import { maxShareViews, shareLifetimeDays, Timestamp, toBase64url, type CreateShareBody } from "@relicario/shared/api";
import type { PersonRecord, NewShareInput } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { lookUpKeys, requireUnchangedKeys, requireConfirmedKeys, withPinned } from "../people/pinned-keys.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { randomBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { deriveLinkAuth, deriveLinkIdentity, derivePassAuth, deriveStretchedLinkKey } from "../seal/link-keys.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { toSentState } from "../keyring/remove-when-published.ts";
import { readPictureBytes } from "../openers/read-picture.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, requireRow, type AccountView } from "../keyring/read-account.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { isResponseLost } from "../service/send-with-retry.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import {
  removeUnconfirmedShare,
  saveUnconfirmedShare,
  reconcileUnconfirmedShares,
  type UnconfirmedShare,
} from "./unconfirmed-shares.ts";
import { sealShareTicket } from "./seal-share-ticket.ts";
import { enrolShareImage, type ShareImage } from "./share-image.ts";
import { openSharedContent, type SharedContent } from "./shared-content.ts";
import { sharePathOf, requireWithinLimit, withShare } from "../keyring/shares-document.ts";

/** A share as it reaches the worker: the picture itself in place of its handle. */
export interface NewShareRequest extends Omit<NewShareInput, "picture"> {
  readonly picture: Blob | null;
}

export interface CreatedShare {
  readonly shareId: string;
  /** Path and fragment of the link; null for a person. */
  readonly link: string | null;
}

/** To whom the ticket is sealed, and what the service is told of that. */
interface ResolvedRecipient {
  readonly recipient: string;
  /** Pins, or the share's sketch; null where the book stays as it is. */
  readonly book: Book | null;
  readonly requestFields: Pick<
    CreateShareBody,
    "recipient" | "link_auth_sha256" | "pass_auth_sha256" | "share_helper" | "password"
  >;
  /**
   * What the document's inside keeps of the recipient; null for a link whose key alone gives it.
   */
  readonly innerRecipient: string | null;
}

/** One kind of recipient; `wipe` clears what it holds. */
interface ShareRecipient {
  readonly linkKey: Bytes | null;
  readonly resolve: (openedKeyring: OpenedKeyring) => Promise<ResolvedRecipient>;
  readonly wipe: () => void;
}

/**
 * Seals the present version of a secret for somebody, and publishes it with the document that names
 * it.
 *
 * @throws PortalError those of {@link VaultShares.create}.
 */
export async function createShare(
  vault: VaultSession,
  request: NewShareRequest,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<CreatedShare> {
  checkRequest(vault, request);
  const content = await openSharedContent(vault, request.secretId, presentedOpener, options);
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");
  const shareId = toBase64url(randomBytes(16));
  const shareRecipient =
    request.to.audience === "person"
      ? await createPersonRecipient(vault, request.to.person, options)
      : await createLinkRecipient(vault, accountKey, shareId, request, options);
  try {
    const created = await publishShare(vault, accountKey, { shareId, request, content, shareRecipient }, options);
    // the share is made; what is kept of its link waits for the next reading
    await reconcileUnconfirmedShares(vault).catch(() => undefined);
    return created;
  } finally {
    shareRecipient.wipe();
  }
}

interface ShareDraft {
  readonly shareId: string;
  readonly request: NewShareRequest;
  readonly content: SharedContent;
  readonly shareRecipient: ShareRecipient;
}

async function publishShare(
  vault: VaultSession,
  accountKey: AccountKey,
  { shareId, request, content, shareRecipient }: ShareDraft,
  options: OperationOptions,
): Promise<CreatedShare> {
  const { audience } = request.to;
  const { linkKey } = shareRecipient;
  const sentStates: UnconfirmedShare["sent"] = [];
  const path = sharePathOf(audience, shareId);
  const created: CreatedShare = { shareId, link: linkKey === null ? null : `${path}#s=${toBase64url(linkKey)}` };

  const prepare = async (account: AccountView | null): Promise<Attempt<CreatedShare>> => {
    const { openedKeyring, row } = requireRow(account, request.secretId);
    if (account === null || row.stored.deleted_at !== undefined) throw new PortalError("not_found");
    if (row.version !== content.version)
      throw new PortalError("version_conflict", { details: { version: row.version } });
    const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const { recipient, book, requestFields, innerRecipient } = await shareRecipient.resolve(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const createdAt = formatTimestamp(vault.now());
    const ticket = await sealShareTicket(
      openedKeyring.keys,
      { shareId, audience, rev: 1, recipient, owner: vault.userId, createdAt },
      label,
      content,
    );
    const entry = {
      share_id: shareId,
      secret_id: request.secretId,
      version: row.version,
      audience,
      rev: 1,
      ticket_sha256: toBase64url(sha256(ticket)),
      created_at: createdAt,
      expires_at: request.expiresAt,
      revoked_at: null,
    };
    const shares = await withShare(vault, accountKey, openedKeyring.shares, entry, {
      share_id: shareId,
      link_key: linkKey === null ? null : toBase64url(linkKey),
      recipient: innerRecipient,
    });
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { shares, ...(book === null ? {} : { book }) },
    });
    requireWithinLimit(change.keyring);
    if (linkKey !== null) {
      sentStates.push(toSentState(change.keyring));
      await saveUnconfirmedShare(vault, {
        share_id: shareId,
        audience,
        link_key: toBase64url(linkKey),
        sent: [...sentStates],
      });
    }
    const body: CreateShareBody = {
      share_id: shareId,
      secret_db_id: request.secretId,
      version: row.version,
      audience,
      ...requestFields,
      ticket: toBase64url(ticket),
      expires_at: request.expiresAt,
      ...(request.maxViews === null ? {} : { max_views: request.maxViews }),
      notify: request.notify,
      keyring: change.keyring,
    };
    return { change, send: () => vault.service.shares.create(body), result: created };
  };
  const findPublished = ({ view }: AccountView): CreatedShare | null =>
    view.openedKeyring?.shares.shares.some(({ share_id: id }) => id === shareId) === true ? created : null;
  try {
    return await publishWithRetry(vault, { prepare, findPublished }, options);
  } catch (error) {
    // Refused: nothing was published. Without an answer it may have been, and its link stays here
    // until the account tells.
    if (!isResponseLost(error) && !isPortalError(error, "state_conflict")) await removeUnconfirmedShare(vault, shareId);
    throw error;
  }
}

/** @throws PortalError `validation_error` with the fields. */
function checkRequest(vault: VaultSession, { to, expiresAt, maxViews, password, picture }: NewShareRequest): void {
  const fields: string[] = [];
  const remaining = Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (remaining <= 0 || remaining > shareLifetimeDays.maximum * 24 * 60 * 60 * 1000) fields.push("expires_at");
  if (maxViews !== null && (!Number.isInteger(maxViews) || maxViews < 1 || maxViews > maxShareViews))
    fields.push("max_views");
  if (to.audience === "person" && password !== null) fields.push("password");
  if (to.audience === "person" && picture !== null) fields.push("picture");
  if (fields.length > 0) throw new PortalError("validation_error", { details: { fields } });
}

/** Whoever has the link, its password and its picture. */
async function createLinkRecipient(
  vault: VaultSession,
  accountKey: AccountKey,
  shareId: string,
  { password, picture }: NewShareRequest,
  options: OperationOptions,
): Promise<ShareRecipient> {
  const linkKey = randomBytes(32);
  const hasPassword = password !== null && password !== "";
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const stretched = await deriveStretchedLinkKey(linkKey, shareId, password);
  const bytes = picture === null ? null : await readPictureBytes(picture);
  let enrolledImage: { readonly bookSha256: string; readonly image: ShareImage } | null = null;

  /** Once for a book, and anew when another device changed it. */
  const enrolImageFor = async (openedKeyring: OpenedKeyring): Promise<ShareImage | null> => {
    if (bytes === null) return null;
    if (enrolledImage?.bookSha256 !== openedKeyring.state.book_sha256) {
      wipe(enrolledImage?.image.root);
      enrolledImage = {
        bookSha256: openedKeyring.state.book_sha256,
        image: await enrolShareImage(vault, accountKey, openedKeyring.book, bytes, options),
      };
    }
    return enrolledImage.image;
  };

  return {
    linkKey,
    resolve: async (openedKeyring) => {
      const image = await enrolImageFor(openedKeyring);
      const recipient = await deriveRecipient(deriveLinkIdentity(stretched, image?.root ?? null));
      const requestFields = {
        link_auth_sha256: toBase64url(sha256(deriveLinkAuth(linkKey))),
        pass_auth_sha256: toBase64url(sha256(derivePassAuth(stretched))),
        password: hasPassword,
        ...(image === null ? {} : { share_helper: image.helper }),
      };
      return {
        recipient,
        book: image?.book ?? null,
        requestFields,
        innerRecipient: hasPassword || image !== null ? recipient : null,
      };
    },
    wipe: () => {
      wipe(linkKey, stretched, bytes, enrolledImage?.image.root);
    },
  };
}

/** The account whose words were shown, pinned with the share where nobody was before. */
async function createPersonRecipient(
  vault: VaultSession,
  person: PersonRecord,
  options: OperationOptions,
): Promise<ShareRecipient> {
  const entry = await lookUpKeys(vault, person.userName, options.signal);
  requireConfirmedKeys(person, entry);
  return {
    linkKey: null,
    resolve: async (openedKeyring) => {
      requireUnchangedKeys(openedKeyring.book.people, entry);
      const people = withPinned(vault, openedKeyring.book.people, entry);
      const book = people === openedKeyring.book.people ? null : { ...openedKeyring.book, people };
      return {
        recipient: entry.statement.recipient,
        book,
        requestFields: { recipient: entry.userId, password: false },
        innerRecipient: entry.statement.recipient,
      };
    },
    wipe: () => undefined,
  };
}
