import { join } from "node:path";

import { VerificationKey, type RemoteName } from "@relicario/shared/contract";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey } from "jose";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { readOrCreate } from "./write-once.ts";

/** Where this checkout keeps the keys with which its teams sign releases. */
const teamKeysFolder = join(rootFolder, ".data/keys");

/**
 * Private Ed25519 key as it lies in its file, readable by its owner only. Its id is its thumbprint
 * (RFC 7638).
 */
export const StoredKey = z.strictObject({ ...VerificationKey.shape, d: z.string().length(43) });

export interface SigningKeyPair {
  readonly publicKey: VerificationKey;
  readonly privateKey: CryptoKey;
}

/** The key of a name, made the first time. Two processes that ask at once get the same one. */
export async function loadOrCreateKeyPair(folder: string, name: string): Promise<SigningKeyPair> {
  const { d, ...publicKey } = StoredKey.parse(await readOrCreate(join(folder, `${name}.json`), generateKey));
  const privateKey = await importJWK({ ...publicKey, d }, "EdDSA");
  if (privateKey instanceof Uint8Array) throw new TypeError(`the key ${name} is no key pair`);
  return { publicKey, privateKey };
}

/** The key with which the team of a remote signs its releases on this machine. */
export function loadTeamKeyPair(remote: RemoteName, folder: string = teamKeysFolder): Promise<SigningKeyPair> {
  return loadOrCreateKeyPair(folder, `team-${remote}`);
}

/** A fresh private key with its id. */
export async function generateKey(): Promise<z.infer<typeof StoredKey>> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return StoredKey.parse({ kid: await calculateJwkThumbprint(jwk), kty: jwk.kty, crv: jwk.crv, x: jwk.x, d: jwk.d });
}
