import { toB64u, type KeyringChange } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { deriveAccountKeys, importAccountKey, newAccountKeyBytes, withAccountKeyBytes, type AccountKey, type AccountKeys } from "../seal/account-key.ts";
import { sealBook } from "../seal/book.ts";
import { copyOf, wipe } from "../seal/bytes.ts";
import { digestOfJwe } from "../seal/document.ts";
import { makeKeyStatement, signKeyringChange } from "../seal/account-signatures.ts";
import { emptyShares, sealShares } from "../seal/shares.ts";
import { sealSlot } from "../seal/opener.ts";
import { rootOf, sealState, stateDigest, type RootRow, type State } from "../seal/state.ts";
import type { VaultContext } from "../vault-context.ts";
import type { AccountView } from "./read-account.ts";
import type { ChosenOpeners, FreshImage } from "./choose-openers.ts";
import { firstKeyEpoch, keepPending, pendingAccountKey } from "./pending.ts";
import type { SignedChange } from "./publish.ts";
import type { OpenedKeyring } from "./read-keyring.ts";

/** What a change may hold beside the rows. */
interface Besides {
  /** Book, slot and image record, when a new image comes with it. */
  readonly chosen?: ChosenOpeners;
  readonly purge?: readonly string[];
  readonly purgeVersions?: KeyringChange["purge_versions"];
}

/** The change that follows the account as it was read, with these rows in it. */
export async function nextChange(vault: VaultContext, account: AccountView, opened: OpenedKeyring, rows: readonly RootRow[], { chosen, purge, purgeVersions }: Besides): Promise<SignedChange> {
  const { keys } = opened;
  const { keyring } = account.view;
  const fresh = chosen?.fresh ?? null;
  const book = chosen === undefined || fresh === null ? null : await sealBook(keys, vault.userId, chosen.book);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: keyring.state_rev + 1,
    count: rows.length,
    root: rootOf(rows),
    book_sha256: book === null ? opened.state.book_sha256 : toB64u(digestOfJwe(book)),
    shares_sha256: opened.state.shares_sha256,
  };
  const change: Omit<KeyringChange, "sig"> = {
    v: 1,
    user_id: vault.userId,
    key_epoch: keys.keyEpoch,
    state_rev: state.state_rev,
    state: await sealState(keys, vault.userId, state, stateDigest(keyring.state)),
    ...(book === null || fresh === null ? {} : { book, ...(await entryOf(vault, keys, fresh)) }),
    ...(purge === undefined ? {} : { purge: [...purge] }),
    ...(purgeVersions === undefined ? {} : { purge_versions: purgeVersions }),
  };
  return { keys, keyring: await signKeyringChange(keys, change), state, fresh };
}

/** Account key of the very first change: one that waits, or a new one, stored before anything is sent. `storage_full`. */
export async function firstKeys(vault: VaultContext): Promise<AccountKeys> {
  return deriveAccountKeys((await pendingAccountKey(vault.device)) ?? (await makePending(vault)));
}

/** The very first change: everything that hangs on the account key. @throws PortalError `opener_needed`. */
export async function firstChange(vault: VaultContext, keys: AccountKeys, rows: readonly RootRow[], chosen: ChosenOpeners): Promise<SignedChange> {
  const { fresh } = chosen;
  if (fresh === null) throw new PortalError("opener_needed"); // an account begins with an image: without one nothing could open it
  const [book, shares, statement, entry] = await Promise.all([
    sealBook(keys, vault.userId, chosen.book),
    sealShares(keys, vault.userId, emptyShares()),
    makeKeyStatement(keys, vault.userId),
    entryOf(vault, keys, fresh),
  ]);
  const state: State = {
    v: 1,
    key_epoch: keys.keyEpoch,
    state_rev: 1,
    count: rows.length,
    root: rootOf(rows),
    book_sha256: toB64u(digestOfJwe(book)),
    shares_sha256: toB64u(digestOfJwe(shares)),
  };
  const keyring = await signKeyringChange(keys, {
    v: 1,
    user_id: vault.userId,
    key_epoch: keys.keyEpoch,
    state_rev: 1,
    state: await sealState(keys, vault.userId, state, null),
    book,
    shares,
    key_statement: statement,
    ...entry,
  });
  return { keys, keyring, state, fresh };
}

/** Slot and image record of an image that becomes an opener. */
async function entryOf(vault: VaultContext, keys: AccountKeys, { opener, record }: FreshImage): Promise<Pick<KeyringChange, "slots" | "image_records">> {
  const place = { userId: vault.userId, keyEpoch: keys.keyEpoch };
  const slot = await withAccountKeyBytes(keys.accountKey, (bytes) => sealSlot(opener, place, bytes));
  return { slots: { set: [{ opener_id: opener.openerId, kind: "image", slot: toB64u(slot) }], remove: [] }, image_records: { set: [record], remove: [] } };
}

async function makePending(vault: VaultContext): Promise<AccountKey> {
  const bytes = newAccountKeyBytes();
  try {
    await keepPending(vault.device, bytes);
    return await importAccountKey(copyOf(bytes), firstKeyEpoch);
  } finally {
    wipe(bytes);
  }
}
