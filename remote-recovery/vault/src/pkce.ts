import { base64urlnopad } from "@scure/base";

/** Proof that who redeems a code is who asked for it (RFC 7636, S256). */
export interface PkcePair {
  /** 32 random bytes, base64url: kept here until the code is redeemed. */
  readonly verifier: string;
  /** SHA-256 of the verifier, base64url: sent with the request. */
  readonly challenge: string;
}

export async function createPkcePair(): Promise<PkcePair> {
  const verifier = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: base64urlnopad.encode(new Uint8Array(digest)) };
}
