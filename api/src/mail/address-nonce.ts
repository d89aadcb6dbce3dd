import { createHmac, timingSafeEqual } from "node:crypto";

/** One question to one account whether an address is its own. */
export interface AddressQuestion {
  readonly accountId: string;
  readonly id: string;
  readonly address: string;
}

const nonceBytes = 16;

/**
 * 128 bits that only this service can make and that fit this question alone; so they are kept
 * nowhere.
 */
export function nonceOf(key: Buffer, { accountId, id, address }: AddressQuestion): string {
  return createHmac("sha256", key)
    .update(`relicario/address\n${accountId}\n${id}\n${address}`)
    .digest()
    .subarray(0, nonceBytes)
    .toString("base64url");
}

export function isNonceOf(key: Buffer, question: AddressQuestion, nonce: string): boolean {
  const [expected, given] = [Buffer.from(nonceOf(key, question)), Buffer.from(nonce)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}
