import { ValidateContactEmail } from "@relicario/shared/api";
import type { z } from "zod";

/** What the link of an e-mail carries: the address that is confirmed, and 128 random bits that are good for one use. */
export type EmailLink = z.infer<typeof ValidateContactEmail>;

/** Reads `#value=…&nonce=…`; null when one is missing or is not what it should be. */
export function linkOf(hash: string): EmailLink | null {
  const parsed = ValidateContactEmail.safeParse(Object.fromEntries(new URLSearchParams(hash.replace(/^#/, ""))));
  return parsed.success ? parsed.data : null;
}
