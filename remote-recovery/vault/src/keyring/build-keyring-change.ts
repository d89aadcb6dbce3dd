import {
  toBase64url,
  type ImageRecord,
  type Keyring,
  type KeyringChange,
  type KeyStatement,
  type Slot,
} from "@relicario/shared/api";

import type { AccountKey, MetadataKeys } from "../seal/account-key.ts";
import { sealBook, type Book } from "../seal/book.ts";
import { computeJweDigest } from "../seal/document.ts";
import { signKeyringChange } from "../seal/account-signatures.ts";
import { sealRequests, type Requests } from "../seal/requests.ts";
import { sealShares, type Shares } from "../seal/shares.ts";
import { computeRoot, sealState, computeStateDigest, type RootRow, type State } from "../seal/state.ts";
import type { NewAccountDocuments } from "../device/pending-account.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { AccountView } from "./read-account.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";

/** The parts of a keyring change that publish a new image. Not secret. */
export interface EnrolledImage {
  /** The book with the new image. */
  readonly book: Book;
  readonly record: ImageRecord;
  readonly slot: Slot;
}

export interface ChangeParts {
  readonly enrolledImage?: EnrolledImage | null;
  /** Documents to replace; `book` takes precedence over that of `enrolledImage`. */
  readonly documents?: { readonly book?: Book; readonly shares?: Shares; readonly requests?: Requests };
  /** Slots of added and removed openers. The change must then replace the book too. */
  readonly slots?: KeyringChange["slots"];
  readonly imageRecords?: KeyringChange["image_records"];
  readonly purge?: readonly string[];
  readonly purgeVersions?: KeyringChange["purge_versions"];
  readonly trashConfirm?: readonly string[];
  /** Staged rows that the change switches to. */
  readonly stage?: { readonly id: string; readonly sha256: string };
  /** The call that carries the change needs the author key, although its members do not. */
  readonly authored?: boolean;
  /** A new account key. Its keys seal the documents; the current key signs the change. */
  readonly rotation?: { readonly keys: MetadataKeys; readonly statement: KeyStatement };
}

/**
 * Builds and signs the change that follows the given account.
 *
 * @throws PortalError `show_opener_first` when the author key must sign ([Note: Authority]) and no
 *   opener was presented.
 */
export async function buildNextChange(
  vault: VaultSession,
  account: AccountView,
  openedKeyring: OpenedKeyring,
  rows: readonly RootRow[],
  {
    enrolledImage = null,
    documents = {},
    slots,
    imageRecords,
    purge,
    purgeVersions,
    trashConfirm,
    stage,
    rotation,
    authored = false,
  }: ChangeParts,
): Promise<SignedChange> {
  const keys = rotation?.keys ?? openedKeyring.keys;
  const { keyring } = account.view;
  const { userId } = vault;
  const replacedDocuments = { ...(enrolledImage === null ? {} : { book: enrolledImage.book }), ...documents };
  const book = replacedDocuments.book === undefined ? null : await sealBook(keys, userId, replacedDocuments.book);
  const shares =
    replacedDocuments.shares === undefined ? null : await sealShares(keys, userId, replacedDocuments.shares);
  const requests =
    replacedDocuments.requests === undefined ? null : await sealRequests(keys, userId, replacedDocuments.requests);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: keyring.state_rev + 1,
    count: rows.length,
    root: computeRoot(rows),
    book_sha256: book === null ? openedKeyring.state.book_sha256 : toBase64url(computeJweDigest(book)),
    shares_sha256: shares === null ? openedKeyring.state.shares_sha256 : toBase64url(computeJweDigest(shares)),
    requests_sha256: requests === null ? openedKeyring.state.requests_sha256 : toBase64url(computeJweDigest(requests)),
  };
  const change: Omit<KeyringChange, "sig" | "author_sig"> = {
    ...(await buildChangeCore(vault, keys, state, computeStateDigest(keyring.state))),
    ...(book === null ? {} : { book }),
    ...(shares === null ? {} : { shares }),
    ...(requests === null ? {} : { requests }),
    ...(enrolledImage === null ? {} : toSlotChanges(enrolledImage)),
    ...(slots === undefined ? {} : { slots }),
    ...(imageRecords === undefined ? {} : { image_records: imageRecords }),
    ...(purge === undefined ? {} : { purge: [...purge] }),
    ...(purgeVersions === undefined ? {} : { purge_versions: purgeVersions }),
    ...(trashConfirm === undefined ? {} : { trash_confirm: [...trashConfirm] }),
    ...(stage === undefined ? {} : { stage_id: stage.id, stage_sha256: stage.sha256 }),
    ...(rotation === undefined ? {} : { key_statement: rotation.statement }),
  };
  const keyringChange = await signKeyringChange(openedKeyring.keys, vault.getAccountKeyOf(openedKeyring.keys), change, {
    authored,
  });
  return { keys, keyringChange, state, createsAccount: false };
}

/**
 * Builds and signs the change that creates an account.
 *
 * @param previousKeyring for a reset: the keyring that the change follows, all of whose openers it
 *   removes
 */
export async function buildFirstChange(
  vault: VaultSession,
  accountKey: AccountKey,
  newAccount: NewAccountDocuments,
  rows: readonly RootRow[],
  previousKeyring: Keyring | null = null,
): Promise<SignedChange> {
  const { keys, statement } = newAccount;
  const [book, shares] = await Promise.all([
    sealBook(keys, vault.userId, newAccount.book),
    sealShares(keys, vault.userId, newAccount.shares),
  ]);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: (previousKeyring?.state_rev ?? 0) + 1,
    count: rows.length,
    root: computeRoot(rows),
    book_sha256: toBase64url(computeJweDigest(book)),
    shares_sha256: toBase64url(computeJweDigest(shares)),
    requests_sha256: null,
  };
  const previousDigest = previousKeyring === null ? null : computeStateDigest(previousKeyring.state);
  const { slots, image_records: imageRecords } = toSlotChanges(newAccount, previousKeyring?.slots);
  const keyringChange = await signKeyringChange(keys, accountKey, {
    ...(await buildChangeCore(vault, keys, state, previousDigest)),
    book,
    shares,
    key_statement: statement,
    slots,
    image_records: imageRecords,
  });
  return { keys, keyringChange, state, createsAccount: true };
}

async function buildChangeCore(
  vault: VaultSession,
  keys: MetadataKeys,
  state: State,
  previousDigest: string | null,
): Promise<Pick<KeyringChange, "v" | "user_id" | "key_epoch" | "state_rev" | "state">> {
  return {
    v: 1,
    user_id: vault.userId,
    key_epoch: keys.keyEpoch,
    state_rev: state.state_rev,
    state: await sealState(keys, vault.userId, state, previousDigest),
  };
}

function toSlotChanges(
  { slot, record }: { readonly slot: Slot; readonly record: ImageRecord },
  removedSlots: readonly Slot[] = [],
): Required<Pick<KeyringChange, "slots" | "image_records">> {
  const [removedIds, removedImageIds] = [removedSlots, removedSlots.filter(({ kind }) => kind === "image")].map(
    (slots) => slots.map(({ opener_id: id }) => id),
  );
  return {
    slots: { set: [slot], remove: removedIds ?? [] },
    image_records: { set: [record], remove: removedImageIds ?? [] },
  };
}
