import { PositiveInt, toBase64url, type Keyring } from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";

import type { Device, StateCheckpoint } from "../device/device.ts";
import { computeStateDigest } from "../seal/state.ts";
import type { OpenedKeyring } from "./keyring-views.ts";

/** A state that was refused as `older_state`. */
export interface OlderState {
  readonly stateRev: number;
  /** base64url */
  readonly stateSha256: string;
}

/** The account's newest verified state, on the device and in this worker. */
export interface Checkpoints {
  /**
   * Includes a newer checkpoint that could not be saved, unless the person consented to abandon it.
   */
  readonly load: () => Promise<StateCheckpoint | null>;
  /** Saves a verified state, but never over a newer one from another tab. */
  readonly save: (
    keyring: Pick<Keyring, "state" | "state_rev">,
    opened: Pick<OpenedKeyring, "state" | "keys">,
  ) => Promise<void>;
  /**
   * Returns to an older state with consent, and saves the abandoned checkpoint with the consent.
   * Later states must descend from the chosen one.
   *
   * @returns false, without a change, if another tab has saved a newer state, because the person
   *   did not consent to abandon that one
   */
  readonly accept: (chosen: OlderState) => Promise<boolean>;
}

export function createCheckpoints(device: Device): Checkpoints {
  /** Set if the device could not save it. */
  let unsavedCheckpoint: StateCheckpoint | null = null;

  async function load(): Promise<StateCheckpoint | null> {
    const { remembered: storedCheckpoint, consent } = await device.read();
    if (storedCheckpoint === null || unsavedCheckpoint === null) return storedCheckpoint ?? unsavedCheckpoint;
    const wasAbandoned = consent !== null && unsavedCheckpoint.stateRev <= consent.abandoned.stateRev;
    return unsavedCheckpoint.stateRev > storedCheckpoint.stateRev && !wasAbandoned
      ? unsavedCheckpoint
      : storedCheckpoint;
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
        authorKey: toBase64url(keys.authorKey),
      };
      if (!advances((await device.read()).remembered, next)) return;
      try {
        await device.update((current) =>
          advances(current.remembered, next) ? { remembered: { ...current.remembered, ...next } } : null,
        );
        unsavedCheckpoint = null;
      } catch (error) {
        if (!isPortalError(error, "storage_full")) throw error;
        // the disk is full: kept until this worker ends; the next worker has an older checkpoint
        if (advances(unsavedCheckpoint, next)) unsavedCheckpoint = next;
      }
    },
    accept: async ({ stateRev, stateSha256 }) => {
      const checkpoint = await load();
      if (checkpoint === null) return true;
      const concurrentChange = { detected: false };
      await device.update(({ remembered: storedCheckpoint, consent }) => {
        const newestKnown = pickNewest(storedCheckpoint, checkpoint);
        concurrentChange.detected = newestKnown.stateSha256 !== checkpoint.stateSha256;
        if (concurrentChange.detected) return null;
        return {
          remembered: { ...newestKnown, stateRev, stateSha256, root: null, count: null },
          consent: { stateRev, stateSha256, abandoned: pickNewest(consent?.abandoned ?? null, newestKnown) },
          bookInner: null, // consent covers what the older state contains
          versions: {},
        };
      });
      if (concurrentChange.detected) return false;
      unsavedCheckpoint = null;
      return true;
    },
  };
}

function advances(previous: StateCheckpoint | null, next: StateCheckpoint): boolean {
  if (previous === null || next.stateRev > previous.stateRev) return true;
  return next.stateRev === previous.stateRev && next.stateSha256 === previous.stateSha256 && previous.root === null;
}

function pickNewest(left: StateCheckpoint | null, right: StateCheckpoint): StateCheckpoint {
  return left !== null && left.stateRev > right.stateRev ? left : right;
}
