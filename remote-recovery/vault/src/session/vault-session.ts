import type { Keyring } from "@relicario/shared/api";
import type { VaultState } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { Engine } from "@relicario/engine";
import { saveCheckedOpeners } from "../device/checked-openers.ts";
import { getLockedSince, type Device, type StateCheckpoint } from "../device/device.ts";
import { clearPendingAccount, type FirstAccount } from "../device/pending-account.ts";
import { fromStoredMetadataKeys, hasSameAccountKey, type AccountKey, type MetadataKeys } from "../seal/account-key.ts";
import type { Service } from "../service/service.ts";
import { createClaims, type ViewClaims } from "../service/claims.ts";
import { pauseFor, type Pause } from "../service/send-with-retry.ts";
import { createCheckpoints, type Checkpoints, type OlderState } from "./checkpoints.ts";
import type { PendingOutcome, SignedChange, VerifiedKeyring, VerifiedOpening } from "./keyring-views.ts";
import { createListCache, type ListCache } from "./list-cache.ts";
import { createWriterQueue, type WriterLocks } from "./writer-queue.ts";

/**
 * What a session is made of. Clock, pauses and locks are parameters so that tests can replace them.
 */
export interface VaultSessionDeps {
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

/**
 * [Note: Session transitions] The vault of one signed-in user, in its worker. Operations read it;
 * its keys and its state change here alone. Locked is to be without metadata keys: an own device
 * that was not locked gives them at the start. The account key comes from an opener, always.
 *
 * | transition                  | keys after it                        | caller                 |
 * | --------------------------- | ------------------------------------ | ---------------------- |
 * | start                       | what an own device keeps             | the worker             |
 * | `adopt`                     | new account key, pending account     | openers, import, reset |
 * | undo of `adopt`             | account key and pending as before    | a reset that failed    |
 * | `apply` of no keyring       | as before                            | `refreshKeyring`       |
 * | `apply`, pending published  | the pending account's, if adopted    | `refreshKeyring`       |
 * | `apply`, pending superseded | no account key, nothing pending      | `refreshKeyring`       |
 * | `apply`, otherwise          | as before; checkpoint if opened      | `refreshKeyring`       |
 * | `unlock`                    | those that an opener gave            | `openAccount`          |
 * | `commit`                    | those of the published change        | `publishWithRetry`     |
 * | `withRejectedState`         | as before; notes the refused state   | readers of the keyring |
 * | `acceptState`               | as before; refused state accepted    | `acceptOlderState`     |
 * | `reportUnlocked`            | as before; the page hears `unlocked` | unlock, rotate, device |
 * | `lock`                      | none                                 | tests so far           |
 *
 * A lock of the page ends the worker, and the session with it. `state` is what the page is told:
 * `unknown` before the first reading, `empty` without a keyring, `locked` also while the keys are
 * older than the keyring, `unlocked`.
 */
export class VaultSession {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly device: Device;
  readonly now: () => number;
  readonly pause: Pause;
  /** Views of shares that this worker has asked for. */
  readonly claims: ViewClaims;
  readonly list: ListCache;
  readonly runExclusive: <T>(write: () => Promise<T>) => Promise<T>;

  readonly #onStateChange: (state: VaultState) => void;
  readonly #checkpoints: Checkpoints;
  #state: VaultState = { status: "unknown" };
  #keys: MetadataKeys | null;
  #accountKey: AccountKey | null = null;
  #pending: FirstAccount | null = null;
  #rejectedState: OlderState | null = null;

  /** @param keys those that the device keeps; null starts locked */
  constructor(deps: VaultSessionDeps, keys: MetadataKeys | null) {
    this.userId = deps.userId;
    this.service = deps.service;
    this.engine = deps.engine;
    this.device = deps.device;
    this.now = deps.now ?? Date.now;
    this.pause = deps.pause ?? pauseFor;
    this.claims = createClaims(this.now);
    this.list = createListCache(deps.device, deps.userId);
    this.runExclusive = createWriterQueue(deps.device.name, deps.locks);
    this.#onStateChange = deps.onStateChange;
    this.#checkpoints = createCheckpoints(deps.device);
    this.#keys = keys;
  }

  /** Null while locked. */
  get keys(): MetadataKeys | null {
    return this.#keys;
  }

  /** From the showing of an opener until a lock or the end of the worker; null before. */
  get accountKey(): AccountKey | null {
    return this.#accountKey;
  }

  /**
   * An account that this worker made, or whose opener was shown, and that is perhaps not published.
   */
  get pending(): FirstAccount | null {
    return this.#pending;
  }

  /** The state that was refused last as `older_state`: only this one may the person choose. */
  get rejectedState(): OlderState | null {
    return this.#rejectedState;
  }

  get state(): VaultState {
    return this.#state;
  }

