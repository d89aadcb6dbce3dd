import { bytesToHex } from "@noble/hashes/utils.js";
import { PositiveInt, Digest, toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { MetadataKeys } from "./account-key.ts";
import { sha256, utf8 } from "./bytes.ts";
import { computeJweDigest, parseUnverifiedHeader, jweTypes, openJwe, sealJwe } from "./document.ts";

/** Summary of all documents of the account after one keyring change. */
export const State = z.strictObject({
  v: z.literal(1),
  key_epoch: PositiveInt,
  state_rev: PositiveInt,
  /** Number of rows, including the trash. */
  count: z.int().min(0),
  /** {@link computeRoot} of all rows. */
  root: Digest,
  book_sha256: Digest,
  shares_sha256: Digest,
  /** Null before the first request. */
  requests_sha256: Digest.nullable(),
});
export type State = z.infer<typeof State>;

/** A row as covered by the root, with the digest of its label. */
export interface RootRow {
  readonly secretId: string;
  readonly version: number;
  readonly rev: number;
  /** {@link computeLabelDigest} of the compact JWE as sent. */
  readonly labelHex: string;
}

/** SHA-256 of a label as sent, in lower-case hex. */
export function computeLabelDigest(jwe: string): string {
  return bytesToHex(computeJweDigest(jwe));
}

/**
 * Computes SHA-256 (base64url) of the ASCII lines `secret_id SP version SP rev SP
 * sha256-of-label-in-hex LF`, sorted by id.
 */
export function computeRoot(rows: readonly RootRow[]): string {
  const sortedRows = rows.toSorted((left, right) => (left.secretId < right.secretId ? -1 : 1));
  const lines = sortedRows.map(
    ({ secretId, version, rev, labelHex }) => `${secretId} ${String(version)} ${String(rev)} ${labelHex}\n`,
  );
  return toBase64url(sha256(utf8(lines.join(""))));
}

/** @param previous digest of the previous state; null for the first state */
export function sealState(keys: MetadataKeys, userId: string, state: State, previous: string | null): Promise<string> {
  return sealJwe(keys.state, { typ: jweTypes.state, user_id: userId, key_epoch: keys.keyEpoch, previous }, state);
}

/**
 * Opens a state, and checks that it is number `stateRev` in this generation.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openState(
  keys: MetadataKeys,
  userId: string,
  stateRev: number,
  jwe: string,
): Promise<State & { readonly previous: string | null }> {
  const previous = parseUnverifiedPrevious(jwe);
  const state = await openJwe(
    keys.state,
    { typ: jweTypes.state, user_id: userId, key_epoch: keys.keyEpoch, previous },
    jwe,
    State,
  );
  if (state.state_rev !== stateRev || state.key_epoch !== keys.keyEpoch || (previous === null) !== (stateRev === 1))
    throw new PortalError("decryption_failed");
  return { ...state, previous };
}

/**
 * Returns the previous state's digest from the header. It is not authenticated until the state is
 * opened.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseUnverifiedPrevious(jwe: string): string | null {
  const parsed = Digest.nullable().safeParse(parseUnverifiedHeader(jwe)["previous"]);
  if (!parsed.success) throw new PortalError("decryption_failed");
  return parsed.data;
}

/** Computes the digest by which the next state refers to this one. */
export function computeStateDigest(jwe: string): string {
  return toBase64url(computeJweDigest(jwe));
}
