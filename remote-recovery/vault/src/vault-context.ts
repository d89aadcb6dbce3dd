import type { ImageRecord, KeyStatement, Slot, StoredSecret } from "@relicario/shared/api";
import type { VaultProgress, VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Engine } from "@relicario/engine";
import { lockedSince, type Device, type Remembered } from "./device/device.ts";
import { keptRowsOf, type KeptRows, type RowsRead } from "./device/kept-rows.ts";
import { titlesKeysFrom, type AccountKey, type TitlesKeys } from "./seal/account-key.ts";
import type { Book } from "./seal/book.ts";
import type { Label } from "./seal/label.ts";
import type { Shares } from "./seal/shares.ts";
import type { RootRow } from "./seal/state.ts";
import type { Service } from "./service.ts";
import { createClaims, type Claims } from "./shares/claims.ts";
import { pauseFor, type Pause } from "./steps/until-answered.ts";

/**
 * What a vault context is made of. Clock, pauses and locks are parameters so that tests can replace
 * them.
 */
export interface VaultContextParts {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly device: Device;
  /** Starts locked, whatever the device keeps. */
  readonly locked?: boolean;
  /** Called after each change of the state. */
  readonly tell: (state: VaultState) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly pause?: Pause;
  /** Web Locks, where the browser has them. */
  readonly locks?: WriterLocks | null;
}

/** An exclusive lock by name, held while `work` runs. */
export interface WriterLocks {
  readonly request: <T>(name: string, work: () => Promise<T>) => Promise<T>;
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
  keys: TitlesKeys | null;
  /** From the showing of an opener until this worker ends; null before. */
  accountKey: AccountKey | null;
  /**
   * An account that this worker made, or whose opener was shown, and that is perhaps not published.
   */
  pending: FirstAccount | null;
  /** The newest state seen by this worker, where the device could not write it down. */
  remembered: Remembered | null;
  /** The state that was refused last as `older_state`: only this one may the person choose. */
  alarmed: OlderState | null;
  /** Views of shares that this worker has asked for. */
  readonly claims: Claims;
  /** The list as it was read last; see `steps/read-account.ts`. */
  held: HeldList | null;
  readonly kept: KeptHere;
  readonly getState: () => VaultState;
  readonly setState: (state: VaultState) => void;
  /**
   * Runs writers one after another, those of this account in other tabs too, so that a device never
   * conflicts with itself.
   */
  readonly oneWriter: <T>(write: () => Promise<T>) => Promise<T>;
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
export interface HeldList {
  readonly rows: ReadonlyMap<string, AccountRow>;
  readonly stateRev: number;
  readonly changes: number;
  /**
   * What was read and not kept on the device yet. Null on a device that keeps no rows, and when
   * there is nothing new.
   */
  readonly unkept: RowsRead | null;
}

/** The rows on this device; see `device/kept-rows.ts`. */
export interface KeptHere {
  readonly rows: KeptRows;
  /** The one reading of them in the life of a worker; null before. */
  taken: Promise<void> | null;
  /** The newest write, which never rejects. */
  writing: Promise<void>;
}

/** What every act takes beside its arguments. */
export interface ActOptions {
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
  readonly keys: TitlesKeys;
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
export async function openVaultContext(parts: VaultContextParts): Promise<VaultContext> {
  let state: VaultState = { status: "unknown" };
  let writers: Promise<unknown> = Promise.resolve();
  const record = await parts.device.read();
  const now = parts.now ?? Date.now;
  const since = lockedSince(record, now());
  const keys =
    record.titlesKeys === null || since !== null || parts.locked === true ? null : titlesKeysFrom(record.titlesKeys);
  return {
    userId: parts.userId,
    service: parts.service,
    engine: parts.engine,
    device: parts.device,
    now,
    pause: parts.pause ?? pauseFor,
    keys,
    accountKey: null,
    pending: null,
    remembered: null,
    alarmed: null,
    claims: createClaims(now),
    held: null,
    kept: { rows: keptRowsOf(parts.device, parts.userId), taken: null, writing: Promise.resolve() },
    getState: () => state,
    setState: (next) => {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      state = next;
      parts.tell(state);
    },
    oneWriter: (write) => {
      const alone = () => withLock(parts.locks ?? browserLocks(), parts.device.name, write);
      const turn = writers.then(alone, alone);
      writers = turn.catch(() => null); // the error goes to the caller of this write; the next write runs in any case
      return turn;
    },
  };
}

/**
 * The keys of an unlocked vault.
 *
 * @throws PortalError `vault_locked`.
 */
export function requireKeys(vault: VaultContext): TitlesKeys {
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
  return { request: (name, work) => locks.request(name, work) };
}
