import { maxShareViews, shareLifetimeDays, Timestamp, toBase64url, type CreateShareBody } from "@relicario/shared/api";
import { requiredStrength, type PersonRecord, type NewShareInput } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { replacePeople } from "../people/people.ts";
import { lookUpKeys, requireUnchangedKeys, requireConfirmedKeys, addPin } from "../people/pinned-keys.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { deriveRecipient } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { randomBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { deriveLinkAuth, deriveLinkIdentity, derivePassAuth, deriveStretchedLinkKey } from "../seal/link-keys.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { toSentState } from "../keyring/remove-when-published.ts";
import { requireStrength } from "../openers/passphrase-strength.ts";
import { readPictureBytes } from "../openers/read-picture.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, requireRow, type AccountView } from "../keyring/read-account.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
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
import { openSharedContentKey, type SharedContentKey } from "./shared-content-key.ts";
import { buildSharePath, requireWithinLimit, addShareEntry } from "../keyring/shares-document.ts";

/** Like {@link NewShareInput}, but with the picture itself instead of its handle. */
export interface NewShareRequest extends Omit<NewShareInput, "picture"> {
  readonly picture: Blob | null;
}

export interface CreatedShare {
  readonly shareId: string;
  /** Path and fragment; null for a person. */
  readonly link: string | null;
}

/** The recipient of the ticket, with the fields that the service needs. */
interface ResolvedRecipient {
  readonly recipient: string;
  /** Contains the pinned person or the share's sketch; null leaves the book unchanged. */
  readonly book: Book | null;
  readonly requestFields: Pick<
    CreateShareBody,
    "recipient" | "link_auth_sha256" | "pass_auth_sha256" | "share_helper" | "password"
  >;
  /** Stored in the document's `inner`; null if it is derived from the link key alone. */
  readonly innerRecipient: string | null;
}

/** A link or a person; `wipe` clears its secrets. */
interface ShareRecipient {
  readonly linkKey: Bytes | null;
  readonly resolve: (openedKeyring: OpenedKeyring) => Promise<ResolvedRecipient>;
  readonly wipe: () => void;
}

