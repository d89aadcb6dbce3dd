import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

import { commonPasswords } from "./common-passwords.ts";

export const minPasswordLength = 10; // characters
export const maxPasswordLength = 256; // characters; bounds the cost of hashing

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane; about 50 ms. */
const hashCost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;

/** Runs in Node's thread pool, without blocking other calls. */
const argon2Async = promisify(argon2);

export type PasswordProblem =
  | "password_missing"
  | "password_short"
  | "password_long"
  | "password_is_name"
  | "password_common";

/** @returns why a new password is refused; null when it is accepted */
export function findPasswordProblem(password: string, username: string, email: string): PasswordProblem | null {
  const length = Array.from(normalizePassword(password)).length;
  if (length === 0) return "password_missing";
  if (length < minPasswordLength) return "password_short";
  if (length > maxPasswordLength) return "password_long";
  const normalizedPassword = normalizePassword(password).toLowerCase();
  const names = [username, email, email.split("@")[0] ?? ""].map((name) =>
    normalizePassword(name).trim().toLowerCase(),
  );
  if (names.includes(normalizedPassword)) return "password_is_name";
  if (commonPasswords.has(normalizedPassword) || new Set(normalizedPassword).size === 1) return "password_common";
  return null;
}

/** @returns the encoded hash with algorithm, cost and salt */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await argon2Async("argon2id", {
    message: normalizePassword(password),
    nonce: salt,
    ...hashCost,
    tagLength: hashBytes,
  });
  const { memory, passes, parallelism } = hashCost;
  return `$argon2id$v=19$m=${String(memory)},t=${String(passes)},p=${String(parallelism)}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(hash)}`;
}

/**
 * Verifies a password. Without a hash, does the same work and returns false, so that timing does
 * not reveal who has an account. @throws Error when the stored text is no hash
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const { length } = Array.from(normalizePassword(password));
  if (length === 0 || length > maxPasswordLength) return false; // no account has such a password
  const { salt, expected, ...costs } = parseHash(hash ?? (await getDummyHash()));
  const actual = await argon2Async("argon2id", {
    message: normalizePassword(password),
    nonce: salt,
    ...costs,
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected) && hash !== undefined;
}

/** Parses the format of Argon2's reference implementation. */
function parseHash(encoded: string): {
  memory: number;
  passes: number;
  parallelism: number;
  salt: Buffer;
  expected: Buffer;
} {
  const [, memory, passes, parallelism, salt, expected] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(encoded) ?? [];
  if (salt === undefined || expected === undefined) throw new Error("not an Argon2id hash");
  const hashCosts = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { ...hashCosts, salt: Buffer.from(salt, "base64"), expected: Buffer.from(expected, "base64") };
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

let dummyHash: Promise<string> | undefined;
/**
 * Computes the hash that is verified for unknown names. Call it at the start; otherwise the first
 * unknown name takes twice as long.
 */
export function getDummyHash(): Promise<string> {
  dummyHash ??= hashPassword(randomBytes(32).toString("base64url"));
  return dummyHash;
}

/**
 * Unicode's composed form (NFC, RFC 8265 4.2), because keyboards encode "ñ" differently. Nothing is
 * trimmed and case is kept.
 */
function normalizePassword(password: string): string {
  return password.normalize("NFC");
}
