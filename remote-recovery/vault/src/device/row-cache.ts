import type { StoredSecret } from "@relicario/shared/api";
import { deviceStorage } from "@relicario/shared/contract";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import { utf8, wipe, type Bytes } from "../seal/bytes.ts";
import type { Device, WrappedData } from "./device.ts";

/*
 * [Note: Kept rows] An own device caches the sealed rows of the list, so that a page loaded later
 * fetches only changes.
 * 1. Only a list that was verified against the signed state is cached. It is verified against that
 *    state again before it is trusted, and each label against its digest when opened. On a
 *    mismatch, the cache is dropped and the whole list is fetched.
 * 2. Rows are grouped into blocks by the last byte of their id. Each block is wrapped by the device
 *    key for this account; a head holds the account's counters. A change unwraps, changes and wraps
 *    the blocks that it touches. It is written in one transaction, and only if no other tab wrote
 *    meanwhile. Changes since an older counter may be merged into newer rows, because they include
 *    everything newer.
 * 3. Best effort: nothing is cached without IndexedDB, on a full disk, or with an undecryptable
 *    block.
 */

/** A sealed row, with its label's digest and claimed revision for computing roots. */
export interface CachedRow {
  readonly rev: number;
  readonly labelHex: string;
  readonly row: StoredSecret;
}

/**
 * Checks only members and types. Formats of ids, times and labels were checked on receipt, and
 * checking 10,000 rows again takes as long as reading them.
 */
const CachedRows = z.array(
  z.object({
    rev: z.number(),
    labelHex: z.string(),
    row: z.object({
      secret_db_id: z.string(),
      version: z.number(),
      favorite: z.boolean(),
      label: z.string(),
      size: z.number(),
      created_at: z.string(),
      updated_at: z.string(),
      deleted_at: z.string().exactOptional(),
      trash_confirmed_at: z.string().exactOptional(),
      dropped_at: z.string().exactOptional(),
    } satisfies Readonly<Record<keyof StoredSecret, z.ZodType>>),
  }),
) satisfies z.ZodType<CachedRow[]>;

interface CachedRowList {
  readonly rows: readonly CachedRow[];
  readonly stateRev: number;
  readonly changes: number;
}

/** Result of one or more consecutive fetches. */
export interface FetchedRows {
  /** Counter after which the first fetch requested changes; null if it fetched all rows. */
  readonly since: number | null;
  readonly rows: ReadonlyMap<string, CachedRow>;
  readonly purged: ReadonlySet<string>;
  /** Counters after the last fetch. */
  readonly stateRev: number;
  readonly changes: number;
}

export interface RowCache {
  /** Null if there is no readable cache. */
  readonly read: () => Promise<CachedRowList | null>;
  /** Stores fetched rows. Clears the cache if the changes do not continue it. */
  readonly write: (fetched: FetchedRows) => Promise<void>;
  readonly clear: () => Promise<void>;
}

/** Blocks per account. A change wraps whole blocks of about 200 kB each at 10,000 rows. */
const blockCount = 64;
const maxAttempts = 3;

const CacheHead = z.object({
  v: z.literal(1),
  userId: z.string(),
  stateRev: z.int().min(0),
  changes: z.int().min(0),
  write: z.string(),
});
/** `write` is the random id of the last write. */
type CacheHead = z.infer<typeof CacheHead>;

const bytesSchema = z.custom<Bytes>((value) => value instanceof Uint8Array);
const Block = z.object({ iv: bytesSchema, data: bytesSchema });

interface RowDatabaseSchema extends DBSchema {
  heads: { key: string; value: CacheHead };
  blocks: { key: [account: string, block: number]; value: WrappedData };
}

const { database: databaseName } = deviceStorage.rows;

