import { z } from "zod";

/** Text that JCS can carry, counted in characters as people see the limits; at least one. */
export function text(max: number): z.ZodString {
  return textOrNone(max).min(1);
}

/** As {@link text}, and it may be empty. */
export function textOrNone(max: number): z.ZodString {
  return z.string().refine((value) => value.isWellFormed() && Array.from(value).length <= max);
}
