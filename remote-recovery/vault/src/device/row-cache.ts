import type { StoredSecret } from "@relicario/shared/api";
import { deviceStorage } from "@relicario/shared/contract";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import { utf8, wipe, type Bytes } from "../seal/bytes.ts";
import type { Device, WrappedData } from "./device.ts";

/*
 * [Note: Kept rows] A device of the person's own keeps the rows of the list as they were sealed, so
 * that a page loaded later asks for what changed.
 * 1. Only a list that was compared with the signed state is kept, and what is kept is compared with
 *    the state of then before any of it is believed; a label with its digest when it is opened.
 *    What does not fit is dropped, and the list is read whole.
 * 2. Rows stand in blocks by the last byte of their id, each wrapped by the device key, for this
 *    account. Beside them stands where the account's counters were. A change reads, changes and
 *    wraps the blocks that it touches, and is written in one transaction only if nobody else wrote
 *    meanwhile. Changes since an older counter may be laid over newer rows: they hold all that is
 *    newer.
 * 3. Everything here is best effort: without IndexedDB, with a full disk or a block that does not
 *    open nothing is kept.
 */

/**
 * A row as it is kept: ciphertext as it came, with its digest and the revision that it claims, so
 * that a root needs neither of both again.
 */
export interface CachedRow {
  readonly rev: number;
  readonly labelHex: string;
  readonly row: StoredSecret;
}

/**
 * Members and their types alone: the formats of ids, times and labels were judged when they came,
 * and judging 10,000 again takes as long as reading them.
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
      dropped_at: z.string().exactOptional(),
    }),
  }),
) satisfies z.ZodType<CachedRow[]>;

/** All rows that are kept, and where the account's counters stood. */
interface CachedRowList {
  readonly rows: readonly CachedRow[];
  readonly stateRev: number;
  readonly changes: number;
}

/** What one or more readings brought, one after another. */
export interface FetchedRows {
  /** The counter that the first of them asked from; null where all rows were read. */
  readonly since: number | null;
  readonly rows: ReadonlyMap<string, CachedRow>;
  readonly purged: ReadonlySet<string>;
  /** Where the counters stood after the last. */
  readonly stateRev: number;
  readonly changes: number;
}

/** The rows of one account on this device. */
export interface RowCache {
  /** Null when nothing is kept that can be read. */
  readonly read: () => Promise<CachedRowList | null>;
  /** Writes what was read; changes that do not follow what is kept take it away. */
  readonly write: (fetched: FetchedRows) => Promise<void>;
  readonly clear: () => Promise<void>;
}

/** Blocks of one account. A change wraps a whole block: at 10,000 rows some 200 kB. */
const blockCount = 64;
/** Tries to write before it is left to another tab. */
const maxAttempts = 3;

const CacheHead = z.object({
  v: z.literal(1),
  userId: z.string(),
  stateRev: z.int().min(0),
  changes: z.int().min(0),
  write: z.string(),
});
/** `write` names the write that it is of. */
type CacheHead = z.infer<typeof CacheHead>;

const bytesSchema = z.custom<Bytes>((value) => value instanceof Uint8Array);
const Block = z.object({ iv: bytesSchema, data: bytesSchema });

interface RowDatabaseSchema extends DBSchema {
  heads: { key: string; value: CacheHead };
  blocks: { key: [account: string, block: number]; value: WrappedData };
}

const { database: databaseName } = deviceStorage.rows;

export function createRowCache(device: Device, userId: string): RowCache {
  const { name } = device;
  const accountRange = () => IDBKeyRange.bound([name], [name, []]);

  async function readHead(database: IDBPDatabase<RowDatabaseSchema>): Promise<CacheHead | null> {
    const head = CacheHead.safeParse(await database.get("heads", name)).data;
    return head?.userId === userId ? head : null;
  }

  /** Null for a block that does not open. */
  async function decryptBlock(value: unknown): Promise<CachedRow[] | null> {
    const block = Block.safeParse(value).data;
    const plain = block === undefined ? null : await device.unwrap("rows", block);
    if (plain === null) return null;
    const rows = CachedRows.safeParse(JSON.parse(new TextDecoder().decode(plain)));
    wipe(plain);
    return rows.data ?? null;
  }

  const encryptBlock = (rows: readonly CachedRow[]): Promise<WrappedData> =>
    device.wrap("rows", utf8(JSON.stringify(rows)));

  async function clear(database: IDBPDatabase<RowDatabaseSchema>): Promise<void> {
    const transaction = database.transaction(["heads", "blocks"], "readwrite");
    await Promise.all([
      transaction.objectStore("heads").delete(name),
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
      ...wrappedBlocks.map(([blockIndex, value]) => blocks.put(value, [name, blockIndex])),
      transaction.objectStore("heads").put({ v: 1, userId, stateRev, changes, write: crypto.randomUUID() }, name),
      transaction.done,
    ]);
  }

  /** False when another tab wrote meanwhile. */
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
      const value = await database.get("blocks", [name, blockIndex]);
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
    const currentHead = CacheHead.safeParse(await heads.get(name)).data;
    const isUnchanged = currentHead?.write === head.write;
    await Promise.all([
      ...(isUnchanged
        ? wrappedBlocks.map(([blockIndex, value]) =>
            value === null ? blocks.delete([name, blockIndex]) : blocks.put(value, [name, blockIndex]),
          )
        : []),
      isUnchanged ? heads.put({ v: 1, userId, stateRev, changes, write: crypto.randomUUID() }, name) : null,
      transaction.done,
    ]);
    return isUnchanged;
  }

  return {
    read: () =>
      withDatabase(async (database) => {
        const transaction = database.transaction(["heads", "blocks"]);
        const [storedHead, storedBlocks] = await Promise.all([
          transaction.objectStore("heads").get(name),
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
          await clear(database); // a full disk perhaps: half of a list helps nobody, and what is there makes room
        }
      });
    },
    clear: async () => {
      await withDatabase(clear);
    },
  };
}

/**
 * Null where this browser or mode keeps nothing, or its database fails: the list is then read from
 * the service.
 */
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
    return null; // nothing is lost: these are copies of what the service has
  }
}

/** Which block holds a row: by the last byte of its id, which is random in a UUIDv7. */
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
