import { PositiveInt, toBase64url, type Keyring } from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";

import type { Device, StateCheckpoint } from "../device/device.ts";
import { computeStateDigest } from "../seal/state.ts";
import type { OpenedKeyring } from "./keyring-views.ts";

/** One state of the account, as an `older_state` names it. */
export interface OlderState {
  readonly stateRev: number;
  /** base64url. */
  readonly stateSha256: string;
}

/** The newest checked state of the account, on the device and in this worker. */
export interface Checkpoints {
  /**
   * The newest state that this device knows. Where it could not be written down, the one that this
   * worker knows, but for what was given up by consent.
   */
  readonly load: () => Promise<StateCheckpoint | null>;
  /** Saves the newest checked state. Never a lower one, whatever other tabs write meanwhile. */
  readonly save: (
    keyring: Pick<Keyring, "state" | "state_rev">,
    opened: Pick<OpenedKeyring, "state" | "keys">,
  ) => Promise<void>;
  /**
   * Goes back to an older state by consent. The abandoned memory is kept beside it; a new one grows
   * from here, and what comes later must lead to this state.
   *
   * @returns false, and nothing is changed, when another tab saw a newer one meanwhile: nobody was
   *   asked about that.
   */
  readonly accept: (chosen: OlderState) => Promise<boolean>;
}

export function createCheckpoints(device: Device): Checkpoints {
  /** Where the device could not write it down. */
  let unsaved: StateCheckpoint | null = null;

  async function load(): Promise<StateCheckpoint | null> {
    const { remembered: stored, consent } = await device.read();
    if (stored === null || unsaved === null) return stored ?? unsaved;
    const wasAbandoned = consent !== null && unsaved.stateRev <= consent.abandoned.stateRev;
    return unsaved.stateRev > stored.stateRev && !wasAbandoned ? unsaved : stored;
  }

  return {
    load,
    save: async (keyring, { state, keys }) => {
      const next: StateCheckpoint = {
        keyEpoch: keys.keyEpoch,
        stateRev: PositiveInt.parse(keyring.state_rev),
        stateSha256: computeStateDigest(keyring.state),
        root: state.root,
        count: state.count,
        recipient: keys.recipient,
        signingKey: toBase64url(keys.signingKey),
      };
      if (!advances((await device.read()).remembered, next)) return;
      try {
        await device.update((current) =>
          advances(current.remembered, next) ? { remembered: { ...current.remembered, ...next } } : null,
        );
        unsaved = null;
      } catch (error) {
        if (!isPortalError(error, "storage_full")) throw error;
        // the disk is full: this worker still remembers, and the next one checks less
        if (advances(unsaved, next)) unsaved = next;
      }
    },
    accept: async ({ stateRev, stateSha256 }) => {
      const checkpoint = await load();
      if (checkpoint === null) return true;
      const concurrentChange = { detected: false };
      await device.update(({ remembered: stored, consent }) => {
        const newestKnown = newestOf(stored, checkpoint);
        concurrentChange.detected = newestKnown.stateSha256 !== checkpoint.stateSha256;
        if (concurrentChange.detected) return null;
        return {
          remembered: { ...newestKnown, stateRev, stateSha256, root: null, count: null },
          consent: { stateRev, stateSha256, abandoned: newestOf(consent?.abandoned ?? null, newestKnown) },
        };
      });
      if (concurrentChange.detected) return false;
      unsaved = null;
      return true;
    },
  };
}

function advances(previous: StateCheckpoint | null, next: StateCheckpoint): boolean {
  if (previous === null || next.stateRev > previous.stateRev) return true;
  return next.stateRev === previous.stateRev && next.stateSha256 === previous.stateSha256 && previous.root === null;
}

function newestOf(left: StateCheckpoint | null, right: StateCheckpoint): StateCheckpoint {
  return left !== null && left.stateRev > right.stateRev ? left : right;
}
