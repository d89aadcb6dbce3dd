import { maxBatchSecrets, maxJsonBodyBytes, toB64u, fromB64u, type NewSecret } from "@relicario/shared/api";
import type { ImportItem, StoredImport } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import { publishVersion } from "../acts/update.ts";
import { setFavorite } from "../acts/favorite-and-trash.ts";
import { unlock } from "../acts/unlock.ts";
import { refuseCancelled } from "../cancelled.ts";
import { randomBytes } from "../seal/bytes.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { isKey, type Protection, type Shown } from "../shown-image.ts";
import { checkRequest } from "../steps/check-request.ts";
import { openerChoice } from "../steps/choose-openers.ts";
import { keepPending } from "../steps/pending.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import { readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { sealInCall, sealRow, sealSmall } from "../steps/sealed-secret.ts";
import { firstChange, nextChange } from "../steps/signed-change.ts";
import type { ActOptions, FirstAccount, VaultContext } from "../vault-context.ts";
import { compareWith } from "./compare.ts";
import { isOfOneItem } from "./item-errors.ts";
import { sourceOf } from "./source.ts";
import { isStarred, saidOf } from "./starred.ts";

export interface ImportOptions extends ActOptions {
  /** Of the picture, where an account begins with it. */
  readonly name?: string;
  /** Items that do not fit a call follow. They can begin an account too. */
  readonly largeFollow?: boolean;
}

/** Every opener of the book. */
const allOpeners: Protection = { kind: "openers", openers: [] };

/**
 * About what label, state and JSON of one secret take in a call beside its content, and what its
 * ticket takes for each opener. In characters.
 */
const rowLength = 6_000;
const stanzaLength = 3_200;

/**
 * [Note: Import sequence]
 * 1. One opener is shown. It opens the account, or is the first picture of an account that begins
 *    with the first batch.
 * 2. The account's key for marks is made at the first import: a keyring change of its own, or part
 *    of the first one.
 * 3. Items are compared with what is kept, by their marks: what is there already is left.
 * 4. What is new goes in batches, each sealed once and published by one signed change with one
 *    call.
 * 5. Those of a batch that were favourites become favourites again.
 * 6. What differs becomes a new version of its secret, one by one.
 *
 * Stopped anywhere, what was published stays with its marks: the same items once more go on where
 * it stopped.
 *
 * @param items that fit one call each; see `maxSmallContentBytes`.
 * @throws PortalError `cancelled`, `quota_exceeded`, and those of unlocking and publishing, while
 *   nothing is stored and nothing has failed; after that they are in `stopped`. What is wrong with
 *   one item is in `failed`.
 */
export async function importSecrets(
  vault: VaultContext,
  items: readonly ImportItem[],
  shown: Shown,
  { name = "", largeFollow = false, ...options }: ImportOptions = {},
): Promise<StoredImport> {
  const quiet: ActOptions = options.signal === undefined ? {} : { signal: options.signal };
  let protection = await protectionBy(vault, shown, name, options);
  if (protection === allOpeners) await ensureImportKey(vault, quiet);
  const failed: { index: number; code: StoredImport["failed"][number]["code"] }[] = [];
  const unstarred: number[] = [];
  const account = await readAccount(vault, options.signal);
  const compared = await compareWith(vault, account, items, options);
  const openers = requireOpened(account)?.book.openers.length ?? 1;

  const [fresh, changed]: [Indexed[], (Indexed & { secretId: string })[]] = [[], []];
  for (const [index, item] of items.entries()) {
    const standing = compared[index];
    try {
      checkRequest({ ...item, protection: allOpeners });
    } catch (error) {
      failed.push({ index, code: toPortalError(error).code });
      continue;
    }
    if (standing?.standing === "new") fresh.push({ index, item });
    else if (standing?.standing === "changed") changed.push({ index, item, secretId: standing.secretId });
  }

  const total = fresh.length + changed.length;
  const same = compared.filter(({ standing }) => standing === "same").length;
  let [added, updated, done] = [0, 0, 0];
  const tell = (): void => options.onProgress?.({ phase: "sending", done, total });
  tell();
  try {
    if (fresh.length === 0 && largeFollow && protection !== allOpeners)
      await prepareAccount(vault, protection, options);
    for (const batch of batchesOf(fresh, openers)) {
      refuseCancelled(options.signal);
      const secretIds = await storeBatch(
        vault,
        batch.map(({ item }) => item),
        protection,
        quiet,
      );
      protection = allOpeners;
      added += batch.length;
      for (const [at, { index, item }] of batch.entries()) {
        const secretId = secretIds[at];
        if (item.favorite === true && secretId !== undefined && !(await isStarred(setFavorite(vault, secretId, true))))
          unstarred.push(index);
      }
      done += batch.length;
      tell();
    }
    for (const { index, item, secretId } of changed) {
      refuseCancelled(options.signal);
      try {
        await storeVersion(vault, secretId, item, quiet);
        updated += 1;
      } catch (error) {
        if (!isOfOneItem(error)) throw error;
        failed.push({ index, code: error.code });
      }
      done += 1;
      tell();
    }
  } catch (error) {
    if (added + updated + failed.length === 0) throw error;
    return { added, updated, same, failed, ...saidOf(unstarred), stopped: toPortalError(error).code };
  }
  return { added, updated, same, failed, ...saidOf(unstarred), stopped: null };
}

