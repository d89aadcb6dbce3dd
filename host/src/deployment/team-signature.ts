import type { VerificationKey } from "@relicario/shared/contract";
import { compactVerify, createLocalJWKSet } from "jose";

/**
 * Most characters of a signed record or override. WebKitGTK's Ed25519 ends the page's process for a
 * message of 64 KiB. The tools sign no longer one; the portal's largest has some 20,000.
 */
const maxJwsLength = 65_000;

/**
 * Returns the parsed payload, not validated yet.
 *
 * @throws without a valid signature by one of the keys, or if the payload is not JSON
 */
export async function verifyTeamSignature(jws: string, keys: readonly VerificationKey[]): Promise<unknown> {
  if (jws.length > maxJwsLength) throw new RangeError("the signed record is too long");
  const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
  return JSON.parse(new TextDecoder().decode(payload));
}
