import { hash, timingSafeEqual } from "node:crypto";

/** Compares two texts in a time that does not depend on where they differ. */
export function equalsInConstantTime(actual: string, expected: string): boolean {
  const [actualDigest, expectedDigest] = [actual, expected].map((text) => hash("sha256", text, "buffer"));
  return actualDigest !== undefined && expectedDigest !== undefined && timingSafeEqual(actualDigest, expectedDigest);
}
