import type { Keyring } from "@relicario/shared/api";
import type { DeviceKind, StrengthLevel, VaultState } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { Engine } from "@relicario/engine";
import { saveVerifiedInner } from "../device/verified-inner.ts";
import { getLockedSince, type Device, type StateCheckpoint } from "../device/device.ts";
import { clearPendingAccount, type UnpublishedAccount } from "../device/pending-account.ts";
import { fromStoredMetadataKeys, hasSameAccountKey, type AccountKey, type MetadataKeys } from "../seal/account-key.ts";
import { copyOpenerKeys, type RecognisedOpener } from "../seal/opener.ts";
import type { MarkNote, MarkQuestion } from "../seal/mark.ts";
import type { Service } from "../service/service.ts";
import { createClaims, type ViewClaims } from "../service/claims.ts";
import { pauseFor, type Pause } from "../service/send-with-retry.ts";
import { createCheckpoints, type Checkpoints, type OlderState } from "./checkpoints.ts";
import type { PendingAccountOutcome, SignedChange, VerifiedKeyring, VerifiedContents } from "./keyring-views.ts";
import { createListCache, type ListCache } from "./list-cache.ts";
import { createWriterQueue, type WriterLocks } from "./writer-queue.ts";

/** Estimates a passphrase or password. Throws `vault_unavailable`. */
export type EstimateStrength = (passphrase: string) => Promise<StrengthLevel>;

/** Clock, pauses and locks are parameters so that tests can replace them. */
export interface VaultSessionDeps {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly estimateStrength: EstimateStrength;
  readonly device: Device;
  /** Starts locked even if the device has keys. */
  readonly locked?: boolean;
  readonly onStateChange: (state: VaultState) => void;
  /** Returns whether the person says that the mark is theirs. Rejects with `cancelled`. */
  readonly confirmMark: (question: MarkQuestion) => Promise<boolean>;
  /**
   * Until when a presented opener is kept, in milliseconds since 1970; null if it is not kept.
   * Without it none is.
   */
  readonly keepOpenerUntil?: () => Promise<number | null>;
  /** Milliseconds since 1970 */
  readonly now?: () => number;
  readonly pause?: Pause;
  /** Web Locks, if the browser has them. */
  readonly locks?: WriterLocks | null;
}

/** A presented opener, and what must hold for it in the book. */
interface KeptOpener extends RecognisedOpener {
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Metadata keys, with the account key that they were derived from. */
interface UnlockedKeys {
  readonly keys: MetadataKeys;
  /** Null until an opener is presented. */
  readonly accountKey: AccountKey | null;
}

/**
 * [Note: Session transitions] The vault of one signed-in user, in its worker. Operations read it;
 * only this class changes its keys and its state. It is unlocked if it has metadata keys. The
 * account key comes from an opener, or is generated for a new account; no device stores it.
 *
 * | transition          | keys after it                                     | caller             |
 * | ------------------- | ------------------------------------------------- | ------------------ |
 * | start               | metadata keys saved on an own, unlocked device    | the worker         |
 * | `adopt`             | as before; the new account is pending beside them | openers, import,   |
 * |                     |                                                   | reset              |
 * | undo of `adopt`     | as before; that account is pending on the device  | a failed reset     |
 * |                     | only                                              |                    |
 * | `apply`, published  | the account's if it is the adopted one; it stays  | `refreshKeyring`   |
 * |                     | pending until its slot and record are visible too |                    |
 * | `apply`, superseded | as before; that account is no longer pending      | `refreshKeyring`   |
 * | `apply`, otherwise  | as before                                         | `refreshKeyring`   |
 * | `unlock`            | the opener's; refuses a lower epoch               | `openAccount`      |
 * | `commit`            | the adopted account's if it is the one published; | `publishWithRetry` |
 * |                     | otherwise as before                               |                    |
 * | `withRejectedState` | as before; saves the refused state if a person    | readers            |
 * |                     | may accept it                                     |                    |
 * | `acceptState`       | as before; that state becomes the checkpoint      | `acceptOlderState` |
 * | `reportUnlocked`    | as before                                         | `unlock`, rotate,  |
 * |                     |                                                   | device kind        |
 * | `lock`              | none; nothing adopted, no opened list             | `unlock`, if it    |
 * |                     |                                                   | fails after that   |
 *
 * A transition that sets keys checks them after its last `await`: another may have run meanwhile.
 * In the browser a lock ends the worker, and so the session. `state` is reported to the page:
 * `unknown` before the first reading, `empty` without a keyring, `unlocked`, and `locked`, also
 * when a reading shows a higher epoch than that of the keys. The idle timer does not depend on it:
 * it runs from when the session has keys until the worker ends.
 */
export class VaultSession {
  readonly userId: string;
  readonly service: Service;
  readonly engine: Engine;
  readonly estimateStrength: EstimateStrength;
  readonly device: Device;
  readonly now: () => number;
  readonly pause: Pause;
  readonly confirmMark: VaultSessionDeps["confirmMark"];
  readonly claims: ViewClaims;
  readonly listCache: ListCache;
  readonly runExclusive: <T>(write: () => Promise<T>) => Promise<T>;
  /**
   * Openers that signed tickets of this session name, by the ticket's SHA-256 (base64url). Metadata
   * keys alone can change the openers of a label, but not these.
   */
  readonly signedOpeners = new Map<string, readonly string[]>();

