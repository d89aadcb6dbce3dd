import { ContactEmail } from "@relicario/shared/api";
import { z } from "zod";

/** What the link of an e-mail carries. */
export interface EmailLink {
  /** The address that is confirmed. */
  readonly value: string;
  /** 128 random bits, good for one use. */
  readonly nonce: string;
}

const Link = z.object({ value: ContactEmail, nonce: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/) });

/** Reads `#value=…&nonce=…`; null when one is missing or is not what it should be. */
export function linkOf(hash: string): EmailLink | null {
  const parsed = Link.safeParse(Object.fromEntries(new URLSearchParams(hash.replace(/^#/, ""))));
  return parsed.success ? parsed.data : null;
}