/** @throws PortalError errors of {@link VaultShares.create} */
export async function createShare(
  vault: VaultSession,
  request: NewShareRequest,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<CreatedShare> {
  validateShareRequest(vault, request);
  const { password } = request;
  if (password !== null && password !== "") requireStrength(await vault.estimateStrength(password), requiredStrength);
  const content = await openSharedContentKey(vault, request.secretId, presentedOpener, options);
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");
  const shareId = toBase64url(randomBytes(16));
  const shareRecipient =
    request.to.audience === "person"
      ? await createPersonRecipient(vault, request.to.person, options)
      : await createLinkRecipient(vault, accountKey, shareId, request, options);
  try {
    const createdShare = await publishShare(vault, accountKey, { shareId, request, content, shareRecipient }, options);
    // the share is published; the next reading removes its saved link key
    await reconcileUnconfirmedShares(vault).catch(() => undefined);
    return createdShare;
  } finally {
    shareRecipient.wipe();
  }
}

interface ShareDraft {
  readonly shareId: string;
  readonly request: NewShareRequest;
  readonly content: SharedContentKey;
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
  const path = buildSharePath(audience, shareId);
  const createdShare: CreatedShare = { shareId, link: linkKey === null ? null : `${path}#s=${toBase64url(linkKey)}` };

  const prepare = async (account: AccountView | null): Promise<Attempt<CreatedShare>> => {
    const { openedKeyring, row } = requireRow(account, request.secretId);
    if (account === null || row.storedSecret.deleted_at !== undefined) throw new PortalError("not_found");
    if (row.version !== content.version)
      throw new PortalError("version_conflict", { details: { version: row.version } });
    const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const { recipient, book, requestFields, innerRecipient } = await shareRecipient.resolve(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const createdAt = formatTimestamp(vault.now());
    const { ticket, signature } = await sealShareTicket(
      accountKey,
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
    const shares = await addShareEntry(vault, accountKey, openedKeyring.shares, entry, {
      share_id: shareId,
      link_key: linkKey === null ? null : toBase64url(linkKey),
      recipient: innerRecipient,
    });
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { shares, ...(book === null ? {} : { book }) },
    });
    requireWithinLimit(change.keyringChange);
    if (linkKey !== null) {
      sentStates.push(toSentState(change.keyringChange));
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
      ticket_sig: signature,
      expires_at: request.expiresAt,
      ...(request.maxViews === null ? {} : { max_views: request.maxViews }),
      notify: request.notify,
      keyring: change.keyringChange,
    };
    return { change, send: () => vault.service.shares.create(body), result: createdShare };
  };
  const findPublished = ({ view }: AccountView): CreatedShare | null =>
    view.openedKeyring?.shares.shares.some(({ share_id: id }) => id === shareId) === true ? createdShare : null;
  try {
    return await publishWithRetry(vault, { prepare, findPublished }, options);
  } catch (error) {
    // A refused share was not published. After a lost response it may have been, so the link key
    // stays on the device until the account shows the outcome.
    if (!isResponseLost(error) && !isPortalError(error, "state_conflict")) await removeUnconfirmedShare(vault, shareId);
    throw error;
  }
}

/** @throws PortalError `validation_error` with the names of the fields */
function validateShareRequest(
  vault: VaultSession,
  { to, expiresAt, maxViews, password, picture }: NewShareRequest,
): void {
  const fields: string[] = [];
  const remainingMilliseconds = Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (remainingMilliseconds <= 0 || remainingMilliseconds > shareLifetimeDays.maximum * 24 * 60 * 60 * 1000)
    fields.push("expires_at");
  if (maxViews !== null && (!Number.isInteger(maxViews) || maxViews < 1 || maxViews > maxShareViews))
    fields.push("max_views");
  if (to.audience === "person" && password !== null) fields.push("password");
  if (to.audience === "person" && picture !== null) fields.push("picture");
  if (fields.length > 0) throw new PortalError("validation_error", { details: { fields } });
}

/** Creates the recipient of a link: anyone with the link, its password and its picture. */
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
  const stretchedKey = await deriveStretchedLinkKey(linkKey, shareId, password);
  const pictureBytes = picture === null ? null : await readPictureBytes(picture);
  let enrolledImage: { readonly bookSha256: string; readonly image: ShareImage } | null = null;

  /** Enrols the picture once per book, and again if another device changed the book. */
  const enrolImageFor = async (openedKeyring: OpenedKeyring): Promise<ShareImage | null> => {
    if (pictureBytes === null) return null;
    if (enrolledImage?.bookSha256 !== openedKeyring.state.book_sha256) {
      wipe(enrolledImage?.image.imageRootKey);
      enrolledImage = {
        bookSha256: openedKeyring.state.book_sha256,
        image: await enrolShareImage(vault, accountKey, openedKeyring.book, pictureBytes, options),
      };
    }
    return enrolledImage.image;
  };

  return {
    linkKey,
    resolve: async (openedKeyring) => {
      const image = await enrolImageFor(openedKeyring);
      const recipient = await deriveRecipient(deriveLinkIdentity(stretchedKey, image?.imageRootKey ?? null));
      const requestFields = {
        link_auth_sha256: toBase64url(sha256(deriveLinkAuth(linkKey))),
        pass_auth_sha256: toBase64url(sha256(derivePassAuth(stretchedKey))),
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
      wipe(linkKey, stretchedKey, pictureBytes, enrolledImage?.image.imageRootKey);
    },
  };
}

/**
 * Creates the recipient for a person whose safety words were shown. Pins the person with the share,
 * if not pinned before.
 */
async function createPersonRecipient(
  vault: VaultSession,
  person: PersonRecord,
  options: OperationOptions,
): Promise<ShareRecipient> {
  const directoryEntry = await lookUpKeys(vault, person.userName, options.signal);
  requireConfirmedKeys(person, directoryEntry);
  return {
    linkKey: null,
    resolve: async (openedKeyring) => {
      await requireVerifiedInner(vault, openedKeyring);
      requireUnchangedKeys(openedKeyring.book.people, directoryEntry);
      const people = addPin(vault, openedKeyring.book.people, directoryEntry);
      const book = people === openedKeyring.book.people ? null : await replacePeople(vault, openedKeyring, people);
      return {
        recipient: directoryEntry.statement.recipient,
        book,
        requestFields: { recipient: directoryEntry.userId, password: false },
        innerRecipient: directoryEntry.statement.recipient,
      };
    },
    wipe: () => undefined,
  };
}