  readonly #onStateChange: (state: VaultState) => void;
  readonly #checkpoints: Checkpoints;
  #state: VaultState = { status: "unknown" };
  #unlocked: UnlockedKeys | null;
  #adopted: UnpublishedAccount | null = null;
  #rejectedState: OlderState | null = null;
  #markNote: MarkNote | null = "first";
  readonly #keepOpenerUntil: () => Promise<number | null>;
  #keptOpener: KeptOpener | null = null;

  /** @param keys keys from the device; null starts locked */
  constructor(deps: VaultSessionDeps, keys: MetadataKeys | null) {
    this.userId = deps.userId;
    this.service = deps.service;
    this.engine = deps.engine;
    this.estimateStrength = deps.estimateStrength;
    this.device = deps.device;
    this.now = deps.now ?? Date.now;
    this.pause = deps.pause ?? pauseFor;
    this.confirmMark = deps.confirmMark;
    this.#keepOpenerUntil = deps.keepOpenerUntil ?? (() => Promise.resolve(null));
    this.claims = createClaims(this.now);
    this.listCache = createListCache(deps.device, deps.userId);
    this.runExclusive = createWriterQueue(deps.device.storageKey, deps.locks);
    this.#onStateChange = deps.onStateChange;
    this.#checkpoints = createCheckpoints(deps.device);
    this.#unlocked = keys === null ? null : { keys, accountKey: null };
  }

  /** Null while locked. */
  get keys(): MetadataKeys | null {
    return this.#unlocked?.keys ?? null;
  }

  /** Account key of {@link keys}. Null until an opener is presented, and after locking. */
  get accountKey(): AccountKey | null {
    return this.#unlocked?.accountKey ?? null;
  }

  /** An account that this session created or opened, until its publication is visible. */
  get adoptedAccount(): UnpublishedAccount | null {
    return this.#adopted;
  }

  /** What a prompt says about a mark that the device does not keep. */
  get markNote(): MarkNote | null {
    return this.#markNote;
  }

  /** The last state refused as `older_state`, the only one that the person may accept. */
  get rejectedState(): OlderState | null {
    return this.#rejectedState;
  }

  get state(): VaultState {
    return this.#state;
  }

