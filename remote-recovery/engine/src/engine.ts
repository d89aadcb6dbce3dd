/**
 * The face of the image engine, profile RIE-1: bytes of a picture in, public sketches and image
 * secrets out. It knows nothing of keys, passphrases or storage; the vault does the rest. Only
 * types and constants live here, so importing this file loads no WASM.
 */

/**
 * Bits of one picture: one choice bit and one secret bit for each of 2047 pairs of coefficients.
 */
export const byteLengths = { choice: 256, syndrome: 86, imageSecret: 32 } as const;

/**
 * What enrolment publishes of a picture, and recovery needs. Bit i is bit (i mod 8) of byte ⌊i/8⌋;
 * unused bits are 0 (one in `choice`, six in `syndrome`).
 */
export interface Sketch {
  /**
   * 256 bytes: which coefficient of each pair is the larger one. Also the beacon that finds a
   * cropped or turned copy.
   */
  readonly choice: Uint8Array;
  /** 86 bytes: the BCH syndrome (682 bits) of the secret bits. */
  readonly syndrome: Uint8Array;
}

/**
 * `green`: may be used. `amber`: only together with a passphrase. `red`: is refused at enrolment.
 */
export const GateVerdict = { good: "green", marginal: "amber", refused: "red" } as const;
export type GateVerdict = (typeof GateVerdict)[keyof typeof GateVerdict];

/** Rules of the quality gate. Keys of the sentences that a person reads. */
export const GateReason = {
  /** The short side has fewer than 600 pixels. */
  tooSmall: "too_small",
  /** More than 52 million pixels. */
  tooLarge: "too_large",
  /** Too few parts of the picture hold any texture. */
  coverage: "coverage",
  /** The texture sits in too few places. */
  spread: "spread",
  /** Too little contrast in the fine structure, on the whole. */
  median: "median",
  /** Too little contrast in the weakest tenth of the fine structure. */
  tenth: "tenth",
  /** Whoever knows pictures in general could guess too much of this one. */
  estimate: "estimate",
  /**
   * A changed copy of the picture did not give the same secret with enough margin. Only the
   * self-test finds out, as the two below.
   */
  selfTest: "self_test",
  /** A copy a fifth brighter did not: copies that are made brighter may not open. Amber. */
  copyBright: "copy_bright",
  /**
   * A copy with a short side of 200 pixels did not, but one of 350 did: smaller copies may not
   * open. Amber.
   */
  copySmall: "copy_small",
} as const;
export type GateReason = (typeof GateReason)[keyof typeof GateReason];

/**
 * What the gate measures on the central 128 × 128 grid of the picture. All 0 when the picture is
 * too small to measure.
 */
export interface GateMeasures {
  /** Share of the 256 parts of the picture with a standard deviation above 3 grey levels, 0…1. */
  readonly coverage: number;
  /** Participation ratio of the band energy over these parts, 0…256. */
  readonly spread: number;
  /** Median over the pairs of the larger coefficient's magnitude, in grey levels. */
  readonly median: number;
  /** Its tenth percentile, in grey levels. */
  readonly tenth: number;
  /** Kurtosis of the band-passed picture: 3 is noise, large means few peaks. */
  readonly peak: number;
  /** Slope of ln magnitude over ln frequency. */
  readonly slope: number;
  /**
   * Estimated surprise for an attacker who knows pictures in general, bits per bit. Never shown as
   * a bit count.
   */
  readonly estimate: number;
}

/** The judgement of a picture for use as a recovery image. */
export interface GateReport {
  readonly verdict: GateVerdict;
  /** Every rule that keeps it from green, in fixed order; empty when green. */
  readonly reasons: readonly GateReason[];
  /** Those that make it red; empty when green or amber. */
  readonly refusalReasons: readonly GateReason[];
  /** Pixels, as seen (after the EXIF orientation). */
  readonly width: number;
  readonly height: number;
  readonly measures: GateMeasures;
}

/** A picture already in use, found while enrolling. */
export interface KnownPicture {
  /** Place in the list of sketches that was given. */
  readonly index: number;
  /** Beacon score, 0.20 or more. */
  readonly score: number;
  /**
   * 32 bytes when the picture recovers this sketch; null when it only resembles it (a crop too far,
   * an edited copy).
   */
  readonly imageSecretBytes: Uint8Array | null;
}

