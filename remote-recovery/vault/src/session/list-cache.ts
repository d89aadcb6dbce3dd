import type { StoredSecret } from "@relicario/shared/api";

import type { Device } from "../device/device.ts";
import { createRowCache, type FetchedRows } from "../device/row-cache.ts";
import { measure } from "./measure.ts";
import type { Label } from "../seal/label.ts";
import type { RootRow } from "../seal/state.ts";

/**
 * A row in memory, with the digest of its label and, once opened, the label. The digests let a
 * write compute the root of all rows from only the changes since the last reading.
 */
export interface AccountRow extends RootRow {
  readonly storedSecret: Omit<StoredSecret, "label">;
  /** Sealed label as sent; null once opened. */
  sealedLabel: string | null;
  /** Whether the row was read from the device; its digest is then compared when it is opened. */
  unchecked: boolean;
  /** The opened label; a promise, so that concurrent callers open it once. */
  labelPromise: Promise<Label> | null;
}

/** All rows as last read and verified, with the account's counter of row changes. */
export interface CachedList {
  readonly rows: ReadonlyMap<string, AccountRow>;
  readonly stateRev: number;
  readonly changes: number;
  /**
   * Rows fetched but not saved on the device; null if there are none, or the device caches no rows.
   */
  readonly unsavedRows: FetchedRows | null;
}

/**
 * The list as last read, in this worker and on an own device, see [Note: Kept rows]. Trusted no
 * more than data from the service.
 */
export interface ListCache {
  /** Null before the first reading and after a mismatch. */
  readonly get: () => CachedList | null;
  /** Loads the rows that an own device caches, once per worker. */
  readonly load: () => Promise<void>;
  readonly replace: (list: CachedList) => void;
  /** Makes the next reading fetch all rows; the device's cache stays. */
  readonly drop: () => void;
  /** Starts saving on an own device what was read since the last save. */
  readonly save: () => void;
  /** Resolves when {@link save} has finished. */
  readonly waitForSave: () => Promise<void>;
  /** Clears memory and device after a mismatch, so that the next reading fetches all rows. */
  readonly clear: () => Promise<void>;
  readonly clearDevice: () => Promise<void>;
}

export function createListCache(device: Device, userId: string): ListCache {
  const rowCache = createRowCache(device, userId);
  let current: CachedList | null = null;
  let loadPromise: Promise<void> | null = null;
  /** Never rejects. */
  let lastWritePromise: Promise<void> = Promise.resolve();

  async function restore(): Promise<void> {
    const list = (await device.read()).kind === "own" ? await rowCache.read() : null;
    if (list === null || current !== null) return;
    const rows = list.rows.map(({ rev, labelHex, row: { label: sealedLabel, ...stored } }): [string, AccountRow] => {
      const { secret_db_id: secretId, version } = stored;
      return [
        secretId,
        { secretId, version, rev, labelHex, storedSecret: stored, sealedLabel, unchecked: true, labelPromise: null },
      ];
    });
    current = { rows: new Map(rows), stateRev: list.stateRev, changes: list.changes, unsavedRows: null };
  }

  return {
    get: () => current,
    load: () => (loadPromise ??= measure("kept rows", restore)),
    replace: (list) => {
      current = list;
    },
    drop: () => {
      current = null;
    },
    save: () => {
      const unsaved = current?.unsavedRows ?? null;
      if (current === null || unsaved === null) return;
      current = { ...current, unsavedRows: null };
      lastWritePromise = lastWritePromise.then(() => rowCache.write(unsaved));
    },
    waitForSave: () => lastWritePromise,
    clear: async () => {
      current = null;
      loadPromise = Promise.resolve();
      await rowCache.clear();
    },
    clearDevice: () => rowCache.clear(),
  };
}
