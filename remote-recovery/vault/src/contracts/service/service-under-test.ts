import { createHash, randomBytes } from "node:crypto";

import { buildSecret, confirmChange, type Signer } from "@relicario/api/testing/person";
import type { KeyringChange } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

import type { Service } from "../../service/service.ts";

/** A service as a portal's client reaches it. Several people sign in to it. */
export interface ServiceUnderTest {
  /** Signs in a new person. */
  readonly signIn: () => Promise<Account>;
  /** Calls without a session. */
  readonly visitor: HttpClient;
  /** Sets its clock so far ahead until the test ends. */
  readonly setClockOffset: (milliseconds: number) => void;
  /** Bytes of a part of an upload or of an answer. */
  readonly partBytes: number;
  /** Former versions that are kept of a secret. */
  readonly formerVersions: number;
  readonly stop: () => Promise<void>;
}

export interface Account {
  readonly userName: string;
  readonly signer: Signer;
  readonly http: HttpClient;
  readonly calls: Service;
  /** Signs in on another device. */
  readonly signInAgain: () => Promise<HttpClient>;
  /**
   * Has the reset of the account asked for, and goes ahead until it may begin. Gives calls that may
   * begin it.
   */
  readonly waitForReset: () => Promise<Service>;
}

export const minute = 60_000;
export const day = 24 * 60 * minute;

export async function expectRefusal(call: Promise<unknown>, code: ErrorCode, details?: object): Promise<void> {
  await expect(call).rejects.toMatchObject({ code, ...(details === undefined ? {} : { details }) });
}

/** All of them at once. */
export async function expectRefusals(calls: readonly Promise<unknown>[], code: ErrorCode): Promise<void> {
  await Promise.all(calls.map((call) => expectRefusal(call, code)));
}

export const randomB64u = (bytes: number): string => randomBytes(bytes).toString("base64url");
export const digestB64u = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64url");
export const digestOfB64u = (text: string): string => digestB64u(Buffer.from(text, "base64url"));

/** Sends a change, and keeps what the service confirmed. */
export async function putChange({ calls, signer }: Account, change: KeyringChange): Promise<void> {
  await calls.changeKeyring(change);
  confirmChange(signer, change);
}

export interface StoredSecret {
  readonly id: string;
  /** Of this version. */
  readonly body: ReturnType<typeof buildSecret>["body"];
}

/** Stores a new secret, or with `base` the next version of one. */
export async function storeSecret(
  { calls, signer }: Account,
  options: Parameters<typeof buildSecret>[1] = {},
): Promise<StoredSecret> {
  const { body } = buildSecret(signer, options);
  await calls.store(body);
  confirmChange(signer, body.keyring);
  return { id: body.secret_db_id, body };
}

/** Signs in a person who stores a secret. */
export async function signInWithSecret(service: ServiceUnderTest): Promise<{ account: Account; first: StoredSecret }> {
  const account = await service.signIn();
  return { account, first: await storeSecret(account) };
}

/** What the service keeps of an account, as far as a call could change it. */
export async function stateOf({ calls }: Account): Promise<unknown> {
  return {
    keyring: await calls.getKeyring(null),
    records: await calls.getImageRecords(),
    page: await calls.getListPage({ cursor: null, since: null }),
  };
}

/** All of what comes in pages. */
export async function allPages<T>(
  read: (cursor: string | null) => Promise<{ readonly rows: readonly T[]; readonly next: string | null }>,
): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof read>> = await read(cursor);
    rows.push(...page.rows);
    cursor = page.next;
  } while (cursor !== null);
  return rows;
}
