import type { ImportTextKey } from "./words.ts";

/** A field by one of our names, or by the one that it had. */
export interface Field {
  readonly name: ImportTextKey | { readonly own: string };
  readonly value: string | null | undefined;
  /**
   * Sections that it stands in, the outermost first. They stand in the text and not in the mark.
   */
  readonly sections?: readonly string[];
  /** Of a value that was replaced: the time that the file has for it, null where it has none. */
  readonly former?: string | number | null;
}
