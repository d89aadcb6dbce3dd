import { createHmac, timingSafeEqual } from "node:crypto";

/** The validation of one address of one account. */
export interface AddressValidation {
  readonly accountId: string;
  readonly id: string;
  readonly address: string;
}

const nonceBytes = 16;

/** 128 bits derived from the validation with the service's key, so that no nonce is stored. */
export function deriveNonce(key: Buffer, { accountId, id, address }: AddressValidation): string {
  return createHmac("sha256", key)
    .update(`relicario/address\n${accountId}\n${id}\n${address}`)
    .digest()
    .subarray(0, nonceBytes)
    .toString("base64url");
}

export function isValidNonce(key: Buffer, validation: AddressValidation, nonce: string): boolean {
  const [expected, actual] = [Buffer.from(deriveNonce(key, validation)), Buffer.from(nonce)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
