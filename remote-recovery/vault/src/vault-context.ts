import type { ImageRecord, KeyStatement, Slot, StoredSecret } from "@relicario/shared/api";
import type { VaultProgress, VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Engine } from "@relicario/engine";
import { lockedSince, type Device, type StateCheckpoint } from "./device/device.ts";
import { createRowCache, type RowCache, type FetchedRows } from "./device/row-cache.ts";
import { fromStoredMetadataKeys, type AccountKey, type MetadataKeys } from "./seal/account-key.ts";
import type { Book } from "./seal/book.ts";
import type { Label } from "./seal/label.ts";
import type { Shares } from "./seal/shares.ts";
import type { RootRow } from "./seal/state.ts";
import type { Service } from "./service/service.ts";
import { createClaims, type ViewClaims } from "./shares/claims.ts";
import { pauseFor, type Pause } from "./operation-parts/send-with-retry.ts";

/**
 * What a vault context is made of. Clock, pauses and locks are parameters so that tests can replace
 * them.
 */
export interface VaultContextDeps {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly device: Device;
  /** Starts locked, whatever the device keeps. */
  readonly locked?: boolean;
  /** Called after each change of the state. */
  readonly onStateChange: (state: VaultState) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly pause?: Pause;
  /** Web Locks, where the browser has them. */
  readonly locks?: WriterLocks | null;
}

/** An exclusive lock by name, held while `work` runs. */
export interface WriterLocks {
  readonly request: <T>(name: string, callback: () => Promise<T>) => Promise<T>;
}

/**
 * The vault of one signed-in person, as its worker holds it between acts. Acts and steps are
 * functions that take it; only they change `keys`.
 */
export interface VaultContext {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly device: Device;
  readonly now: () => number;
  readonly pause: Pause;
  /** Null while locked. */
  keys: MetadataKeys | null;
  /** From the showing of an opener until this worker ends; null before. */
  accountKey: AccountKey | null;
  /**
   * An account that this worker made, or whose opener was shown, and that is perhaps not published.
   */
  pending: FirstAccount | null;
  /** The newest state seen by this worker, where the device could not write it down. */
  checkpoint: StateCheckpoint | null;
  /** The state that was refused last as `older_state`: only this one may the person choose. */
  rejectedState: OlderState | null;
  /** Views of shares that this worker has asked for. */
  readonly claims: ViewClaims;
  /** The list as it was read last; see `operation-parts/read-account.ts`. */
  cachedList: CachedList | null;
  readonly rowCache: RowCacheState;
  readonly getState: () => VaultState;
  readonly setState: (state: VaultState) => void;
  /**
   * Runs writers one after another, those of this account in other tabs too, so that a device never
   * conflicts with itself.
   */
  readonly runExclusive: <T>(write: () => Promise<T>) => Promise<T>;
}

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

/** The rows on this device; see `device/kept-rows.ts`. */
export interface RowCacheState {
  readonly cache: RowCache;
  /** The one reading of them in the life of a worker; null before. */
  loading: Promise<void> | null;
  /** The newest write, which never rejects. */
  lastWrite: Promise<void>;
}

/** What every act takes beside its arguments. */
export interface OperationOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}

/** One state of the account, as an `older_state` names it. */
export interface OlderState {
  readonly stateRev: number;
  /** base64url. */
  readonly stateSha256: string;
}

/** Everything that a new account begins with, but the rows. */
export interface FirstAccount {
  readonly keys: MetadataKeys;
  readonly book: Book;
  readonly shares: Shares;
  readonly statement: KeyStatement;
  /** Of its first image. */
  readonly record: ImageRecord;
  readonly slot: Slot;
  /** Of that image: 342 bytes, base64url. Tells a wrong passphrase from another picture. */
  readonly sketch: string;
}

/** Starts locked, and unlocked on an own device that was not locked. */
export async function openVaultContext(deps: VaultContextDeps): Promise<VaultContext> {
  let state: VaultState = { status: "unknown" };
  let writeQueue: Promise<unknown> = Promise.resolve();
  const record = await deps.device.read();
  const now = deps.now ?? Date.now;
  const lockedAt = lockedSince(record, now());
  const keys =
    record.metadataKeys === null || lockedAt !== null || deps.locked === true
      ? null
      : fromStoredMetadataKeys(record.metadataKeys);
  return {
    userId: deps.userId,
    service: deps.service,
    engine: deps.engine,
    device: deps.device,
    now,
    pause: deps.pause ?? pauseFor,
    keys,
    accountKey: null,
    pending: null,
    checkpoint: null,
    rejectedState: null,
    claims: createClaims(now),
    cachedList: null,
    rowCache: { cache: createRowCache(deps.device, deps.userId), loading: null, lastWrite: Promise.resolve() },
    getState: () => state,
    setState: (next) => {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      state = next;
      deps.onStateChange(state);
    },
    runExclusive: (write) => {
      const lockedWrite = () => withLock(deps.locks ?? browserLocks(), deps.device.name, write);
      const result = writeQueue.then(lockedWrite, lockedWrite);
      // the error goes to the caller of this write; the next write runs in any case
      writeQueue = result.catch(() => null);
      return result;
    },
  };
}

/**
 * The keys of an unlocked vault.
 *
 * @throws PortalError `vault_locked`.
 */
export function requireKeys(vault: VaultContext): MetadataKeys {
  if (vault.keys === null) throw new PortalError("vault_locked");
  return vault.keys;
}

/** Without Web Locks two tabs conflict like two devices do, and the one that loses tries again. */
function withLock<T>(locks: WriterLocks | null, account: string, write: () => Promise<T>): Promise<T> {
  return locks === null ? write() : locks.request(`relicario-vault writer ${account}`, write);
}

function browserLocks(): WriterLocks | null {
  if (!("navigator" in globalThis) || !("locks" in globalThis.navigator)) return null;
  const { locks } = globalThis.navigator;
  return { request: (name, callback) => locks.request(name, callback) };
}
