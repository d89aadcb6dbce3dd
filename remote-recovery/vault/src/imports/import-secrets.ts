import { maxBatchSecrets, maxJsonBodyBytes, toBase64url, fromBase64url, type NewSecret } from "@relicario/shared/api";
import type { ImportItem, ImportResult } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import { publishVersion } from "../operations/update.ts";
import { setFavorite } from "../operations/favorite-and-trash.ts";
import { unlock } from "../openers/unlock.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { randomBytes } from "../seal/bytes.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { isPresentedKey, type Protection, type PresentedOpener } from "../rpc/presented-opener.ts";
import { validateProtectRequest } from "../secrets/validate-request.ts";
import { createOpenerChooser } from "../openers/choose-openers.ts";
import { savePendingAccount, type NewAccountDocuments } from "../device/pending-account.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { sealInlineContent, sealRow, sealSmallContent } from "../secrets/seal-secret.ts";
import { buildFirstChange, buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { compareWithAccount } from "./compare-import.ts";
import { isItemError } from "./item-errors.ts";
import { computeSource } from "./source.ts";
import { trySetFavorite, toFailedFavoriteFields } from "./favorites.ts";

export interface ImportOptions extends OperationOptions {
  /** Name of the picture; used when the import creates the account. */
  readonly name?: string;
  /** Whether items that are too large for one call follow. They can also create the account. */
  readonly hasLargeItems?: boolean;
}

/** Stands for every opener of the book. */
const allOpeners: Protection = { kind: "openers", openerIds: [] };

/**
 * Estimated characters of a secret in a call, without its content: label, state and JSON per
 * secret, then the ticket's share per opener.
 */
const rowLength = 6_000;
const stanzaLength = 3_200;

/**
 * [Note: Import sequence]
 * 1. One opener is presented. It opens the account, or is the first picture of an account that the
 *    first batch creates.
 * 2. The first import creates the account's import key, which marks items, by its own keyring
 *    change or as part of the account's first change.
 * 3. Items are compared with the account by their marks. Unchanged items are skipped.
 * 4. New items are stored in batches. Each batch is sealed once and published with one signed
 *    change in one call.
 * 5. Items that were favourites are marked as favourites after their batch.
 * 6. Each changed item becomes a new version of its secret.
 *
 * After an interruption, published items keep their marks, so that importing the same items again
 * continues.
 *
 * @param items each fits into one call; see `maxSmallContentBytes`
 * @throws PortalError `cancelled`, `quota_exceeded`, and errors of unlocking and publishing, if no
 *   item was stored or has failed yet. Later errors are in `stopReason`; errors of single items are
 *   in `failures`.
 */
export async function importSecrets(
  vault: VaultSession,
  items: readonly ImportItem[],
  presentedOpener: PresentedOpener,
  { name = "", hasLargeItems = false, ...options }: ImportOptions = {},
): Promise<ImportResult> {
  const quietOptions: OperationOptions = options.signal === undefined ? {} : { signal: options.signal };
  let protection = await resolveProtection(vault, presentedOpener, name, options);
  if (protection === allOpeners) await ensureImportKey(vault, quietOptions);
  const failures: { index: number; code: ImportResult["failures"][number]["code"] }[] = [];
  const failedFavoriteIndexes: number[] = [];
  const account = await readAccount(vault, options.signal);
  const comparisons = await compareWithAccount(vault, account, items, options);
  const openerCount = requireOpenedKeyring(account)?.book.openers.length ?? 1;

  const [newItems, changedItems]: [IndexedItem[], (IndexedItem & { secretId: string })[]] = [[], []];
  for (const [index, item] of items.entries()) {
    const comparison = comparisons[index];
    try {
      validateProtectRequest({ ...item, protection: allOpeners });
    } catch (error) {
      failures.push({ index, code: toPortalError(error).code });
      continue;
    }
    if (comparison?.status === "new") newItems.push({ index, item });
    else if (comparison?.status === "changed") changedItems.push({ index, item, secretId: comparison.secretId });
  }

  const total = newItems.length + changedItems.length;
  const unchanged = comparisons.filter(({ status }) => status === "same").length;
  let [added, updated, done] = [0, 0, 0];
  const reportProgress = (): void => options.onProgress?.({ phase: "sending", done, total });
  reportProgress();
  try {
    if (newItems.length === 0 && hasLargeItems && protection !== allOpeners)
      await prepareAccount(vault, protection, options);
    for (const batch of splitIntoBatches(newItems, openerCount)) {
      throwIfCancelled(options.signal);
      const secretIds = await storeBatch(
        vault,
        batch.map(({ item }) => item),
        protection,
        quietOptions,
      );
      protection = allOpeners;
      added += batch.length;
      for (const [position, { index, item }] of batch.entries()) {
        const secretId = secretIds[position];
        if (
          item.favorite === true &&
          secretId !== undefined &&
          !(await trySetFavorite(setFavorite(vault, secretId, true)))
        )
          failedFavoriteIndexes.push(index);
      }
      done += batch.length;
      reportProgress();
    }
    for (const { index, item, secretId } of changedItems) {
      throwIfCancelled(options.signal);
      try {
        await storeVersion(vault, secretId, item, quietOptions);
        updated += 1;
      } catch (error) {
        if (!isItemError(error)) throw error;
        failures.push({ index, code: error.code });
      }
      done += 1;
      reportProgress();
    }
  } catch (error) {
    if (added + updated + failures.length === 0) throw error;
    return {
      added,
      updated,
      unchanged,
      failures,
      ...toFailedFavoriteFields(failedFavoriteIndexes),
      stopReason: toPortalError(error).code,
    };
  }
  return { added, updated, unchanged, failures, ...toFailedFavoriteFields(failedFavoriteIndexes), stopReason: null };
}

interface IndexedItem {
  readonly index: number;
  readonly item: ImportItem;
}

async function resolveProtection(
  vault: VaultSession,
  picture: PresentedOpener,
  name: string,
  options: OperationOptions,
): Promise<Protection> {
  if ((await refreshKeyring(vault, options.signal)) === null) {
    if (isPresentedKey(picture)) throw new PortalError("picture_needed");
    return { kind: "picture", picture, name };
  }
  const { opener } = await unlock(vault, picture, options.signal === undefined ? {} : { signal: options.signal });
  opener.wipe();
  return allOpeners;
}

/**
 * Saves a new account with an import key on this device. The first publication creates the account.
 */
async function prepareAccount(vault: VaultSession, protection: Protection, options: OperationOptions): Promise<void> {
  const openerChooser = createOpenerChooser(vault, protection, options);
  try {
    await vault.runExclusive(async () => {
      await openerChooser.choose(null);
      const { adoptedAccount } = vault;
      if (adoptedAccount?.documents.book.import_key !== null) return;
      const { documents, accountKey } = adoptedAccount;
      const markedAccount = { ...documents, book: { ...documents.book, import_key: generateImportKey() } };
      await savePendingAccount(vault.device, markedAccount);
      vault.adopt({ documents: markedAccount, accountKey });
    });
  } finally {
    openerChooser.dispose();
  }
}

/** Adds an import key to the book, unless the book has one. */
async function ensureImportKey(vault: VaultSession, options: OperationOptions): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"present"> | { done: "present" }> => {
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring?.book.import_key !== null) return { done: "present" };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { book: { ...openedKeyring.book, import_key: generateImportKey() } },
    });
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: "present" };
  };
  await publishWithRetry(
    vault,
    {
      prepare,
      findPublished: ({ view }: AccountView) =>
        view.openedKeyring?.book.import_key == null ? null : ("present" as const),
    },
    options,
  );
}

