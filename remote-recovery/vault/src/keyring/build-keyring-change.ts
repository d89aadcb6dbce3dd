import {
  toBase64url,
  type ImageRecord,
  type Keyring,
  type KeyringChange,
  type KeyStatement,
  type Slot,
} from "@relicario/shared/api";

import type { MetadataKeys } from "../seal/account-key.ts";
import { sealBook, type Book } from "../seal/book.ts";
import { computeJweDigest } from "../seal/document.ts";
import { signKeyringChange } from "../seal/account-signatures.ts";
import { sealRequests, type Requests } from "../seal/requests.ts";
import { sealShares, type Shares } from "../seal/shares.ts";
import { computeRoot, sealState, computeStateDigest, type RootRow, type State } from "../seal/state.ts";
import type { FirstAccount } from "../device/pending-account.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { AccountView } from "./read-account.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";

/**
 * An image made an opener just now: what the keyring change that publishes it needs. Nothing of it
 * is secret.
 */
export interface EnrolledImage {
  /** The book with it. */
  readonly book: Book;
  readonly record: ImageRecord;
  readonly slot: Slot;
}

/** What a change may hold beside the rows. */
export interface ChangeParts {
  /** Book, slot and image record of a new image. */
  readonly enrolledImage?: EnrolledImage | null;
  /** Documents that are replaced; a book stands in the place of that of `enrolledImage`. */
  readonly documents?: { readonly book?: Book; readonly shares?: Shares; readonly requests?: Requests };
  /** Of openers that are added or taken away, when the book goes with them. */
  readonly slots?: KeyringChange["slots"];
  readonly imageRecords?: KeyringChange["image_records"];
  readonly purge?: readonly string[];
  readonly purgeVersions?: KeyringChange["purge_versions"];
  /** Rows that were staged, which the change switches to. */
  readonly stage?: { readonly id: string; readonly sha256: string };
  /** A new account key: everything is sealed with its keys, and signed with those before. */
  readonly rotated?: { readonly keys: MetadataKeys; readonly statement: KeyStatement };
}

/** The change that follows the account as it was read, with these rows in it. */
export async function buildNextChange(
  vault: VaultSession,
  account: AccountView,
  openedKeyring: OpenedKeyring,
  rows: readonly RootRow[],
  { enrolledImage = null, documents = {}, slots, imageRecords, purge, purgeVersions, stage, rotated }: ChangeParts,
): Promise<SignedChange> {
  const keys = rotated?.keys ?? openedKeyring.keys;
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
  const change: Omit<KeyringChange, "sig"> = {
    ...(await buildChangeCore(vault, keys, state, computeStateDigest(keyring.state))),
    ...(book === null ? {} : { book }),
    ...(shares === null ? {} : { shares }),
    ...(requests === null ? {} : { requests }),
    ...(enrolledImage === null ? {} : toSlotChanges(enrolledImage)),
    ...(slots === undefined ? {} : { slots }),
    ...(imageRecords === undefined ? {} : { image_records: imageRecords }),
    ...(purge === undefined ? {} : { purge: [...purge] }),
    ...(purgeVersions === undefined ? {} : { purge_versions: purgeVersions }),
    ...(stage === undefined ? {} : { stage_id: stage.id, stage_sha256: stage.sha256 }),
    ...(rotated === undefined ? {} : { key_statement: rotated.statement }),
  };
  return { keys, keyring: await signKeyringChange(openedKeyring.keys, change), state, createsAccount: false };
}

/**
 * The very first change: everything that a new account begins with.
 *
 * @param previousKeyring the keyring that an account that is started anew follows, and whose
 *   openers all go.
 */
export async function buildFirstChange(
  vault: VaultSession,
  firstAccount: FirstAccount,
  rows: readonly RootRow[],
  previousKeyring: Keyring | null = null,
): Promise<SignedChange> {
  const { keys, statement } = firstAccount;
  const [book, shares] = await Promise.all([
    sealBook(keys, vault.userId, firstAccount.book),
    sealShares(keys, vault.userId, firstAccount.shares),
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
  const previous = previousKeyring === null ? null : computeStateDigest(previousKeyring.state);
  const { slots, image_records: imageRecords } = toSlotChanges(firstAccount, previousKeyring?.slots);
  const keyring = await signKeyringChange(keys, {
    ...(await buildChangeCore(vault, keys, state, previous)),
    book,
    shares,
    key_statement: statement,
    slots,
    image_records: imageRecords,
  });
  return { keys, keyring, state, createsAccount: true };
}

async function buildChangeCore(
  vault: VaultSession,
  keys: MetadataKeys,
  state: State,
  previous: string | null,
): Promise<Pick<KeyringChange, "v" | "user_id" | "key_epoch" | "state_rev" | "state">> {
  return {
    v: 1,
    user_id: vault.userId,
    key_epoch: keys.keyEpoch,
    state_rev: state.state_rev,
    state: await sealState(keys, vault.userId, state, previous),
  };
}

function toSlotChanges(
  { slot, record }: { readonly slot: Slot; readonly record: ImageRecord },
  removedSlots: readonly Slot[] = [],
): Required<Pick<KeyringChange, "slots" | "image_records">> {
  const [ids, imageIds] = [removedSlots, removedSlots.filter(({ kind }) => kind === "image")].map((slots) =>
    slots.map(({ opener_id: id }) => id),
  );
  return { slots: { set: [slot], remove: ids ?? [] }, image_records: { set: [record], remove: imageIds ?? [] } };
}