  /** @throws PortalError `vault_locked`. */
  requireKeys(): MetadataKeys {
    if (this.#keys === null) throw new PortalError("vault_locked");
    return this.#keys;
  }

  /** @throws PortalError `vault_locked`, `show_opener_first`. */
  requireAccountKey(): AccountKey {
    this.requireKeys();
    if (this.#accountKey === null) throw new PortalError("show_opener_first");
    return this.#accountKey;
  }

  /** The newest state that this device knows. */
  loadCheckpoint(): Promise<StateCheckpoint | null> {
    return this.#checkpoints.load();
  }

  /**
   * Takes an account that is not published yet. The metadata keys stay what they are until it is.
   *
   * @param accountKey that in memory where the account was adopted before
   * @returns its undo
   */
  adopt(firstAccount: FirstAccount, accountKey: AccountKey | null = this.#accountKey): () => void {
    const previous = { accountKey: this.#accountKey, pending: this.#pending };
    this.#accountKey = accountKey;
    this.#pending = firstAccount;
    return () => {
      this.#accountKey = previous.accountKey;
      this.#pending = previous.pending;
    };
  }

  /**
   * Takes what was fetched and verified: the checkpoint, what became of the pending account, and
   * the state. Null when there is no keyring.
   *
   * @throws PortalError those of writing to the device, but `storage_full`.
   */
  async apply(verified: VerifiedKeyring | null): Promise<void> {
    if (verified === null) this.#setState({ status: "empty" });
    else {
      await this.#resolvePending(verified.keyring, verified.pending);
      if (verified.opening === null) this.#setState({ status: "locked" });
      else {
        await this.#saveVerified(verified.keyring, verified.opening);
        await this.reportUnlocked();
      }
    }
    this.#rejectedState = null;
  }

  /** Takes the keys that an opener gave, once everything that was opened with them fits. */
  async unlock(keyring: Keyring, opening: VerifiedOpening, accountKey: AccountKey): Promise<void> {
    const { keys } = opening.openedKeyring;
    // Another operation may be using the one that is held: it is never wiped under it.
    if (this.#accountKey !== null && this.#keys !== null && hasSameAccountKey(this.#keys, keys)) accountKey.wipe();
    else this.#accountKey = accountKey;
    this.#keys = keys;
    await this.#saveVerified(keyring, opening);
  }

  /**
   * Takes the keys and the state of a change that was published. An account that begins is
   * remembered by the reading that shows it, not for the service's word.
   */
  async commit({ keys, keyring, state, createsAccount }: SignedChange): Promise<void> {
    this.#keys = keys;
    if (!createsAccount) await this.#checkpoints.save(keyring, { state, keys });
    await this.reportUnlocked();
  }

  /** Notes which state an `older_state` was about: consent is to this one alone. */
  async withRejectedState<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (isPortalError(error, "older_state")) this.#rejectedState = toOlderState(error);
      throw error;
    }
  }

  /**
   * The deliberate choice after `older_state`.
   *
   * @returns false, and nothing is changed, when another tab saw a newer state meanwhile
   */
  async acceptState(chosen: OlderState): Promise<boolean> {
    if (!(await this.#checkpoints.accept(chosen))) return false;
    this.#rejectedState = null;
    return true;
  }

  /** Drops every key. What waits on the device stays. */
  lock(): void {
    this.#keys = null;
    this.#accountKey = null;
    this.#pending = null;
    this.#setState({ status: "locked" });
  }

  /** Tells the page that the vault is unlocked, and on which kind of device. */
  async reportUnlocked(): Promise<void> {
    this.#setState({ status: "unlocked", device: (await this.device.read()).kind });
  }

  async #resolvePending(keyring: Keyring, outcome: PendingOutcome): Promise<void> {
    if (outcome.kind === "unresolved") return;
    if (outcome.kind === "published") {
      await this.#saveVerified(keyring, outcome.opening);
      if (this.#pending !== null) this.#keys = outcome.opening.openedKeyring.keys;
      if (!outcome.complete) return;
    } else if (this.#pending !== null) this.#accountKey = null; // of the account that never was
    this.#pending = null;
    await clearPendingAccount(this.device);
  }

  async #saveVerified(keyring: Keyring, { openedKeyring, openers }: VerifiedOpening): Promise<void> {
    if (openers !== null) await saveCheckedOpeners(this.device, openers);
    await this.#checkpoints.save(keyring, openedKeyring);
  }

  #setState(next: VaultState): void {
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return;
    this.#state = next;
    this.#onStateChange(next);
  }
}

/** Starts locked, and unlocked on an own device that was not locked. */
export async function openVaultSession(deps: VaultSessionDeps): Promise<VaultSession> {
  const record = await deps.device.read();
  const isLocked = deps.locked === true || getLockedSince(record, (deps.now ?? Date.now)()) !== null;
  const keys = record.metadataKeys === null || isLocked ? null : fromStoredMetadataKeys(record.metadataKeys);
  return new VaultSession(deps, keys);
}

function toOlderState({ details }: PortalError): OlderState | null {
  const { given: stateRev, given_sha256: stateSha256 } = details;
  return typeof stateRev === "number" && typeof stateSha256 === "string" ? { stateRev, stateSha256 } : null;
}
