import { chosenStrength, requiredStrength, type RecoveryImage } from "@relicario/shared/contract";
import type { Strength } from "@relicario/shared/forms";
import type { ElementState, PictureVerdict, PresentedPicture } from "@relicario/vault/element";

import { isUnsavedCapture } from "./captured-picture.ts";

export type PictureState =
  | { readonly status: "none" }
  | { readonly status: "examining"; readonly picture: Blob }
  | { readonly status: "examined"; readonly picture: Blob; readonly verdict: PictureVerdict }
  /** Not judged. */
  | { readonly status: "for_opening"; readonly picture: Blob }
  /** Not judged, and without a passphrase. */
  | { readonly status: "for_share"; readonly picture: Blob }
  | { readonly status: "failed"; readonly error: unknown };

/** Input so far. Passphrases are exactly as typed. */
export interface PictureDraft {
  readonly state: PictureState;
  readonly passphrase: string;
  readonly confirmation: string;
  /** Passphrase of an existing image; separate from one chosen for another picture. */
  readonly existingPassphrase: string;
  readonly withoutPassphrase: boolean;
  /** Whether the new passphrase is too easy to guess for this picture. */
  readonly tooWeak: boolean;
}

/** Which passphrase a picture needs before it can be used. */
export type PassphraseRequirement = "never" | "none" | "own" | "asked" | "required" | "optional";

export const emptyPictureDraft: PictureDraft = {
  state: { status: "none" },
  passphrase: "",
  confirmation: "",
  existingPassphrase: "",
  withoutPassphrase: false,
  tooWeak: false,
};

/**
 * Returns the requirement of a picture. An existing image has its own passphrase or none (`own`,
 * `none`); a marginal picture requires one. A removed image counts as new, even if the gate refuses
 * it: its quality was accepted before.
 */
export function getPassphraseRequirement(state: PictureState): PassphraseRequirement {
  if (state.status === "for_opening") return "optional";
  if (state.status === "for_share") return "never";
  if (state.status !== "examined") return "none";
  const { level, known } = state.verdict;
  if (known?.kind === "same") return known.passphrase === "needed" ? "own" : "none";
  if (known?.kind === "removed") return level === "green" ? "asked" : "required";
  if (known !== null || level === "red") return "none";
  return level === "amber" ? "required" : "asked";
}

/** Least strength of a new passphrase for this picture. */
export function getLeastStrength(state: PictureState): typeof requiredStrength | typeof chosenStrength {
  return getPassphraseRequirement(state) === "required" ? requiredStrength : chosenStrength;
}

/**
 * Whether the vault will refuse the passphrase. False before the first estimate: the vault judges
 * again.
 */
export function isTooWeak(state: PictureState, strength: Strength): boolean {
  return typeof strength === "number" && strength < getLeastStrength(state);
}

/** The existing image that this picture is; null for any other picture. */
export function getKnownImage(state: PictureState): RecoveryImage | null {
  return state.status === "examined" && state.verdict.known?.kind === "same" ? state.verdict.known.image : null;
}

/** Returns the input for the vault; null while incomplete or refused. */
export function toPresentedPicture(draft: PictureDraft): PresentedPicture | null {
  const { state, passphrase, confirmation, existingPassphrase, withoutPassphrase, tooWeak } = draft;
  if (state.status !== "for_opening" && state.status !== "for_share" && state.status !== "examined") return null;
  const { picture } = state;
  const requirement = getPassphraseRequirement(state);
  switch (requirement) {
    case "never":
      return { picture, passphrase: null };
    case "optional":
      return { picture, passphrase: passphrase === "" ? null : passphrase };
    case "own":
      return existingPassphrase === "" ? null : { picture, passphrase: existingPassphrase };
    case "none":
      return getKnownImage(state) === null ? null : { picture, passphrase: null };
    case "asked":
    case "required":
      if (withoutPassphrase && requirement === "asked") return { picture, passphrase: null };
      return passphrase !== "" && passphrase === confirmation && !tooWeak ? { picture, passphrase } : null;
    default:
      return requirement satisfies never;
  }
}

/**
 * Returns the input for the vault; null while incomplete or refused, and for a captured picture
 * that is not saved.
 */
export function getReadyPicture(draft: PictureDraft): PresentedPicture | null {
  const presentedPicture = toPresentedPicture(draft);
  return presentedPicture === null || isUnsavedCapture(presentedPicture.picture) ? null : presentedPicture;
}

/** Null for a picture that is ready. */
export function findPictureProblem(draft: PictureDraft): ElementState["problem"] {
  if (toPresentedPicture(draft) === null)
    return ["own", "asked", "required"].includes(getPassphraseRequirement(draft.state))
      ? "passphrase_missing"
      : "image_missing";
  return getReadyPicture(draft) === null ? "image_unsaved" : null;
}