export function createRowCache(device: Device, userId: string): RowCache {
  const { storageKey } = device;
  const accountRange = () => IDBKeyRange.bound([storageKey], [storageKey, []]);

  async function readHead(database: IDBPDatabase<RowDatabaseSchema>): Promise<CacheHead | null> {
    const head = CacheHead.safeParse(await database.get("heads", storageKey)).data;
    return head?.userId === userId ? head : null;
  }

  /** Null if undecryptable. */
  async function decryptBlock(value: unknown): Promise<CachedRow[] | null> {
    const block = Block.safeParse(value).data;
    const plainBytes = block === undefined ? null : await device.unwrap("rows", block);
    if (plainBytes === null) return null;
    const rows = CachedRows.safeParse(JSON.parse(new TextDecoder().decode(plainBytes)));
    wipe(plainBytes);
    return rows.data ?? null;
  }

  const encryptBlock = (rows: readonly CachedRow[]): Promise<WrappedData> =>
    device.wrap("rows", utf8(JSON.stringify(rows)));

  async function clear(database: IDBPDatabase<RowDatabaseSchema>): Promise<void> {
    const transaction = database.transaction(["heads", "blocks"], "readwrite");
    await Promise.all([
      transaction.objectStore("heads").delete(storageKey),
      transaction.objectStore("blocks").delete(accountRange()),
      transaction.done,
    ]);
  }

  async function replace(
    database: IDBPDatabase<RowDatabaseSchema>,
    { rows, stateRev, changes }: FetchedRows,
  ): Promise<void> {
    const wrappedBlocks: [number, WrappedData][] = [];
    for (const [blockIndex, blockRows] of groupByBlock([...rows.values()]))
      wrappedBlocks.push([blockIndex, await encryptBlock(blockRows)]);
    const transaction = database.transaction(["heads", "blocks"], "readwrite");
    const blocks = transaction.objectStore("blocks");
    await Promise.all([
      blocks.delete(accountRange()),
      ...wrappedBlocks.map(([blockIndex, value]) => blocks.put(value, [storageKey, blockIndex])),
      transaction.objectStore("heads").put({ v: 1, userId, stateRev, changes, write: crypto.randomUUID() }, storageKey),
      transaction.done,
    ]);
  }

  /** Returns false if another tab wrote meanwhile. */
  async function mergeChanges(
    database: IDBPDatabase<RowDatabaseSchema>,
    since: number,
    { rows, purged, stateRev, changes }: FetchedRows,
  ): Promise<boolean> {
    const head = await readHead(database);
    if (head === null || head.changes < since) {
      await clear(database);
      return true;
    }
    if (head.changes > changes || (head.changes === changes && head.stateRev >= stateRev)) return true;
    const changedRowsByBlock = groupByBlock([...rows.values()]);
    const touchedBlockIndexes = new Set([...changedRowsByBlock.keys(), ...[...purged].map(getBlockIndex)]);
    const wrappedBlocks: [number, WrappedData | null][] = [];
    for (const blockIndex of touchedBlockIndexes) {
      const value = await database.get("blocks", [storageKey, blockIndex]);
      const existing = value === undefined ? [] : await decryptBlock(value);
      if (existing === null) {
        await clear(database);
        return true;
      }
      const merged = new Map(existing.map((cachedRow) => [cachedRow.row.secret_db_id, cachedRow]));
      for (const cachedRow of changedRowsByBlock.get(blockIndex) ?? [])
        merged.set(cachedRow.row.secret_db_id, cachedRow);
      for (const id of purged) merged.delete(id);
      wrappedBlocks.push([blockIndex, merged.size === 0 ? null : await encryptBlock([...merged.values()])]);
    }
    const transaction = database.transaction(["heads", "blocks"], "readwrite");
    const [heads, blocks] = [transaction.objectStore("heads"), transaction.objectStore("blocks")];
    const currentHead = CacheHead.safeParse(await heads.get(storageKey)).data;
    const isUnchanged = currentHead?.write === head.write;
    await Promise.all([
      ...(isUnchanged
        ? wrappedBlocks.map(([blockIndex, value]) =>
            value === null ? blocks.delete([storageKey, blockIndex]) : blocks.put(value, [storageKey, blockIndex]),
          )
        : []),
      isUnchanged ? heads.put({ v: 1, userId, stateRev, changes, write: crypto.randomUUID() }, storageKey) : null,
      transaction.done,
    ]);
    return isUnchanged;
  }

  return {
    read: () =>
      withDatabase(async (database) => {
        const transaction = database.transaction(["heads", "blocks"]);
        const [storedHead, storedBlocks] = await Promise.all([
          transaction.objectStore("heads").get(storageKey),
          transaction.objectStore("blocks").getAll(accountRange()),
        ]);
        const head = CacheHead.safeParse(storedHead).data;
        if (head?.userId !== userId) return null;
        const rows: CachedRow[] = [];
        for (const block of await Promise.all(storedBlocks.map(decryptBlock))) {
          if (block === null) return null;
          rows.push(...block);
        }
        return { rows, stateRev: head.stateRev, changes: head.changes };
      }),
    write: async (fetched) => {
      await withDatabase(async (database) => {
        try {
          const { since } = fetched;
          if (since === null) await replace(database, fetched);
          else
            for (let written = false, attempt = 1; !written && attempt <= maxAttempts; attempt++)
              written = await mergeChanges(database, since, fetched);
        } catch {
          await clear(database); // probably a full disk: an incomplete list is useless, and clearing makes room
        }
      });
    },
    clear: async () => {
      await withDatabase(clear);
    },
  };
}

/** Null without IndexedDB, or if its database fails: the service then sends the whole list. */
async function withDatabase<T>(callback: (database: IDBPDatabase<RowDatabaseSchema>) => Promise<T>): Promise<T | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    const database = await openDB<RowDatabaseSchema>(databaseName, 1, {
      upgrade: (newDatabase) => {
        newDatabase.createObjectStore("heads");
        newDatabase.createObjectStore("blocks");
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
    try {
      return await callback(database);
    } finally {
      database.close();
    }
  } catch {
    return null; // nothing is lost, because the service has the rows
  }
}

/** Index by the last byte of the id, which is random in a UUIDv7. */
function getBlockIndex(secretId: string): number {
  return Number.parseInt(secretId.slice(-2), 16) % blockCount;
}

function groupByBlock(rows: readonly CachedRow[]): Map<number, CachedRow[]> {
  const blocks = new Map<number, CachedRow[]>();
  for (const cachedRow of rows) {
    const blockIndex = getBlockIndex(cachedRow.row.secret_db_id);
    const blockRows = blocks.get(blockIndex);
    if (blockRows === undefined) blocks.set(blockIndex, [cachedRow]);
    else blockRows.push(cachedRow);
  }
  return blocks;
}
