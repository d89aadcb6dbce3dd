import {
  canonicalBytes,
  fromB64u,
  maxJsonBodyBytes,
  maxStagedRows,
  toB64u,
  type StagedRow,
} from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";
import { bytesToHex } from "@noble/hashes/utils.js";

import { sha256, utf8 } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { sendUntilAnswered } from "./until-answered.ts";

/** Characters of rows in one call: half of what a body may have. */
const callLength = maxJsonBodyBytes / 2;

/** What was staged of one secret, by digests: so no row is sealed or sent twice. */
export interface StagedSecret {
  /** What its rows were sealed from. */
  readonly from: string;
  /** Version → SHA-256 (base64url) of the row as sent. */
  readonly rows: ReadonlyMap<number, string>;
}

/** Rows on their way to a switch, and which of them the service was given. */
export interface Stage {
  readonly id: string;
  readonly secrets: Map<string, StagedSecret>;
}

/** An account has one stage: another one begins anew. */
export function newStage(vault: VaultContext): Stage {
  return { id: newId(vault.now()), secrets: new Map() };
}

/** Sends rows in as many calls as they take. */
export function stageSender(
  vault: VaultContext,
  stage: Stage,
  { signal }: ActOptions,
): { readonly add: (from: string, rows: readonly StagedRow[]) => Promise<void>; readonly flush: () => Promise<void> } {
  let waiting: { readonly from: string; readonly rows: readonly StagedRow[] }[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const sent = waiting;
    const rows = sent.flatMap((secret) => secret.rows);
    [waiting, length] = [[], 0];
    for (const part of partsOf(rows))
      await sendUntilAnswered(vault.pause, () => vault.service.stage(stage.id, part, signal));
    for (const secret of sent) enter(stage, secret.from, secret.rows);
  };
  return {
    add: async (from, rows) => {
      waiting.push({ from, rows });
      length += rows.reduce((sum, row) => sum + lengthOf(row), 0);
      if (length >= callLength || waiting.length >= maxStagedRows) await flush();
    },
    flush,
  };
}

/** At least one part: a stage without rows is a stage too. */
function partsOf(rows: readonly StagedRow[]): StagedRow[][] {
  let last: StagedRow[] = [];
  const parts = [last];
  let length = 0;
  for (const row of rows) {
    if (last.length === maxStagedRows || (last.length > 0 && length + lengthOf(row) > callLength)) {
      last = [];
      parts.push(last);
      length = 0;
    }
    last.push(row);
    length += lengthOf(row);
  }
  return parts;
}

function lengthOf({ label = "", ticket = "", content = "" }: StagedRow): number {
  return label.length + ticket.length + content.length;
}

function enter(stage: Stage, from: string, rows: readonly StagedRow[]): void {
  const [first] = rows;
  if (first === undefined) return;
  stage.secrets.set(first.secret_db_id, {
    from,
    rows: new Map(rows.map((row) => [row.version, toB64u(sha256(canonicalBytes(row)))])),
  });
}

/**
 * Compares what the service has with what was sent. Secrets that it has otherwise, or not at all,
 * are forgotten here and so staged once more.
 *
 * @returns `whole` when all of it is there; `damaged` when some has to come again; `strange` when
 *   there is no such stage, or it has rows that nobody here sent: then another one is begun.
 */
export async function compareStage(
  vault: VaultContext,
  stage: Stage,
  signal: AbortSignal | undefined,
): Promise<"whole" | "damaged" | "strange"> {
  const there = new Map<string, Map<number, string>>();
  try {
    for (let cursor: string | null = null, page = null; page === null || cursor !== null;) {
      page = await vault.service.staged(stage.id, cursor, signal);
      const before = cursor;
      for (const { secret_db_id: id, version, row_sha256: digest } of page.rows)
        there.set(id, (there.get(id) ?? new Map<number, string>()).set(version, digest));
      cursor = page.next_cursor;
      if (cursor !== null && before !== null && cursor <= before) return "strange"; // it would never end
    }
  } catch (error) {
    if (isPortalError(error, "not_found")) return "strange";
    throw error;
  }
  if ([...there.keys()].some((id) => !stage.secrets.has(id))) return "strange";
  const damaged = [...stage.secrets].filter(([id, { rows }]) => !isSame(rows, there.get(id))).map(([id]) => id);
  for (const id of damaged) stage.secrets.delete(id);
  return damaged.length === 0 ? "whole" : "damaged";
}

function isSame(sent: ReadonlyMap<number, string>, there: ReadonlyMap<number, string> | undefined): boolean {
  return there?.size === sent.size && [...sent].every(([version, digest]) => there.get(version) === digest);
}

/** `stage_sha256` of a change: over what was sent, never over what the service says. */
export function digestOfStage({ secrets }: Stage): string {
  const sorted = [...secrets].sort(([left], [right]) => (left < right ? -1 : 1));
  const lines = sorted.flatMap(([id, { rows }]) =>
    [...rows]
      .sort(([left], [right]) => left - right)
      .map(([version, digest]) => `${id} ${String(version)} ${bytesToHex(fromB64u(digest))}\n`),
  );
  return toB64u(sha256(utf8(lines.join(""))));
}
