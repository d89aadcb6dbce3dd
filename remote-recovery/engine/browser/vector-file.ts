/** The part of vectors/rie1.json that the browsers recompute. */
interface SearchRow {
  readonly errors: number | null;
  readonly score: number;
  readonly reason: string;
}

export interface VectorFile {
  readonly bch: {
    readonly patterns: readonly { readonly name: string; readonly positions: readonly number[]; readonly difference: string; readonly decodes: boolean }[];
  };
  readonly pictures: readonly {
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly rgb_sha256: string;
    readonly sat_f64le_sha256: string;
    readonly grid_f64le_sha256: string;
    readonly coefficients_f64le_sha256: string;
    readonly choice: string;
    readonly secret_bits: string;
    readonly syndrome: string;
    readonly image_secret: string;
    readonly gate: { readonly verdict: string };
  }[];
  readonly orientations: readonly (SearchRow & { readonly photo: string; readonly orientation: string })[];
  readonly stored: readonly (SearchRow & { readonly enrolled: string; readonly file: string })[];
  readonly strangers: readonly (SearchRow & { readonly enrolled: string; readonly shown: string })[];
}
