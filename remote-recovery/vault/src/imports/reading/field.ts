import type { RecordFieldKind } from "@relicario/shared/api";

import type { ImportTextKey } from "./import-texts.ts";

/** A field with one of our names, or with the name in the file. */
export interface Field {
  readonly name: ImportTextKey | { readonly own: string };
  readonly value: string | null | undefined;
  /** Kind that the file states. Default: that of our name; a field with its own name is secret. */
  readonly kind?: RecordFieldKind | undefined;
  /** Sections that contain the field, outermost first. Part of the text, but not of the mark. */
  readonly sections?: readonly string[];
  /** Set for a replaced value: the time in the file; null if the file has none. */
  readonly former?: string | number | null;
}
