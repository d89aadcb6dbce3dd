/**
 * Interface of the image engine, profile RIE-1: takes the bytes of a picture, returns public
 * sketches and image secrets. Has only types and constants, so that importing it loads no WASM.
 */

/**
 * Byte lengths of a picture's data. A picture has 2047 buckets, each a pair of coefficients; each
 * bucket gives one choice bit and one secret bit.
 */
export const byteLengths = { choice: 256, syndrome: 86, imageSecret: 32 } as const;

/**
 * Public data of an enrolled picture. Bit i is bit (i mod 8) of byte ⌊i/8⌋; unused bits are 0 (one
 * in `choice`, six in `syndrome`).
 */
export interface Sketch {
  /**
   * 256 bytes that say which coefficient of each pair is larger. Finds cropped and turned copies
   * too.
   */
  readonly choice: Uint8Array;
  /** 86 bytes: the BCH syndrome (682 bits) of the secret bits. */
  readonly syndrome: Uint8Array;
}

/** `green`: usable. `amber`: usable only with a passphrase. `red`: refused at enrolment. */
export const GateVerdict = { good: "green", marginal: "amber", refused: "red" } as const;
export type GateVerdict = (typeof GateVerdict)[keyof typeof GateVerdict];

/** Rules of the quality gate; also keys of the texts that people read. */
export const GateReason = {
  /** The short side has fewer than 600 pixels. */
  tooSmall: "too_small",
  /** More than 52 million pixels. */
  tooLarge: "too_large",
  /** Too few parts of the picture have texture. */
  coverage: "coverage",
  /** The texture is concentrated in too few places. */
  spread: "spread",
  /** The typical contrast of fine structure is too low. */
  median: "median",
  /** The contrast of the weakest tenth of the fine structure is too low. */
  tenth: "tenth",
  /** The bits are too predictable for an attacker who knows pictures in general. */
  estimate: "estimate",
  /** Looks like a screenshot or a drawing, which others can draw or find. `amber`. */
  drawn: "drawn",
  /**
   * A changed copy failed or had too little margin. This reason and the next three come only from
   * the self-test.
   */
  selfTest: "self_test",
  /** A copy a fifth brighter failed: brightened copies may not open. `amber`. */
  copyBright: "copy_bright",
  /**
   * A copy with a short side of 200 pixels failed, but not one of 350: smaller copies may not open.
   * `amber`.
   */
  copySmall: "copy_small",
  /**
   * Parts are transparent and a copy on black failed, so only copies on white would open. `red`.
   */
  transparent: "transparent",
} as const;
export type GateReason = (typeof GateReason)[keyof typeof GateReason];

/** Measures on the central 128 × 128 grid. All 0 when the picture is too small. */
export interface GateMeasures {
  /** Share of the 256 parts of the picture with a standard deviation above 3 grey levels, 0…1. */
  readonly coverage: number;
  /** Participation ratio of the band energy over these parts, 0…256. */
  readonly spread: number;
  /** Median over the pairs of the larger magnitude, in grey levels. */
  readonly median: number;
  /** Tenth percentile of these magnitudes, in grey levels. */
  readonly tenth: number;
  /** Kurtosis of the band-passed picture. Noise has 3; large values mean few peaks. */
  readonly peak: number;
  /** Slope of ln magnitude over ln frequency. */
  readonly slope: number;
  /**
   * Estimated entropy per bit for an attacker who knows pictures in general. Never displayed as a
   * bit count.
   */
  readonly estimate: number;
}

/** Verdict on a picture as a recovery image. */
export interface GateReport {
  readonly verdict: GateVerdict;
  /** Every rule that prevents `green`, in fixed order. */
  readonly reasons: readonly GateReason[];
  /** The rules that make it `red`. */
  readonly refusalReasons: readonly GateReason[];
  /** Pixels, after the EXIF orientation. */
  readonly width: number;
  readonly height: number;
  readonly measures: GateMeasures;
}

/** An existing image that was found during enrolment. */
export interface KnownPicture {
  /** Index in the given sketches. */
  readonly index: number;
  /** Beacon score, 0.20 or more. */
  readonly score: number;
  /**
   * 32 bytes if the picture recovers this sketch. Null if the picture only resembles the image,
   * like an edited copy or one cropped too far.
   */
  readonly imageSecretBytes: Uint8Array | null;
}

