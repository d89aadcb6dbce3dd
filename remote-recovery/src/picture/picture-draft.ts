import type { PictureVerdict, ShownImage } from "@relicario/shared/contract";

/** A file that is larger than this holds no picture of 52 million pixels; nothing is read of it. */
export const maxPictureBytes = 256 * 1024 * 1024;

/** How a chosen file stands. */
export type PictureStanding =
  | { readonly status: "none" }
  | { readonly status: "examining"; readonly picture: Blob }
  | { readonly status: "examined"; readonly picture: Blob; readonly verdict: PictureVerdict }
  /** Chosen for opening: not judged. */
  | { readonly status: "shown"; readonly picture: Blob }
  | { readonly status: "failed"; readonly error: unknown };

/** What the person has given so far. Passphrases are exactly as typed. */
export interface PictureDraft {
  readonly standing: PictureStanding;
  readonly passphrase: string;
  readonly again: string;
  /** "Go without a passphrase" was ticked. */
  readonly without: boolean;
}

/** What a picture needs beside itself before it can be used. */
export type PassphraseNeed = "none" | "asked" | "required" | "optional";

/** An image in use keeps its passphrase and is not asked again; an amber one cannot do without. */
export function passphraseNeed(standing: PictureStanding): PassphraseNeed {
  if (standing.status === "shown") return "optional";
  if (standing.status !== "examined" || standing.verdict.level === "red" || standing.verdict.known !== null) return "none";
  return standing.verdict.level === "amber" ? "required" : "asked";
}

/** The image as the vault takes it; null while something is missing or the picture is refused. */
export function shownImageOf(draft: PictureDraft): ShownImage | null {
  const { standing, passphrase, again, without } = draft;
  if (standing.status === "shown") return { picture: standing.picture, passphrase: passphrase === "" ? null : passphrase };
  if (standing.status !== "examined" || standing.verdict.level === "red") return null;
  const { picture, verdict } = standing;
  if (verdict.known?.kind === "resembles") return null;
  if (verdict.known !== null) return { picture, passphrase: null };
  if (without && verdict.level === "green") return { picture, passphrase: null };
  return passphrase !== "" && passphrase === again ? { picture, passphrase } : null;
}
