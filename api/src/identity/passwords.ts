import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

import { commonPasswords } from "./common-passwords.ts";

export const minPasswordLength = 10; // characters
export const maxPasswordLength = 256; // characters: what one line can hold, and no way to keep the process busy

/** OWASP's first recommendation for Argon2id: 19 MiB, two passes, one lane; about 50 ms. */
const hashCost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;

/** On a thread of Node's own pool: whoever else waits for this process goes on meanwhile. */
const argon2Async = promisify(argon2);

export type PasswordProblem =
  | "password_missing"
  | "password_short"
  | "password_long"
  | "password_is_name"
  | "password_common";

/** Why a new password is refused; null when it is good. */
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

/** @returns an encoded hash: algorithm, cost and salt stand in it */
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
 * Compares with the hash; without one does the same work and says no, so that time does not tell
 * who has an account. @throws Error when what is stored is no hash.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const { length } = Array.from(normalizePassword(password));
  if (length === 0 || length > maxPasswordLength) return false; // no account has one
  const { nonce, expected, ...costs } = parseHash(hash ?? (await getDummyHash()));
  const actual = await argon2Async("argon2id", {
    message: normalizePassword(password),
    nonce,
    ...costs,
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected) && hash !== undefined;
}

/** The form that the reference implementation of Argon2 writes. */
function parseHash(encoded: string): {
  memory: number;
  passes: number;
  parallelism: number;
  nonce: Buffer;
  expected: Buffer;
} {
  const [, memory, passes, parallelism, salt, expected] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(encoded) ?? [];
  if (salt === undefined || expected === undefined) throw new Error("not an Argon2id hash");
  const hashCosts = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { ...hashCosts, nonce: Buffer.from(salt, "base64"), expected: Buffer.from(expected, "base64") };
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

let dummyHash: Promise<string> | undefined;
/** Call it once at start, else the first unknown name waits twice as long. */
export function getDummyHash(): Promise<string> {
  dummyHash ??= hashPassword(randomBytes(32).toString("base64url"));
  return dummyHash;
}

/**
 * The password as typed, in Unicode's composed form (NFC, as RFC 8265 4.2 says), because keyboards
 * differ in how they write "ñ". Nothing is trimmed and no case is folded.
 */
function normalizePassword(password: string): string {
  return password.normalize("NFC");
}
