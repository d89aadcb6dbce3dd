import { join } from "node:path";

import { VerificationKey, type RemoteName } from "@relicario/shared/contract";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey } from "jose";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { readOrCreate } from "./write-once.ts";

/** Development keys of the teams. */
const teamKeysFolder = join(rootFolder, ".data/keys");

/** Private Ed25519 key as stored in its file (0600). `kid` is its thumbprint (RFC 7638). */
export const StoredKey = z.strictObject({ ...VerificationKey.shape, d: z.string().length(43) });

export interface SigningKeyPair {
  readonly publicKey: VerificationKey;
  readonly privateKey: CryptoKey;
}

/** Creates the key the first time. Concurrent processes get the same one. */
export async function loadOrCreateKeyPair(folder: string, name: string): Promise<SigningKeyPair> {
  return importKeyPair(await readOrCreate(join(folder, `${name}.json`), generateKey));
}

/** @throws Error for anything but a {@link StoredKey} */
export async function importKeyPair(storedKey: unknown): Promise<SigningKeyPair> {
  const { d, ...publicKey } = StoredKey.parse(storedKey);
  const privateKey = await importJWK({ ...publicKey, d }, "EdDSA");
  if (privateKey instanceof Uint8Array) throw new TypeError("an Ed25519 key is no secret");
  return { publicKey, privateKey };
}

/** The key with which a remote's team signs releases. */
export function loadTeamKeyPair(remote: RemoteName, folder: string = teamKeysFolder): Promise<SigningKeyPair> {
  return loadOrCreateKeyPair(folder, `team-${remote}`);
}

export async function generateKey(): Promise<z.infer<typeof StoredKey>> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return StoredKey.parse({ kid: await calculateJwkThumbprint(jwk), kty: jwk.kty, crv: jwk.crv, x: jwk.x, d: jwk.d });
}
