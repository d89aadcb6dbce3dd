import { base64urlnopad } from "@scure/base";

/** Proves that the client that redeems a code has also requested it (RFC 7636, S256). */
export interface PkcePair {
  /** 32 random bytes, base64url. Kept here until the code is redeemed. */
  readonly verifier: string;
  /** SHA-256 of the verifier, base64url. Sent with the request. */
  readonly challenge: string;
}

export async function createPkcePair(): Promise<PkcePair> {
  const verifier = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: base64urlnopad.encode(new Uint8Array(digest)) };
}
