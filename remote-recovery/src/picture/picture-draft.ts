import type { RecoveryImage } from "@relicario/shared/contract";
import type { PictureVerdict } from "@relicario/vault";
import type { PresentedPicture } from "@relicario/vault/presented-opener";

/** How a chosen file stands. */
export type PictureState =
  | { readonly status: "none" }
  | { readonly status: "examining"; readonly picture: Blob }
  | { readonly status: "examined"; readonly picture: Blob; readonly verdict: PictureVerdict }
  /** Chosen for opening: not judged. */
  | { readonly status: "shown"; readonly picture: Blob }
  /** Of a share: not judged, and without a passphrase. */
  | { readonly status: "of_share"; readonly picture: Blob }
  | { readonly status: "failed"; readonly error: unknown };

/** What the person has given so far. Passphrases are exactly as typed. */
export interface PictureDraft {
  readonly state: PictureState;
  readonly passphrase: string;
  readonly confirmation: string;
  /** The passphrase that an image in use has: never one that was chosen for another picture. */
  readonly existingPassphrase: string;
  /** "Go without a passphrase" was ticked. */
  readonly withoutPassphrase: boolean;
}

/** What a picture needs beside itself before it can be used. */
export type PassphraseRequirement = "never" | "none" | "own" | "asked" | "required" | "optional";

export const emptyPictureDraft: PictureDraft = {
  state: { status: "none" },
  passphrase: "",
  confirmation: "",
  existingPassphrase: "",
  withoutPassphrase: false,
};

/**
 * An image in use has the passphrase that it has, or none (`own`, `none`); an amber one cannot do
 * without. One that was removed is as a new one, and its gate was passed when it was new.
 */
export function passphraseRequirement(state: PictureState): PassphraseRequirement {
  if (state.status === "shown") return "optional";
  if (state.status === "of_share") return "never";
  if (state.status !== "examined") return "none";
  const { level, known } = state.verdict;
  if (known?.kind === "same") return known.passphrase === "needed" ? "own" : "none";
  if (known?.kind === "removed") return level === "green" ? "asked" : "required";
  if (known !== null || level === "red") return "none";
  return level === "amber" ? "required" : "asked";
}

/** The image of the book that a picture is; null for any other. */
export function knownImageOf(state: PictureState): RecoveryImage | null {
  return state.status === "examined" && state.verdict.known?.kind === "same" ? state.verdict.known.image : null;
}

/** The picture as the vault takes it; null while something is missing or it is refused. */
export function presentedPictureOf(draft: PictureDraft): PresentedPicture | null {
  const { state, passphrase, confirmation, existingPassphrase, withoutPassphrase } = draft;
  if (state.status !== "shown" && state.status !== "of_share" && state.status !== "examined") return null;
  const { picture } = state;
  const requirement = passphraseRequirement(state);
  switch (requirement) {
    case "never":
      return { picture, passphrase: null };
    case "optional":
      return { picture, passphrase: passphrase === "" ? null : passphrase };
    case "own":
      return existingPassphrase === "" ? null : { picture, passphrase: existingPassphrase };
    case "none":
      return knownImageOf(state) === null ? null : { picture, passphrase: null };
    case "asked":
    case "required":
      if (withoutPassphrase && requirement === "asked") return { picture, passphrase: null };
      return passphrase !== "" && passphrase === confirmation ? { picture, passphrase } : null;
    default:
      return requirement satisfies never;
  }
}
