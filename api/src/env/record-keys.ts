import { z } from "zod";

/** At least one key of 32 bytes: the first seals and signs, all open and verify. */
export type RecordKeys = readonly [current: Buffer, ...others: Buffer[]];

/** `RECORD_KEY`: keys in base64url, separated by commas, the current one first. */
export const RecordKeys = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}(,[A-Za-z0-9_-]{43})*$/, "is not 32 bytes in base64url, or several separated by commas")
  .transform((text): RecordKeys => {
    const [current = "", ...others] = text.split(",");
    return [Buffer.from(current, "base64url"), ...others.map((key) => Buffer.from(key, "base64url"))];
  });
