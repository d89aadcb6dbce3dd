import type { VerificationKey } from "@relicario/shared/contract";
import { base64url, CompactSign, exportJWK, GeneralSign, generateKeyPair, type CryptoKey } from "jose";

/** Key pair of a portal or of a team. */
export interface Signer {
  readonly key: CryptoKey;
  readonly publicKey: VerificationKey;
}

export async function createSigner(kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const { x = "" } = await exportJWK(publicKey);
  return { key: privateKey, publicKey: { kid, kty: "OKP", crv: "Ed25519", x } };
}

const encodeJson = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** [Note: The signed deployment document] in verify.ts. */
export const signDocument = async (deployment: unknown, signer: Signer, alg = "EdDSA") => {
  const payload = base64url.encode(encodeJson(deployment));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(payload));
  const { signatures } = await new GeneralSign(new Uint8Array(digest))
    .addSignature(signer.key)
    .setProtectedHeader({ alg, kid: signer.publicKey.kid })
    .sign();
  return { payload, signatures };
};

/** JWS compact, as records of releases have it. */
export const signRecord = (record: unknown, signer: Signer) =>
  new CompactSign(encodeJson(record)).setProtectedHeader({ alg: "EdDSA", kid: signer.publicKey.kid }).sign(signer.key);
