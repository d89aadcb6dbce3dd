import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

import { commonPasswords } from "./common-passwords.ts";

export const minPasswordLength = 10; // characters
export const maxPasswordLength = 256; // characters: what one line can hold, and no way to keep the process busy

/** OWASP's first recommendation for Argon2id: 19 MiB, two passes, one lane; about 50 ms. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;

/** On a thread of Node's own pool: whoever else waits for this process goes on meanwhile. */
const stretch = promisify(argon2);

export type PasswordProblem =
  | "password_missing"
  | "password_short"
  | "password_long"
  | "password_is_name"
  | "password_common";

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
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await stretch("argon2id", { message: canonical(password), nonce, ...cost, tagLength: hashBytes });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${String(memory)},t=${String(passes)},p=${String(parallelism)}$${unpadded(nonce)}$${unpadded(hash)}`;
}

/**
 * Compares with the hash; without one does the same work and says no, so that time does not tell
 * who has an account. @throws Error when what is stored is no hash.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const { length } = Array.from(canonical(password));
  if (length === 0 || length > maxPasswordLength) return false; // no account has one
  const { nonce, expected, ...used } = parsed(hash ?? (await nobodysHash()));
  const given = await stretch("argon2id", { message: canonical(password), nonce, ...used, tagLength: expected.length });
  return timingSafeEqual(given, expected) && hash !== undefined;
}

/** The form that the reference implementation of Argon2 writes. */
function parsed(encoded: string): {
  memory: number;
  passes: number;
  parallelism: number;
  nonce: Buffer;
  expected: Buffer;
} {
  const [, memory, passes, parallelism, nonce, expected] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(encoded) ?? [];
  if (nonce === undefined || expected === undefined) throw new Error("not an Argon2id hash");
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { ...costs, nonce: Buffer.from(nonce, "base64"), expected: Buffer.from(expected, "base64") };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

let nobody: Promise<string> | undefined;
/** Call it once at start, else the first unknown name waits twice as long. */
export function nobodysHash(): Promise<string> {
  nobody ??= hashPassword(randomBytes(32).toString("base64url"));
  return nobody;
}

/**
 * The password as typed, in Unicode's composed form (NFC, as RFC 8265 4.2 says), because keyboards
 * differ in how they write "ñ". Nothing is trimmed and no case is folded.
 */
function canonical(password: string): string {
  return password.normalize("NFC");
}
