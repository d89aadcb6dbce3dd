import { maxShareViews, shareDays, Timestamp, toB64u, type CreateShare } from "@relicario/shared/api";
import type { FoundPerson, ShareRequest } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { lookUp, refuseChanged, refuseOthersThan, withPinned } from "../people/pinned-keys.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { recipientOf } from "../seal/age.ts";
import type { Book } from "../seal/book.ts";
import { randomBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import { linkAuth, linkIdentity, passAuth, stretchedKey } from "../seal/link.ts";
import type { Shown } from "../shown-image.ts";
import { sentState } from "../steps/forget-when-published.ts";
import { pictureBytes } from "../steps/picture.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import { labelOf, requireRow, type AccountView } from "../steps/read-account.ts";
import type { OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import { isAnswerLost } from "../steps/until-answered.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { forgetNewShare, keepNewShare, settleNewShares, type NewShare } from "./new-shares.ts";
import { sealShareTicket } from "./sealed-share.ts";
import { enrolShareImage, type ShareImage } from "./share-image.ts";
import { sharedContent, type SharedContent } from "./shared-content.ts";
import { pathOf, requireRoom, withShare } from "./shares-document.ts";

/** A share as it reaches the worker: the picture itself in place of its handle. */
export interface NewShareRequest extends Omit<ShareRequest, "picture"> {
  readonly picture: Blob | null;
}

export interface CreatedShare {
  readonly shareId: string;
  /** Path and fragment of the link; null for a person. */
  readonly link: string | null;
}

/** To whom the ticket is sealed, and what the service is told of that. */
interface Sealing {
  readonly recipient: string;
  /** Pins, or the share's sketch; null where the book stays as it is. */
  readonly book: Book | null;
  readonly wire: Pick<CreateShare, "recipient" | "link_auth_sha256" | "pass_auth_sha256" | "share_helper" | "password">;
  /**
   * What the document's inside keeps of the recipient; null for a link whose key alone gives it.
   */
  readonly kept: string | null;
}

/** One kind of recipient; `forget` wipes what it holds. */
interface Addressee {
  readonly linkKey: Bytes | null;
  readonly sealing: (opened: OpenedKeyring) => Promise<Sealing>;
  readonly forget: () => void;
}

/**
 * Seals the present version of a secret for somebody, and publishes it with the document that names
 * it.
 *
 * @throws PortalError those of {@link VaultShares.create}.
 */
export async function createShare(
  vault: VaultContext,
  request: NewShareRequest,
  shown: Shown,
  options: ActOptions = {},
): Promise<CreatedShare> {
  checkRequest(vault, request);
  const content = await sharedContent(vault, request.secretId, shown, options);
  const { accountKey } = vault;
  if (accountKey === null) throw new PortalError("show_opener_first");
  const shareId = toB64u(randomBytes(16));
  const addressee =
    request.to.audience === "person"
      ? await personOf(vault, request.to.person, options)
      : await linkOf(vault, accountKey, shareId, request, options);
  try {
    const created = await publishShare(vault, accountKey, { shareId, request, content, addressee }, options);
    // the share is made; what is kept of its link waits for the next reading
    await settleNewShares(vault).catch(() => undefined);
    return created;
  } finally {
    addressee.forget();
  }
}

interface Making {
  readonly shareId: string;
  readonly request: NewShareRequest;
  readonly content: SharedContent;
  readonly addressee: Addressee;
}

async function publishShare(
  vault: VaultContext,
  accountKey: AccountKey,
  { shareId, request, content, addressee }: Making,
  options: ActOptions,
): Promise<CreatedShare> {
  const { audience } = request.to;
  const { linkKey } = addressee;
  const sent: NewShare["sent"] = [];
  const path = pathOf(audience, shareId);
  const created: CreatedShare = { shareId, link: linkKey === null ? null : `${path}#s=${toB64u(linkKey)}` };

  const prepare = async (account: AccountView | null): Promise<Attempt<CreatedShare>> => {
    const { opened, row } = requireRow(account, request.secretId);
    if (account === null || row.stored.deleted_at !== undefined) throw new PortalError("not_found");
    if (row.version !== content.version)
      throw new PortalError("version_conflict", { details: { version: row.version } });
    const label = await labelOf(vault.userId, opened.keys, row);
    const { recipient, book, wire, kept } = await addressee.sealing(opened);
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const createdAt = timestamp(vault.now());
    const ticket = await sealShareTicket(
      opened.keys,
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
      ticket_sha256: toB64u(sha256(ticket)),
      created_at: createdAt,
      expires_at: request.expiresAt,
      revoked_at: null,
    };
    const shares = await withShare(vault, accountKey, opened.shares, entry, {
      share_id: shareId,
      link_key: linkKey === null ? null : toB64u(linkKey),
      recipient: kept,
    });
    const change = await nextChange(vault, account, opened, [...account.rows.values()], {
      documents: { shares, ...(book === null ? {} : { book }) },
    });
    requireRoom(change.keyring);
    if (linkKey !== null) {
      sent.push(sentState(change.keyring));
      await keepNewShare(vault, { share_id: shareId, audience, link_key: toB64u(linkKey), sent: [...sent] });
    }
    const body: CreateShare = {
      share_id: shareId,
      secret_db_id: request.secretId,
      version: row.version,
      audience,
      ...wire,
      ticket: toB64u(ticket),
      expires_at: request.expiresAt,
      ...(request.maxViews === null ? {} : { max_views: request.maxViews }),
      notify: request.notify,
      keyring: change.keyring,
    };
    return { change, send: () => vault.service.shares.create(body), result: created };
  };
  const published = ({ view }: AccountView): CreatedShare | null =>
    view.opened?.shares.shares.some(({ share_id: id }) => id === shareId) === true ? created : null;
  try {
    return await publishUntilItFits(vault, { prepare, published }, options);
  } catch (error) {
    // Refused: nothing was published. Without an answer it may have been, and its link stays here
    // until the account tells.
    if (!isAnswerLost(error) && !isPortalError(error, "state_conflict")) await forgetNewShare(vault, shareId);
    throw error;
  }
}

/** @throws PortalError `validation_error` with the fields. */
function checkRequest(vault: VaultContext, { to, expiresAt, maxViews, password, picture }: NewShareRequest): void {
  const fields: string[] = [];
  const left = Timestamp.safeParse(expiresAt).success ? Date.parse(expiresAt) - vault.now() : -1;
  if (left <= 0 || left > shareDays.most * 24 * 60 * 60 * 1000) fields.push("expires_at");
  if (maxViews !== null && (!Number.isInteger(maxViews) || maxViews < 1 || maxViews > maxShareViews))
    fields.push("max_views");
  if (to.audience === "person" && password !== null) fields.push("password");
  if (to.audience === "person" && picture !== null) fields.push("picture");
  if (fields.length > 0) throw new PortalError("validation_error", { details: { fields } });
}

/** Whoever has the link, its password and its picture. */
async function linkOf(
  vault: VaultContext,
  accountKey: AccountKey,
  shareId: string,
  { password, picture }: NewShareRequest,
  options: ActOptions,
): Promise<Addressee> {
  const linkKey = randomBytes(32);
  const hasPassword = password !== null && password !== "";
  options.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
  const stretched = await stretchedKey(linkKey, shareId, password);
  const bytes = picture === null ? null : await pictureBytes(picture);
  let enrolled: { readonly bookSha256: string; readonly image: ShareImage } | null = null;

  /** Once for a book, and anew when another device changed it. */
  const imageFor = async (opened: OpenedKeyring): Promise<ShareImage | null> => {
    if (bytes === null) return null;
    if (enrolled?.bookSha256 !== opened.state.book_sha256) {
      wipe(enrolled?.image.root);
      enrolled = {
        bookSha256: opened.state.book_sha256,
        image: await enrolShareImage(vault, accountKey, opened.book, bytes, options),
      };
    }
    return enrolled.image;
  };

  return {
    linkKey,
    sealing: async (opened) => {
      const image = await imageFor(opened);
      const recipient = await recipientOf(linkIdentity(stretched, image?.root ?? null));
      const wire = {
        link_auth_sha256: toB64u(sha256(linkAuth(linkKey))),
        pass_auth_sha256: toB64u(sha256(passAuth(stretched))),
        password: hasPassword,
        ...(image === null ? {} : { share_helper: image.helper }),
      };
      return { recipient, book: image?.book ?? null, wire, kept: hasPassword || image !== null ? recipient : null };
    },
    forget: () => {
      wipe(linkKey, stretched, bytes, enrolled?.image.root);
    },
  };
}

/** The account whose words were shown, pinned with the share where nobody was before. */
async function personOf(vault: VaultContext, person: FoundPerson, options: ActOptions): Promise<Addressee> {
  const entry = await lookUp(vault, person.userName, options.signal);
  refuseOthersThan(person, entry);
  return {
    linkKey: null,
    sealing: async (opened) => {
      refuseChanged(opened.book.people, entry);
      const people = withPinned(vault, opened.book.people, entry);
      const book = people === opened.book.people ? null : { ...opened.book, people };
      return {
        recipient: entry.statement.recipient,
        book,
        wire: { recipient: entry.userId, password: false },
        kept: entry.statement.recipient,
      };
    },
    forget: () => undefined,
  };
}