interface Indexed {
  readonly index: number;
  readonly item: ImportItem;
}

async function protectionBy(vault: VaultContext, shown: Shown, name: string, options: ActOptions): Promise<Protection> {
  if ((await readKeyring(vault, options.signal)) === null) {
    if (isKey(shown)) throw new PortalError("picture_needed");
    return { kind: "picture", shown, name };
  }
  const { opener } = await unlock(vault, shown, options.signal === undefined ? {} : { signal: options.signal });
  opener.forget();
  return allOpeners;
}

/** An account with a key for marks, kept on this device: what is published first begins it. */
async function prepareAccount(vault: VaultContext, protection: Protection, options: ActOptions): Promise<void> {
  const choice = openerChoice(vault, protection, options);
  try {
    const { first } = await choice.from(null);
    if (first?.book.import_key !== null) return;
    const marked = { ...first, book: { ...first.book, import_key: newImportKey() } };
    await keepPending(vault.device, marked);
    vault.pending = marked;
  } finally {
    choice.forget();
  }
}

/** Writes a key for marks into the book, unless there is one. */
export async function ensureImportKey(vault: VaultContext, options: ActOptions): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"there"> | { done: "there" }> => {
    const opened = requireOpened(account);
    if (account === null || opened?.book.import_key !== null) return { done: "there" };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], {
      documents: { book: { ...opened.book, import_key: newImportKey() } },
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "there" };
  };
  await publishUntilItFits(
    vault,
    {
      prepare,
      published: ({ view }: AccountView) => (view.opened?.book.import_key == null ? null : ("there" as const)),
    },
    options,
  );
}

function newImportKey(): string {
  return toB64u(randomBytes(32));
}

/** As many as one call takes, in their order. */
function* batchesOf(items: readonly Indexed[], openers: number): Generator<readonly Indexed[]> {
  const each = rowLength + stanzaLength * openers;
  let batch: Indexed[] = [];
  let length = 0;
  for (const one of items) {
    const more = each + Math.ceil((one.item.content.size * 4) / 3);
    if (batch.length === maxBatchSecrets || (batch.length > 0 && length + more > maxJsonBodyBytes / 2)) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(one);
    length += more;
  }
  if (batch.length > 0) yield batch;
}

/** Contents are sealed once, rows at every try. Gives the ids of the secrets. */
async function storeBatch(
  vault: VaultContext,
  items: readonly ImportItem[],
  protection: Protection,
  options: ActOptions,
): Promise<readonly string[]> {
  const createdAt = timestamp(vault.now());
  const sealed = await Promise.all(
    items.map(async (item) => ({ item, secretId: newId(vault.now()), ready: await sealSmall(item) })),
  );
  const choice = openerChoice(vault, protection, options);
  const importKey = newImportKey(); // for an account that begins with this batch

  const prepare = async (account: AccountView | null): Promise<Attempt<"stored">> => {
    const opened = requireOpened(account);
    const { openers, enrolled, first } = await choice.from(opened);
    const begins =
      first === null ? null : { ...first, book: { ...first.book, import_key: first.book.import_key ?? importKey } };
    const [keys, key] = [opened?.keys ?? begins?.keys, opened?.book.import_key ?? begins?.book.import_key];
    if (keys === undefined || key == null) throw new PortalError("opener_needed");
    const rows = await Promise.all(
      sealed.map(async ({ item, secretId, ready }) => {
        const described = { ...item, createdAt, source: await sourceOf(fromB64u(key), item) };
        return {
          secretId,
          ready,
          row: await sealRow(vault, keys, { secretId, version: 1, rev: 1 }, described, ready, openers),
        };
      }),
    );
    const roots = rows.map(({ row }) => row.root);
    const change =
      account === null || opened === null
        ? await firstChange(vault, requireFirst(begins), roots)
        : await nextChange(vault, account, opened, [...account.rows.values(), ...roots], { enrolled });
    const secrets = rows.map(({ secretId, ready, row: { label, ticket } }): NewSecret => ({
      secret_db_id: secretId,
      label,
      ticket,
      content: ready.content,
    }));
    return { change, send: () => vault.service.storeBatch({ secrets, keyring: change.keyring }), result: "stored" };
  };
  try {
    const published = ({ rows }: AccountView): "stored" | null =>
      sealed.every(({ secretId }) => rows.has(secretId)) ? "stored" : null; // new random ids
    await publishUntilItFits(vault, { prepare, published }, options);
    return sealed.map(({ secretId }) => secretId);
  } finally {
    choice.forget();
  }
}

function requireFirst(first: FirstAccount | null): FirstAccount {
  if (first === null) throw new PortalError("opener_needed"); // an account begins with an image
  return first;
}

async function storeVersion(
  vault: VaultContext,
  secretId: string,
  item: ImportItem,
  options: ActOptions,
): Promise<void> {
  const account = await readAccount(vault, options.signal);
  const { opened, row } = requireRow(account, secretId);
  const importKey = opened.book.import_key;
  const source = importKey === null ? undefined : await sourceOf(fromB64u(importKey), item);
  const { title, tags, contentKind, name, mime } = item;
  const ready = await sealInCall(vault, item, {});
  await publishVersion(
    vault,
    secretId,
    { version: row.version, rev: row.rev },
    { title, tags, content: { contentKind, name, mime }, source },
    ready,
    options,
  );
}
