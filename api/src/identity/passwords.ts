import { randomBytes } from "node:crypto";

import { argon2id, argon2Verify } from "hash-wasm";

import { commonPasswords } from "./common-passwords.ts";

const minPasswordLength = 10; // characters
const maxPasswordLength = 256; // characters: what one line can hold, and no way to keep the process busy

/** OWASP's first recommendation for Argon2id: 19 MiB, two passes, one lane; about 50 ms. */
const cost = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;

export type PasswordProblem = "password_missing" | "password_short" | "password_long" | "password_is_name" | "password_common";

/** Why a new password is refused; null when it is good. */
export function problemOfPassword(password: string, username: string, email: string): PasswordProblem | null {
  const length = Array.from(canonical(password)).length;
  if (length === 0) return "password_missing";
  if (length < minPasswordLength) return "password_short";
  if (length > maxPasswordLength) return "password_long";
  const folded = canonical(password).toLowerCase();
  const names = [username, email, email.split("@")[0] ?? ""].map((name) => canonical(name).trim().toLowerCase());
  if (names.includes(folded)) return "password_is_name";
  if (commonPasswords.has(folded) || new Set(folded).size === 1) return "password_common";
  return null;
}

/** @returns an encoded hash: algorithm, cost and salt stand in it */
export function hashPassword(password: string): Promise<string> {
  return argon2id({ password: canonical(password), salt: randomBytes(16), ...cost, outputType: "encoded" });
}

/** Compares with the hash; without one does the same work and says no, so that time does not tell who has an account. */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const { length } = Array.from(canonical(password));
  if (length === 0 || length > maxPasswordLength) return false; // no account has one
  const matches = await argon2Verify({ password: canonical(password), hash: hash ?? (await nobodysHash()) });
  return matches && hash !== undefined;
}

let nobody: Promise<string> | undefined;
/** Call it once at start, else the first unknown name waits twice as long. */
export function nobodysHash(): Promise<string> {
  nobody ??= hashPassword(randomBytes(32).toString("base64url"));
  return nobody;
}

/**
 * The password as typed, in Unicode's composed form (NFC, as RFC 8265 4.2 says), because keyboards differ in how they
 * write "ñ". Nothing is trimmed and no case is folded.
 */
function canonical(password: string): string {
  return password.normalize("NFC");
}