export interface EnrolResult {
  /** `red` only with a `knownPicture`, such as a small copy. Other red pictures are refused. */
  readonly gate: GateReport;
  readonly sketch: Sketch;
  /**
   * 32 bytes, SHA-256("RIE1/w" ‖ secret bits). The only secret that leaves the engine: keep it
   * briefly, then fill it with 0.
   */
  readonly imageSecretBytes: Uint8Array;
  /** The image that this picture already is; do not use `sketch` then. Null for a new picture. */
  readonly knownPicture: KnownPicture | null;
}

/**
 * Result of a search. Scores are beacon scores: genuine copies have 0.39 or more, other pictures
 * less than 0.20 (docs/engine-study.md).
 */
export type RecoverResult =
  | {
      readonly outcome: "recovered";
      /** Index in the given sketches. */
      readonly index: number;
      /** 32 bytes, the same as at enrolment. */
      readonly imageSecretBytes: Uint8Array;
      /** Corrected bits, 0…68. */
      readonly errors: number;
      readonly score: number;
    }
  /** No sketch scores 0.20 or more. `score` is the best. */
  | { readonly outcome: "not_this_picture"; readonly score: number }
  /** The picture of sketch `index`, but with more than 68 errors. */
  | { readonly outcome: "too_many_errors"; readonly index: number; readonly score: number };

/**
 * Phases of a call: decoding the file, trying the framing of enrolment, searching crops and turns,
 * testing changed copies.
 */
export const EnginePhase = {
  decoding: "decoding",
  straight: "straight",
  searching: "searching",
  selfTest: "self_test",
} as const;
export type EnginePhase = (typeof EnginePhase)[keyof typeof EnginePhase];

/** `done` of `total` steps of a phase. Phases come in order; a call may skip some. */
export interface EngineProgress {
  readonly phase: EnginePhase;
  readonly done: number;
  readonly total: number;
}

export interface EngineOptions {
  /** Rejects the call with `cancelled` at the next pause. */
  readonly signal?: AbortSignal;
  /** Called between steps, at most a few dozen times. */
  readonly onProgress?: (progress: EngineProgress) => void;
}

/**
 * Where to search after the usual search, which covers up to 6 % cut off each side. `screenshot`:
 * the picture has bars along one axis, each up to 45 % of that side. `frame`: sides that the person
 * drew, exact to about 1 %, as fractions of width and height after orientation.
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
  /** Also runs the self-test, unless the picture is red. */
  readonly selfTest?: boolean;
}

export interface RecoverOptions extends EngineOptions {
  /** Replaces the usual search. */
  readonly hint?: SearchHint;
}

/**
 * Calls take the bytes of a picture file and do not change them. Calls run one after another. After
 * a call, the engine keeps neither pixels nor bits of the picture.
 *
 * Calls reject with a PortalError:
 * - `picture_unreadable`, with `details.reason`: `empty`, `not_a_picture`, `unsupported` (then
 *   `details.kind`, such as `gif` or `cmyk_jpeg`), `broken` or `too_small` (under 64 pixels). What
 *   is left of a broken file may still recover a sketch.
 * - `picture_too_large`: more than 52 million pixels, or more than 900 MB of memory.
 *   `details.width`, `details.height`.
 * - `cancelled`: the signal was aborted.
 *
 * A malformed sketch rejects with a TypeError.
 */
export interface Engine {
  /**
   * Judges a picture with the gate, by default without the self-test. A picture under 64 pixels
   * gets `red` with `too_small`.
   */
  readonly inspect: (picture: Uint8Array, options?: InspectOptions) => Promise<GateReport>;

  /**
   * Computes the sketch and the image secret of a picture. If the picture fits one of
   * `knownSketches`, skips gate and self-test and returns `knownPicture`.
   *
   * Rejects with `picture_too_plain` if the verdict is `red`: `details.reasons` has {@link
   * GateReason}s; `details.width` and `details.height` the size.
   */
  readonly enrol: (
    picture: Uint8Array,
    knownSketches: readonly Sketch[],
    options?: EngineOptions,
  ) => Promise<EnrolResult>;

  /**
   * Searches for a picture's sketch: first with the framing of enrolment, then in crops, turns and
   * mirrors. Finding none is a result, not an error.
   */
  readonly recover: (
    picture: Uint8Array,
    sketches: readonly Sketch[],
    options?: RecoverOptions,
  ) => Promise<RecoverResult>;
}
