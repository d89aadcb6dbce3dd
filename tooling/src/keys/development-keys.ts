import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { VerificationKey, type RemoteName } from "@relicario/shared/contract";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey } from "jose";
import { z } from "zod";

import { rootFolder } from "../paths.ts";

/** Where this checkout keeps the keys with which its teams sign releases. */
export const teamKeysFolder = join(rootFolder, ".data/keys");

/** Private Ed25519 key as it lies in its file, readable by its owner only. Its id is its thumbprint (RFC 7638). */
const StoredKey = z.strictObject({ ...VerificationKey.shape, d: z.string().length(43) });

export interface SigningKey {
  readonly publicKey: VerificationKey;
  readonly privateKey: CryptoKey;
}

/** The key of a name, made the first time. Two processes that ask at once get the same one. */
export async function developmentKey(folder: string, name: string): Promise<SigningKey> {
  const file = join(folder, `${name}.json`);
  const stored = StoredKey.parse(JSON.parse(readIfThere(file) ?? (await makeKey(folder, file))));
  const { d, ...publicKey } = stored;
  const privateKey = await importJWK({ ...publicKey, d }, "EdDSA");
  if (privateKey instanceof Uint8Array) throw new TypeError(`${file} holds no key pair`);
  return { publicKey, privateKey };
}

/** The key with which the team of a remote signs its releases on this machine. */
export function teamKey(remote: RemoteName, folder: string = teamKeysFolder): Promise<SigningKey> {
  return developmentKey(folder, `team-${remote}`);
}

async function makeKey(folder: string, file: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return writeOnce(file, `${JSON.stringify({ kid, ...jwk }, null, 2)}\n`);
}

/** Writes a private file unless it is there already; returns what then stands in it. */
export function writeOnce(file: string, text: string): string {
  const part = `${file}.${randomUUID()}.part`;
  writeFileSync(part, text, { mode: 0o600 });
  try {
    linkSync(part, file);
  } catch (error) {
    // Somebody else was first: theirs counts.
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(part, { force: true });
  }
  return readFileSync(file, "utf8");
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