export interface EnrolResult {
  /**
   * Red only beside a `knownPicture` (a small copy, say), of which nothing new is made; else a red
   * picture is refused.
   */
  readonly gate: GateReport;
  readonly sketch: Sketch;
  /**
   * 32 bytes, SHA-256("RIE1/w" ‖ secret bits). The only secret that leaves the engine: hold it
   * briefly, fill it with 0.
   */
  readonly imageSecretBytes: Uint8Array;
  /**
   * The given sketch that this picture fits; then `sketch` must not be used. Null when it fits
   * none.
   */
  readonly knownPicture: KnownPicture | null;
}

/**
 * How a recovery ended. Scores are beacon scores: docs/engine-study.md has those of genuine copies
 * (0.39 and more) and of other pictures (0.05 in the middle, never 0.20).
 */
export type RecoverResult =
  | {
      readonly outcome: "recovered";
      /** Place of the sketch in the given list. */
      readonly index: number;
      /** 32 bytes, the same as at enrolment. */
      readonly imageSecretBytes: Uint8Array;
      /** Bits that had to be corrected, 0…68. */
      readonly errors: number;
      readonly score: number;
    }
  /** No sketch scores 0.20. `score` is the best. */
  | { readonly outcome: "not_this_picture"; readonly score: number }
  /** It is the picture of sketch `index`, but changed more than 68 bits can mend. */
  | { readonly outcome: "too_many_errors"; readonly index: number; readonly score: number };

/**
 * What the engine is doing: reading the file, trying the same framing, searching crops and turns,
 * testing itself.
 */
export const EnginePhase = {
  decoding: "decoding",
  straight: "straight",
  searching: "searching",
  selfTest: "self_test",
} as const;
export type EnginePhase = (typeof EnginePhase)[keyof typeof EnginePhase];

/** `done` of `total` steps of this phase; phases come in order, though not every call has each. */
export interface EngineProgress {
  readonly phase: EnginePhase;
  readonly done: number;
  readonly total: number;
}

export interface EngineOptions {
  /** Ends the call with `cancelled` at the next pause. */
  readonly signal?: AbortSignal;
  /** Called between steps, a few dozen times at most. */
  readonly onProgress?: (progress: EngineProgress) => void;
}

/**
 * Where to look when the usual search, which allows 6 % off each side, has not found a picture.
 * `screenshot`: there may be bars or a frame around it, along one axis, up to 45 % of that side
 * each. `frame`: the person has shown where the picture lies, to about 1 %: sides in parts of width
 * and height, as seen.
 */
export type SearchHint =
  | { readonly kind: "screenshot" }
  | {
      readonly kind: "frame";
      readonly left: number;
      readonly right: number;
      readonly top: number;
      readonly bottom: number;
    };

export interface InspectOptions extends EngineOptions {
  /** Also runs the self-test of a picture that is not red. */
  readonly selfTest?: boolean;
}

export interface RecoverOptions extends EngineOptions {
  /** Looks there instead of searching as usual. */
  readonly hint?: SearchHint;
}

/**
 * Every member takes the bytes of a picture file, as chosen, and leaves them untouched. Calls run
 * one after another. After a call the engine holds neither pixels nor bits of the picture.
 *
 * Every member rejects with a PortalError:
 * - `picture_unreadable`: not a picture, broken, or of a kind that is not read. `details.reason`:
 *   `empty`, `not_a_picture`, `unsupported` (then `details.kind`, such as `gif` or `cmyk_jpeg`),
 *   `broken`, `too_small` (under 64 pixels).
 * - `picture_too_large`: more than 52 million pixels, or more memory than 900 MB. `details.width`,
 *   `details.height`.
 * - `cancelled`: the signal was aborted.
 */
export interface Engine {
  /**
   * Judges a picture with the gate, by default without the self-test. A picture under 64 pixels is
   * red, `too_small`.
   */
  readonly inspect: (picture: Uint8Array, options?: InspectOptions) => Promise<GateReport>;

  /**
   * Makes the sketch and the image secret of a picture, after comparing it with the sketches of the
   * account's book. A picture that fits one of them returns with `knownPicture` set, without
   * self-test, whatever the gate says. `picture_too_plain`: the gate says red; `details.reasons`
   * lists the {@link GateReason}s, `details.width`, `details.height`.
   */
  readonly enrol: (
    picture: Uint8Array,
    knownSketches: readonly Sketch[],
    options?: EngineOptions,
  ) => Promise<EnrolResult>;

  /**
   * Looks for a picture in sketches: the same framing first, then crops, turns and mirrors. No fit
   * is a result, not an error.
   */
  readonly recover: (
    picture: Uint8Array,
    sketches: readonly Sketch[],
    options?: RecoverOptions,
  ) => Promise<RecoverResult>;
}
