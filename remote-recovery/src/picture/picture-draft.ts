import type { RecoveryImage } from "@relicario/shared/contract";
import type { PictureVerdict } from "@relicario/vault";
import type { ShownPicture } from "@relicario/vault/shown-image";

/** A file that is larger than this holds no picture of 52 million pixels; nothing is read of it. */
export const maxPictureBytes = 256 * 1024 * 1024;

/** How a chosen file stands. */
export type PictureStanding =
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
  readonly standing: PictureStanding;
  readonly passphrase: string;
  readonly again: string;
  /** The passphrase that an image in use has: never one that was chosen for another picture. */
  readonly own: string;
  /** "Go without a passphrase" was ticked. */
  readonly without: boolean;
}

/** What a picture needs beside itself before it can be used. */
export type PassphraseNeed = "never" | "none" | "own" | "asked" | "required" | "optional";

export const noPicture: PictureDraft = {
  standing: { status: "none" },
  passphrase: "",
  again: "",
  own: "",
  without: false,
};

/**
 * An image in use has the passphrase that it has, or none (`own`, `none`); an amber one cannot do
 * without. One that was removed is as a new one, and its gate was passed when it was new.
 */
export function passphraseNeed(standing: PictureStanding): PassphraseNeed {
  if (standing.status === "shown") return "optional";
  if (standing.status === "of_share") return "never";
  if (standing.status !== "examined") return "none";
  const { level, known } = standing.verdict;
  if (known?.kind === "same") return known.passphrase === "needed" ? "own" : "none";
  if (known?.kind === "removed") return level === "green" ? "asked" : "required";
  if (known !== null || level === "red") return "none";
  return level === "amber" ? "required" : "asked";
}

/** The image of the book that a picture is; null for any other. */
export function imageOf(standing: PictureStanding): RecoveryImage | null {
  return standing.status === "examined" && standing.verdict.known?.kind === "same"
    ? standing.verdict.known.image
    : null;
}

/** The picture as the vault takes it; null while something is missing or it is refused. */
export function shownPictureOf(draft: PictureDraft): ShownPicture | null {
  const { standing, passphrase, again, own, without } = draft;
  if (standing.status !== "shown" && standing.status !== "of_share" && standing.status !== "examined") return null;
  const { picture } = standing;
  const need = passphraseNeed(standing);
  switch (need) {
    case "never":
      return { picture, passphrase: null };
    case "optional":
      return { picture, passphrase: passphrase === "" ? null : passphrase };
    case "own":
      return own === "" ? null : { picture, passphrase: own };
    case "none":
      return imageOf(standing) === null ? null : { picture, passphrase: null };
    case "asked":
    case "required":
      if (without && need === "asked") return { picture, passphrase: null };
      return passphrase !== "" && passphrase === again ? { picture, passphrase } : null;
    default:
      return need satisfies never;
  }
}