  /** @throws PortalError `vault_locked` */
  requireKeys(): MetadataKeys {
    if (this.#unlocked === null) throw new PortalError("vault_locked");
    return this.#unlocked.keys;
  }

  /** @throws PortalError `vault_locked`, `show_opener_first` */
  requireAccountKey(): AccountKey {
    this.requireKeys();
    if (this.accountKey === null) throw new PortalError("show_opener_first");
    return this.accountKey;
  }

  /**
   * Returns the account key that these metadata keys come from: the session's, or that of the
   * account that it created. Null if no opener was presented, or the session has other keys by now.
   */
  getAccountKeyOf(keys: MetadataKeys): AccountKey | null {
    const adopted = this.#adopted;
    if (adopted !== null && hasSameAccountKey(adopted.documents.keys, keys)) return adopted.accountKey;
    return this.#unlocked !== null && hasSameAccountKey(this.#unlocked.keys, keys) ? this.#unlocked.accountKey : null;
  }

  /** As {@link getAccountKeyOf}. @throws PortalError `show_opener_first`. */
  requireAccountKeyOf(keys: MetadataKeys): AccountKey {
    const accountKey = this.getAccountKeyOf(keys);
    if (accountKey === null) throw new PortalError("show_opener_first");
    return accountKey;
  }

  loadCheckpoint(): Promise<StateCheckpoint | null> {
    return this.#checkpoints.load();
  }

  /**
   * Makes a new account the pending one. The keys change only when `apply` sees it published.
   *
   * @returns an undo function, without effect once the account is no longer pending
   */
  adopt(account: UnpublishedAccount): () => void {
    this.#adopted = account;
    return () => {
      if (this.#adopted === account) this.#adopted = null;
    };
  }

  /**
   * Applies a verified keyring, or null if there is none: resolves the pending account, saves the
   * checkpoint and reports the state.
   *
   * @throws PortalError errors of writing to the device, except `storage_full`
   */
  async apply(verifiedKeyring: VerifiedKeyring | null): Promise<void> {
    if (verifiedKeyring === null) {
      if (this.#unlocked === null) this.#setState({ status: "empty" });
    } else {
      await this.#resolvePendingAccount(verifiedKeyring.keyring, verifiedKeyring.pendingAccount);
      if (verifiedKeyring.contents !== null) {
        await this.#saveVerified(verifiedKeyring.keyring, verifiedKeyring.contents);
        await this.reportUnlocked();
      } else if (this.#unlocked === null || verifiedKeyring.keyring.key_epoch > this.#unlocked.keys.keyEpoch)
        this.#setState({ status: "locked" });
      else await this.reportUnlocked();
    }
    this.#rejectedState = null;
  }

  /**
   * Takes over an opener's keys. The caller must have verified everything opened with them.
   *
   * @param accountKey wiped here if the session already has it
   * @throws PortalError `own_key_changed` if the session has keys of a higher epoch by now; errors
   *   of writing to the device, except `storage_full`. It then unlocks nothing
   */
  async unlock(keyring: Keyring, contents: VerifiedContents, accountKey: AccountKey): Promise<void> {
    await this.#saveVerified(keyring, contents);
    const { keys } = contents.openedKeyring;
    const current = this.#unlocked;
    if (current !== null && keys.keyEpoch < current.keys.keyEpoch) throw new PortalError("own_key_changed");
    // an operation may be using the current account key, so the new copy is wiped instead
    const heldKey = current !== null && hasSameAccountKey(current.keys, keys) ? current.accountKey : null;
    if (heldKey !== null) accountKey.wipe();
    this.#unlocked = { keys, accountKey: heldKey ?? accountKey };
  }

  /**
   * Applies a published change. Only `apply` saves the checkpoint of a new account, after reading
   * it back, because the service's response alone is not trusted.
   */
  async commit({ keys, keyringChange, state, createsAccount }: SignedChange): Promise<void> {
    if (!createsAccount) await this.#checkpoints.save(keyringChange, { state, keys });
    else if (this.#adopted !== null && hasSameAccountKey(this.#adopted.documents.keys, keys))
      this.#unlocked = { keys, accountKey: this.#adopted.accountKey };
    await this.reportUnlocked();
  }

  /**
   * Saves the state that an `older_state` refused, because the person can consent only to that one.
   */
  async withRejectedState<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (isPortalError(error, "older_state")) this.#rejectedState = toOlderState(error);
      throw error;
    }
  }

  /**
   * Accepts an older state with the person's consent.
   *
   * @returns false, without a change, if another tab has saved a newer state
   */
  async acceptState(chosen: OlderState): Promise<boolean> {
    if (!(await this.#checkpoints.accept(chosen))) return false;
    this.#rejectedState = null;
    return true;
  }

  /**
   * Keeps a copy of a presented opener for further openings, for the time that the person chose.
   */
  async keepOpener(recognisedOpener: RecognisedOpener): Promise<void> {
    const opener = copyOpenerKeys(recognisedOpener.opener);
    const until = await this.#keepOpenerUntil();
    if (until === null || this.#unlocked === null) {
      opener.wipe();
      return;
    }
    this.releaseKeptOpener();
    this.#keptOpener = { ...recognisedOpener, opener, until };
  }

  /** Returns a copy that the caller wipes. Null if none is kept. */
  copyKeptOpener(): RecognisedOpener | null {
    if (this.#keptOpener !== null && this.now() >= this.#keptOpener.until) this.releaseKeptOpener();
    return this.#keptOpener === null ? null : { ...this.#keptOpener, opener: copyOpenerKeys(this.#keptOpener.opener) };
  }

  releaseKeptOpener(): void {
    this.#keptOpener?.opener.wipe();
    this.#keptOpener = null;
  }

  /** Called when the person has read what the prompt says about the mark, or knows the mark. */
  acknowledgeMark(): void {
    this.#markNote = null;
  }

  /** Discards keys and opened rows. The device keeps pending data. */
  lock(): void {
    this.#unlocked?.accountKey?.wipe();
    this.#adopted?.accountKey.wipe();
    this.releaseKeptOpener();
    this.#unlocked = null;
    this.#adopted = null;
    this.#rejectedState = null;
    this.listCache.drop();
    this.#setState({ status: "locked" });
  }

  /** Reports to the page that the vault is unlocked, if it is, and on which kind of device. */
  async reportUnlocked(): Promise<void> {
    let device: DeviceKind | null = null;
    try {
      device = (await this.device.read()).kind;
    } finally {
      if (this.#unlocked !== null) this.#setState({ status: "unlocked", device }); // also on failure
    }
  }

  async #resolvePendingAccount(keyring: Keyring, outcome: PendingAccountOutcome): Promise<void> {
    if (outcome.kind === "unresolved") return;
    const isPublished = outcome.kind === "published";
    if (isPublished) await this.#saveVerified(keyring, outcome.contents);
    const isResolved = !isPublished || outcome.hasSlotAndRecord;
    if (isResolved) await clearPendingAccount(this.device, outcome.statementSig);
    const adopted = this.#adopted;
    if (adopted?.documents.statement.sig !== outcome.statementSig) return;
    if (isPublished) this.#unlocked = { keys: outcome.contents.openedKeyring.keys, accountKey: adopted.accountKey };
    if (isResolved) this.#adopted = null;
  }

  async #saveVerified(keyring: Keyring, { openedKeyring, inner }: VerifiedContents): Promise<void> {
    if (inner !== null) await saveVerifiedInner(this.device, inner);
    await this.#checkpoints.save(keyring, openedKeyring);
  }

  #setState(next: VaultState): void {
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return;
    this.#state = next;
    this.#onStateChange(next);
  }
}

/** Opens a session: unlocked on an own device that was not locked, otherwise locked. */
export async function openVaultSession(deps: VaultSessionDeps): Promise<VaultSession> {
  const record = await deps.device.read();
  const isLocked = deps.locked === true || getLockedSince(record, (deps.now ?? Date.now)()) !== null;
  const keys = record.metadataKeys === null || isLocked ? null : fromStoredMetadataKeys(record.metadataKeys);
  return new VaultSession(deps, keys);
}

/**
 * Returns the state that a person may choose: only one that the checkpoint refuses. A keyring with
 * inconsistent parts stays refused, whatever the checkpoint.
 */
function toOlderState({ details }: PortalError): OlderState | null {
  const { given: stateRev, given_sha256: stateSha256, remembered } = details;
  return typeof stateRev === "number" && typeof stateSha256 === "string" && typeof remembered === "number"
    ? { stateRev, stateSha256 }
    : null;
}
