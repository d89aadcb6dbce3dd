import { toB64u, type ImageRecord, type KeyringChange, type Slot } from "@relicario/shared/api";

import type { TitlesKeys } from "../seal/account-key.ts";
import { sealBook, type Book } from "../seal/book.ts";
import { digestOfJwe } from "../seal/document.ts";
import { signKeyringChange } from "../seal/account-signatures.ts";
import { sealRequests, type Requests } from "../seal/requests.ts";
import { sealShares, type Shares } from "../seal/shares.ts";
import { rootOf, sealState, stateDigest, type RootRow, type State } from "../seal/state.ts";
import type { FirstAccount, VaultContext } from "../vault-context.ts";
import type { AccountView } from "./read-account.ts";
import type { EnrolledImage } from "./choose-openers.ts";
import type { SignedChange } from "./publish.ts";
import type { OpenedKeyring } from "./read-keyring.ts";

/** What a change may hold beside the rows. */
interface Besides {
  /** Book, slot and image record of a new image. */
  readonly enrolled?: EnrolledImage | null;
  /** Documents that are replaced; a book stands in the place of that of `enrolled`. */
  readonly documents?: { readonly book?: Book; readonly shares?: Shares; readonly requests?: Requests };
  readonly purge?: readonly string[];
  readonly purgeVersions?: KeyringChange["purge_versions"];
}

/** The change that follows the account as it was read, with these rows in it. */
export async function nextChange(vault: VaultContext, account: AccountView, opened: OpenedKeyring, rows: readonly RootRow[], { enrolled = null, documents = {}, purge, purgeVersions }: Besides): Promise<SignedChange> {
  const { keys } = opened;
  const { keyring } = account.view;
  const { userId } = vault;
  const replaced = { ...(enrolled === null ? {} : { book: enrolled.book }), ...documents };
  const book = replaced.book === undefined ? null : await sealBook(keys, userId, replaced.book);
  const shares = replaced.shares === undefined ? null : await sealShares(keys, userId, replaced.shares);
  const requests = replaced.requests === undefined ? null : await sealRequests(keys, userId, replaced.requests);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: keyring.state_rev + 1,
    count: rows.length,
    root: rootOf(rows),
    book_sha256: book === null ? opened.state.book_sha256 : toB64u(digestOfJwe(book)),
    shares_sha256: shares === null ? opened.state.shares_sha256 : toB64u(digestOfJwe(shares)),
    requests_sha256: requests === null ? opened.state.requests_sha256 : toB64u(digestOfJwe(requests)),
  };
  const change: Omit<KeyringChange, "sig"> = {
    ...(await changeOf(vault, keys, state, stateDigest(keyring.state))),
    ...(book === null ? {} : { book }),
    ...(shares === null ? {} : { shares }),
    ...(requests === null ? {} : { requests }),
    ...(enrolled === null ? {} : entryOf(enrolled)),
    ...(purge === undefined ? {} : { purge: [...purge] }),
    ...(purgeVersions === undefined ? {} : { purge_versions: purgeVersions }),
  };
  return { keys, keyring: await signKeyringChange(keys, change), state, first: false };
}

/** The very first change: everything that a new account begins with. */
export async function firstChange(vault: VaultContext, first: FirstAccount, rows: readonly RootRow[]): Promise<SignedChange> {
  const { keys, statement } = first;
  const [book, shares] = await Promise.all([sealBook(keys, vault.userId, first.book), sealShares(keys, vault.userId, first.shares)]);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: 1,
    count: rows.length,
    root: rootOf(rows),
    book_sha256: toB64u(digestOfJwe(book)),
    shares_sha256: toB64u(digestOfJwe(shares)),
    requests_sha256: null,
  };
  const keyring = await signKeyringChange(keys, { ...(await changeOf(vault, keys, state, null)), book, shares, key_statement: statement, ...entryOf(first) });
  return { keys, keyring, state, first: true };
}

async function changeOf(vault: VaultContext, keys: TitlesKeys, state: State, previous: string | null): Promise<Pick<KeyringChange, "v" | "user_id" | "key_epoch" | "state_rev" | "state">> {
  return { v: 1, user_id: vault.userId, key_epoch: keys.keyEpoch, state_rev: state.state_rev, state: await sealState(keys, vault.userId, state, previous) };
}

function entryOf({ slot, record }: { readonly slot: Slot; readonly record: ImageRecord }): Pick<KeyringChange, "slots" | "image_records"> {
  return { slots: { set: [slot], remove: [] }, image_records: { set: [record], remove: [] } };
}
