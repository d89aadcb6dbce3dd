import { z } from "zod";

/** Text that JCS can carry, counted in characters as people see the limits; at least one. */
export function nonEmptyText(max: number): z.ZodString {
  return boundedText(max).min(1);
}

/** As {@link nonEmptyText}, and it may be empty. */
export function boundedText(max: number): z.ZodString {
  return z.string().refine((value) => value.isWellFormed() && Array.from(value).length <= max);
}