function generateImportKey(): string {
  return toBase64url(randomBytes(32));
}

/** Splits items, in order, into batches that fit into one call. */
function* splitIntoBatches(items: readonly IndexedItem[], openerCount: number): Generator<readonly IndexedItem[]> {
  const itemOverhead = rowLength + stanzaLength * openerCount;
  let batch: IndexedItem[] = [];
  let length = 0;
  for (const indexedItem of items) {
    const itemLength = itemOverhead + Math.ceil((indexedItem.item.content.size * 4) / 3);
    if (batch.length === maxBatchSecrets || (batch.length > 0 && length + itemLength > maxJsonBodyBytes / 2)) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(indexedItem);
    length += itemLength;
  }
  if (batch.length > 0) yield batch;
}

/** Stores new secrets and returns their ids. Contents are sealed once, rows at each attempt. */
async function storeBatch(
  vault: VaultSession,
  items: readonly ImportItem[],
  protection: Protection,
  options: OperationOptions,
): Promise<readonly string[]> {
  const createdAt = formatTimestamp(vault.now());
  const sealed = await Promise.all(
    items.map(async (item) => ({ item, secretId: newId(vault.now()), sealedContent: await sealSmallContent(item) })),
  );
  const openerChooser = createOpenerChooser(vault, protection, options);
  const importKey = generateImportKey(); // used only if this batch creates the account

  const prepare = async (account: AccountView | null): Promise<Attempt<"stored">> => {
    const openedKeyring = requireOpenedKeyring(account);
    const { openers, enrolledImage, newAccount: chosenAccount } = await openerChooser.choose(openedKeyring);
    const firstAccount =
      chosenAccount === null
        ? null
        : { ...chosenAccount, book: { ...chosenAccount.book, import_key: chosenAccount.book.import_key ?? importKey } };
    const [keys, markKey] = [
      openedKeyring?.keys ?? firstAccount?.keys,
      openedKeyring?.book.import_key ?? firstAccount?.book.import_key,
    ];
    if (keys === undefined || markKey == null) throw new PortalError("opener_needed");
    const rows = await Promise.all(
      sealed.map(async ({ item, secretId, sealedContent }) => {
        const rowContent = { ...item, createdAt, source: await computeSource(fromBase64url(markKey), item) };
        return {
          secretId,
          sealedContent,
          row: await sealRow(vault, keys, { secretId, version: 1, rev: 1 }, rowContent, sealedContent, openers),
        };
      }),
    );
    const rootRows = rows.map(({ row }) => row.root);
    const change =
      account === null || openedKeyring === null
        ? await buildFirstChange(vault, vault.requireAccountKeyOf(keys), requireFirstAccount(firstAccount), rootRows)
        : await buildNextChange(vault, account, openedKeyring, [...account.rows.values(), ...rootRows], {
            enrolledImage,
          });
    const secrets = rows.map(({ secretId, sealedContent, row: { root: _, ...sealed } }): NewSecret => ({
      secret_db_id: secretId,
      ...sealed,
      content: sealedContent.content,
    }));
    return {
      change,
      send: () => vault.service.storeBatch({ secrets, keyring: change.keyringChange }),
      result: "stored",
    };
  };
  try {
    const findPublished = ({ rows }: AccountView): "stored" | null =>
      sealed.every(({ secretId }) => rows.has(secretId)) ? "stored" : null; // random ids: the rows are ours
    await publishWithRetry(vault, { prepare, findPublished }, options);
    return sealed.map(({ secretId }) => secretId);
  } finally {
    openerChooser.dispose();
  }
}

function requireFirstAccount(firstAccount: NewAccountDocuments | null): NewAccountDocuments {
  if (firstAccount === null) throw new PortalError("opener_needed"); // only an image can open a new account
  return firstAccount;
}

async function storeVersion(
  vault: VaultSession,
  secretId: string,
  item: ImportItem,
  options: OperationOptions,
): Promise<void> {
  const account = await readAccount(vault, options.signal);
  const { openedKeyring, row } = requireRow(account, secretId);
  const importKey = openedKeyring.book.import_key;
  const source = importKey === null ? undefined : await computeSource(fromBase64url(importKey), item);
  const { title, tags, contentKind, name, mime } = item;
  const sealedContent = await sealInlineContent(vault, item, {});
  await publishVersion(
    vault,
    secretId,
    { version: row.version, rev: row.rev },
    { title, tags, content: { contentKind, name, mime }, source },
    sealedContent,
    options,
  );
}
