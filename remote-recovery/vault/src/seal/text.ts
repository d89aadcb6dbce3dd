import { z } from "zod";

/** Well-formed text of 1…`max` characters (code points). */
export function nonEmptyText(max: number): z.ZodString {
  return boundedText(max).min(1);
}

/** Well-formed text of 0…`max` characters (code points). */
export function boundedText(max: number): z.ZodString {
  return z.string().refine((value) => value.isWellFormed() && Array.from(value).length <= max);
}
