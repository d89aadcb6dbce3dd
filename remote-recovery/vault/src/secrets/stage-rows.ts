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

/** Characters of rows in one call: half of what a body may have. */
const maxCallLength = maxJsonBodyBytes / 2;

/** What was staged of one secret, by digests: so no row is sealed or sent twice. */
interface StagedSecret {
  /** What its rows were sealed from. */
  readonly source: string;
  /** Version → SHA-256 (base64url) of the row as sent. */
  readonly rows: ReadonlyMap<number, string>;
}

/** Rows on their way to a switch, and which of them the service was given. */
export interface Stage {
  readonly id: string;
  readonly secrets: Map<string, StagedSecret>;
}

/** An account has one stage: another one begins anew. */
export function createStage(vault: VaultSession): Stage {
  return { id: newId(vault.now()), secrets: new Map() };
}

/** Sends rows in as many calls as they take. */
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
      length += rows.reduce((sum, row) => sum + lengthOf(row), 0);
      if (length >= maxCallLength || queue.length >= maxStagedRows) await flush();
    },
    flush,
  };
}

/** At least one part: a stage without rows is a stage too. */
function chunkRows(rows: readonly StagedRow[]): StagedRow[][] {
  let current: StagedRow[] = [];
  const chunks = [current];
  let length = 0;
  for (const row of rows) {
    if (current.length === maxStagedRows || (current.length > 0 && length + lengthOf(row) > maxCallLength)) {
      current = [];
      chunks.push(current);
      length = 0;
    }
    current.push(row);
    length += lengthOf(row);
  }
  return chunks;
}

function lengthOf({ label = "", ticket = "", content = "" }: StagedRow): number {
  return label.length + ticket.length + content.length;
}

function recordStaged(stage: Stage, source: string, rows: readonly StagedRow[]): void {
  const [firstRow] = rows;
  if (firstRow === undefined) return;
  stage.secrets.set(firstRow.secret_db_id, {
    source,
    rows: new Map(rows.map((row) => [row.version, toBase64url(sha256(encodeCanonical(row)))])),
  });
}

/**
 * Compares what the service has with what was sent. Secrets that it has otherwise, or not at all,
 * are forgotten here and so staged once more.
 *
 * @returns `complete` when all of it is there; `mismatched` when some has to come again; `unknown`
 *   when there is no such stage, or it has rows that nobody here sent: then another one is begun.
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
      // it would never end
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
  served: ReadonlyMap<number, string> | undefined,
): boolean {
  return served?.size === sentRows.size && [...sentRows].every(([version, digest]) => served.get(version) === digest);
}

/** `stage_sha256` of a change: over what was sent, never over what the service says. */
export function digestOfStage({ secrets }: Stage): string {
  const sorted = [...secrets].sort(([left], [right]) => (left < right ? -1 : 1));
  const lines = sorted.flatMap(([id, { rows }]) =>
    [...rows]
      .sort(([left], [right]) => left - right)
      .map(([version, digest]) => `${id} ${String(version)} ${bytesToHex(fromBase64url(digest))}\n`),
  );
  return toBase64url(sha256(utf8(lines.join(""))));
}
