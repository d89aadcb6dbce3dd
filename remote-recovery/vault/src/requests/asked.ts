import type { RequestList } from "@relicario/shared/api";
import type { AskedRow, CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readKeyring } from "../steps/read-keyring.ts";
import type { VaultContext } from "../vault-context.ts";
import type { RequestEntry } from "./requests-document.ts";

type Line = RequestList["requests"][number];

/**
 * What this account asked for, newest first: titles, dates and what the account decided come from
 * the sealed document, the rest from the service. Where the two do not fit each other, the row says
 * so.
 *
 * @throws PortalError `vault_locked`, and those of reading.
 */
export async function listAsked(
  vault: VaultContext,
  options: CallOptions & { readonly ended?: boolean } = {},
): Promise<readonly AskedRow[]> {
  const first = await readRows(vault, options.signal);
  // another device may have written between the two calls
  const rows = first.some(({ doubt }) => doubt !== null) ? await readRows(vault, options.signal) : first;
  return rows
    .filter(({ state, doubt }) => options.ended === true || doubt !== null || !isOver(state))
    .sort((left, right) => right.createdAt.localeCompare(left.createdAt));
}

async function readRows(vault: VaultContext, signal: AbortSignal | undefined): Promise<AskedRow[]> {
  const view = await readKeyring(vault, signal);
  if (view?.opened === null) throw new PortalError("vault_locked");
  const entries = view?.opened?.requests?.requests ?? [];
  const lines = await vault.service.requests.list(signal);
  const byId = new Map(lines.map((line) => [line.request_id, line]));
  const known = new Set(entries.map(({ request_id: id }) => id));
  const own = entries.map((entry) => rowOf(entry, byId.get(entry.request_id) ?? null, vault.now()));
  return [...own, ...lines.filter((line) => !known.has(line.request_id) && isStrange(line)).map(strangeRow)];
}

/**
 * What was dropped may stand at the service for a while; what could still be answered or opened may
 * not.
 */
function isStrange({ state, size }: Line): boolean {
  return state === "awaiting" || (state === "provided" && size !== null);
}

function strangeRow(line: Line): AskedRow {
  return {
    ...datesOf(line),
    requestId: line.request_id,
    title: "",
    state: line.state,
    createdAt: line.created_at,
    expiresAt: line.expires_at,
    doubt: "unknown",
  };
}

function isOver(state: AskedRow["state"]): boolean {
  return state === "expired" || state === "revoked";
}

function datesOf(line: Line | null): Pick<AskedRow, "providedAt" | "collectedAt" | "size"> {
  return { providedAt: line?.provided_at ?? null, collectedAt: line?.collected_at ?? null, size: line?.size ?? null };
}

function rowOf(entry: RequestEntry, line: Line | null, now: number): AskedRow {
  const { request_id: requestId, title, created_at: createdAt, expires_at: expiresAt } = entry;
  const isExpired = Date.parse(expiresAt) <= now;
  return { ...datesOf(line), requestId, title, createdAt, expiresAt, ...judged(entry, line, isExpired) };
}

/** The state to show, and what does not fit. */
function judged(entry: RequestEntry, line: Line | null, isExpired: boolean): Pick<AskedRow, "state" | "doubt"> {
  const served = line !== null && (line.state === "awaiting" || line.state === "provided");
  if (entry.state === "revoked")
    return { state: "revoked", doubt: served && !(line.state === "awaiting" && isExpired) ? "still_served" : null };
  if (entry.state === "collected")
    return { state: "collected", doubt: line?.state === "revoked" ? "not_revoked_here" : null };
  if (line === null) {
    // An answer that was opened here must still be there; a request that nobody answered in time
    // may be gone.
    const isHidden = !isExpired || entry.answer_sha256 !== null;
    return {
      state: entry.answer_sha256 !== null ? "provided" : isExpired ? "expired" : "awaiting",
      doubt: isHidden ? "hidden" : null,
    };
  }
  if (line.state === "revoked" || line.state === "collected" || (line.state === "expired" && !isExpired))
    return { state: line.state, doubt: "not_revoked_here" };
  return { state: line.state === "awaiting" && isExpired ? "expired" : line.state, doubt: null };
}
