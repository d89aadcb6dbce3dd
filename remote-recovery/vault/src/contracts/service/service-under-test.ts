import { createHash, randomBytes } from "node:crypto";

import { buildSecret, confirmChange, type Signer } from "@relicario/api/testing/person";
import type { KeyringChange } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

import type { Service } from "../../service/service.ts";

/** A service, with the calls of a portal's client. */
export interface ServiceUnderTest {
  /** Signs in as a new person. */
  readonly signIn: () => Promise<Account>;
  /** Calls without a session. */
  readonly visitor: HttpClient;
  /** Sets its clock ahead until the test ends. */
  readonly setClockOffset: (milliseconds: number) => void;
  /** Part size of uploads and answers. */
  readonly partBytes: number;
  /** Maximum for a secret. */
  readonly maxFormerVersions: number;
  readonly stop: () => Promise<void>;
}

export interface Account {
  readonly userName: string;
  readonly signer: Signer;
  readonly http: HttpClient;
  readonly calls: Service;
  /** Signs in as this person on another device. */
  readonly signInOtherDevice: () => Promise<HttpClient>;
  /** Advances the clock until the reset is allowed. Returns calls with a fresh sign-in. */
  readonly waitForReset: () => Promise<Service>;
}

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

export async function expectRefusal(call: Promise<unknown>, code: ErrorCode, details?: object): Promise<void> {
  await expect(call).rejects.toMatchObject({ code, ...(details === undefined ? {} : { details }) });
}

/** Expects all of these concurrent calls to be refused. */
export async function expectRefusals(calls: readonly Promise<unknown>[], code: ErrorCode): Promise<void> {
  await Promise.all(calls.map((call) => expectRefusal(call, code)));
}

export const randomB64u = (bytes: number): string => randomBytes(bytes).toString("base64url");
export const computeDigestB64u = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64url");
export const computeDigestOfB64u = (text: string): string => computeDigestB64u(Buffer.from(text, "base64url"));

/** Publishes a change, and records it with the signer. */
export async function putChange({ calls, signer }: Account, change: KeyringChange): Promise<void> {
  await calls.changeKeyring(change);
  confirmChange(signer, change);
}

export interface StoredSecret {
  readonly id: string;
  readonly body: ReturnType<typeof buildSecret>["body"];
}

/** Stores a new secret or, with `base`, the next version of a secret. */
export async function storeSecret(
  { calls, signer }: Account,
  options: Parameters<typeof buildSecret>[1] = {},
): Promise<StoredSecret> {
  const { body } = buildSecret(signer, options);
  await calls.store(body);
  confirmChange(signer, body.keyring);
  return { id: body.secret_db_id, body };
}

export async function signInWithSecret(
  service: ServiceUnderTest,
): Promise<{ account: Account; firstSecret: StoredSecret }> {
  const account = await service.signIn();
  return { account, firstSecret: await storeSecret(account) };
}

/** Reads everything that a call could change. */
export async function readAccountState({ calls }: Account): Promise<unknown> {
  return {
    keyring: await calls.getKeyring(null),
    records: await calls.getImageRecords(),
    page: await calls.getListPage({ cursor: null, since: null }),
  };
}

export async function readAllPages<T>(
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
