import type { StoredSecret } from "@relicario/shared/api";

import type { Device } from "../device/device.ts";
import { createRowCache, type FetchedRows } from "../device/row-cache.ts";
import { measure } from "./measure.ts";
import type { Label } from "../seal/label.ts";
import type { RootRow } from "../seal/state.ts";

/**
 * A row as the vault holds it in memory: with the digest of its label, and the label once it was
 * opened. With these a write needs only the changes since the last reading to compute the root over
 * all rows.
 */
export interface AccountRow extends RootRow {
  readonly stored: Omit<StoredSecret, "label">;
  /** As sent; dropped once it is opened. */
  sealedLabel: string | null;
  /** It was kept on the device: its digest is compared when it is opened. */
  unchecked: boolean;
  /** The opened label, as a promise, so that two callers at the same time open it once. */
  label: Promise<Label> | null;
}

/**
 * All rows as they were read and checked last, and where the account's counter of row changes
 * stood.
 */
export interface CachedList {
  readonly rows: ReadonlyMap<string, AccountRow>;
  readonly stateRev: number;
  readonly changes: number;
  /**
   * What was read and not kept on the device yet. Null on a device that keeps no rows, and when
   * there is nothing new.
   */
  readonly unsaved: FetchedRows | null;
}

/**
 * The list as it was read last, in this worker and on an own device: [Note: Kept rows]. Believed no
 * more than what the service sends.
 */
export interface ListCache {
  /** Null before the first reading, and after one that did not fit. */
  readonly get: () => CachedList | null;
  /** Takes the rows that an own device keeps, once in the life of a worker. */
  readonly load: () => Promise<void>;
  readonly replace: (list: CachedList) => void;
  /** The next reading is of everything; what the device keeps stays. */
  readonly drop: () => void;
  /** Begins to write what was read since the last time to an own device. */
  readonly save: () => void;
  /** Answers when what {@link save} began is written. */
  readonly waitForSave: () => Promise<void>;
  /** What is held, here and on the device, does not fit: the next reading is of everything. */
  readonly clear: () => Promise<void>;
  readonly clearDevice: () => Promise<void>;
}

export function createListCache(device: Device, userId: string): ListCache {
  const rowCache = createRowCache(device, userId);
  let current: CachedList | null = null;
  let loading: Promise<void> | null = null;
  /** Never rejects. */
  let lastWrite: Promise<void> = Promise.resolve();

  async function restore(): Promise<void> {
    const list = (await device.read()).kind === "own" ? await rowCache.read() : null;
    if (list === null || current !== null) return;
    const rows = list.rows.map(({ rev, labelHex, row: { label: sealedLabel, ...stored } }): [string, AccountRow] => {
      const { secret_db_id: secretId, version } = stored;
      return [secretId, { secretId, version, rev, labelHex, stored, sealedLabel, unchecked: true, label: null }];
    });
    current = { rows: new Map(rows), stateRev: list.stateRev, changes: list.changes, unsaved: null };
  }

  return {
    get: () => current,
    load: () => (loading ??= measure("kept rows", restore)),
    replace: (list) => {
      current = list;
    },
    drop: () => {
      current = null;
    },
    save: () => {
      const unsaved = current?.unsaved ?? null;
      if (current === null || unsaved === null) return;
      current = { ...current, unsaved: null };
      lastWrite = lastWrite.then(() => rowCache.write(unsaved));
    },
    waitForSave: () => lastWrite,
    clear: async () => {
      current = null;
      loading = Promise.resolve();
      await rowCache.clear();
    },
    clearDevice: () => rowCache.clear(),
  };
}
