import {
  encodeCanonical,
  fromBase64url,
  maxJsonBodyBytes,
  maxStagedRows,
  toBase64url,
  type StagedRow,
} from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";
import { bytesToHex } from "@noble/hashes/utils.js";

import { sha256, utf8 } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { sendWithRetry } from "../service/send-with-retry.ts";

/** Maximum length of the rows in one call: half the limit of a body, in characters. */
const maxCallLength = maxJsonBodyBytes / 2;

/** The staged rows of one secret, so that none is sealed or sent twice. */
interface StagedSecret {
  /** Fingerprint of the source that the rows were sealed from. */
  readonly sourceFingerprint: string;
  /** Version → SHA-256 (base64url) of the row as sent. */
  readonly rows: ReadonlyMap<number, string>;
}

export interface Stage {
  readonly id: string;
  readonly secrets: Map<string, StagedSecret>;
}

/** Creates the account's only stage, which replaces any earlier one. */
export function createStage(vault: VaultSession): Stage {
  return { id: newId(vault.now()), secrets: new Map() };
}

/** Sends rows in as few calls as the limits allow. */
export function createStageSender(
  vault: VaultSession,
  stage: Stage,
  { signal }: OperationOptions,
): {
  readonly add: (source: string, rows: readonly StagedRow[]) => Promise<void>;
  readonly flush: () => Promise<void>;
} {
  let queue: { readonly source: string; readonly rows: readonly StagedRow[] }[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const batch = queue;
    const rows = batch.flatMap((secret) => secret.rows);
    [queue, length] = [[], 0];
    for (const chunk of chunkRows(rows))
      await sendWithRetry(vault.pause, () => vault.service.stage(stage.id, chunk, signal));
    for (const secret of batch) recordStaged(stage, secret.source, secret.rows);
  };
  return {
    add: async (source, rows) => {
      queue.push({ source, rows });
      length += rows.reduce((sum, row) => sum + countCharacters(row), 0);
      if (length >= maxCallLength || queue.length >= maxStagedRows) await flush();
    },
    flush,
  };
}

/** Returns at least one chunk, because a stage may have no rows. */
function chunkRows(rows: readonly StagedRow[]): StagedRow[][] {
  let currentChunk: StagedRow[] = [];
  const chunks = [currentChunk];
  let length = 0;
  for (const row of rows) {
    if (
      currentChunk.length === maxStagedRows ||
      (currentChunk.length > 0 && length + countCharacters(row) > maxCallLength)
    ) {
      currentChunk = [];
      chunks.push(currentChunk);
      length = 0;
    }
    currentChunk.push(row);
    length += countCharacters(row);
  }
  return chunks;
}

function countCharacters({ label = "", ticket = "", content = "" }: StagedRow): number {
  return label.length + ticket.length + content.length;
}

function recordStaged(stage: Stage, source: string, rows: readonly StagedRow[]): void {
  const [firstRow] = rows;
  if (firstRow === undefined) return;
  stage.secrets.set(firstRow.secret_db_id, {
    sourceFingerprint: source,
    rows: new Map(rows.map((row) => [row.version, toBase64url(sha256(encodeCanonical(row)))])),
  });
}

/**
 * Compares the service's rows with those sent. Removes secrets that differ or are missing from
 * `stage`, so that they are staged again.
 *
 * @returns `complete` if all rows are equal; `mismatched` if some were removed; `unknown` if there
 *   is no such stage or it has rows that were not sent, so that the caller starts another
 */
export async function compareStage(
  vault: VaultSession,
  stage: Stage,
  signal: AbortSignal | undefined,
): Promise<"complete" | "mismatched" | "unknown"> {
  const servedRows = new Map<string, Map<number, string>>();
  try {
    for (let cursor: string | null = null, page = null; page === null || cursor !== null;) {
      page = await vault.service.getStagedRows(stage.id, cursor, signal);
      const previousCursor = cursor;
      for (const { secret_db_id: id, version, row_sha256: digest } of page.rows)
        servedRows.set(id, (servedRows.get(id) ?? new Map<number, string>()).set(version, digest));
      cursor = page.next_cursor;
      // without growth the cursors would never end
      if (cursor !== null && previousCursor !== null && cursor <= previousCursor) return "unknown";
    }
  } catch (error) {
    if (isPortalError(error, "not_found")) return "unknown";
    throw error;
  }
  if ([...servedRows.keys()].some((id) => !stage.secrets.has(id))) return "unknown";
  const mismatchedIds = [...stage.secrets]
    .filter(([id, { rows }]) => !hasSameDigests(rows, servedRows.get(id)))
    .map(([id]) => id);
  for (const id of mismatchedIds) stage.secrets.delete(id);
  return mismatchedIds.length === 0 ? "complete" : "mismatched";
}

function hasSameDigests(
  sentRows: ReadonlyMap<number, string>,
  servedDigests: ReadonlyMap<number, string> | undefined,
): boolean {
  return (
    servedDigests?.size === sentRows.size &&
    [...sentRows].every(([version, digest]) => servedDigests.get(version) === digest)
  );
}

/** Computes `stage_sha256` of a change from the sent rows, never from the service's digests. */
export function computeStageDigest({ secrets }: Stage): string {
  const sorted = [...secrets].sort(([left], [right]) => (left < right ? -1 : 1));
  const lines = sorted.flatMap(([id, { rows }]) =>
    [...rows]
      .sort(([left], [right]) => left - right)
      .map(([version, digest]) => `${id} ${String(version)} ${bytesToHex(fromBase64url(digest))}\n`),
  );
  return toBase64url(sha256(utf8(lines.join(""))));
}
