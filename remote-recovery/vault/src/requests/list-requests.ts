import type { RequestList } from "@relicario/shared/api";
import type { RequestRow, CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { RequestEntry } from "./requests-document.ts";

type ServedRequest = RequestList["requests"][number];

/**
 * What this account asked for, newest first: titles, dates and what the account decided come from
 * the sealed document, the rest from the service. Where the two do not fit each other, the row says
 * so.
 *
 * @throws PortalError `vault_locked`, and those of reading.
 */
export async function listRequests(
  vault: VaultSession,
  options: CallOptions & { readonly includeEnded?: boolean } = {},
): Promise<readonly RequestRow[]> {
  const initialRows = await readRows(vault, options.signal);
  // another device may have written between the two calls
  const rows = initialRows.some(({ discrepancy }) => discrepancy !== null)
    ? await readRows(vault, options.signal)
    : initialRows;
  return rows
    .filter(({ state, discrepancy }) => options.includeEnded === true || discrepancy !== null || !isEnded(state))
    .sort((left, right) => right.createdAt.localeCompare(left.createdAt));
}

async function readRows(vault: VaultSession, signal: AbortSignal | undefined): Promise<RequestRow[]> {
  const view = await refreshKeyring(vault, signal);
  if (view?.openedKeyring === null) throw new PortalError("vault_locked");
  const entries = view?.openedKeyring?.requests?.requests ?? [];
  const servedRequests = await vault.service.requests.list(signal);
  const byId = new Map(servedRequests.map((served) => [served.request_id, served]));
  const listedIds = new Set(entries.map(({ request_id: id }) => id));
  const ownRows = entries.map((entry) => toSummary(entry, byId.get(entry.request_id) ?? null, vault.now()));
  return [
    ...ownRows,
    ...servedRequests
      .filter((served) => !listedIds.has(served.request_id) && isUnlisted(served))
      .map(toUnlistedSummary),
  ];
}

/**
 * What was dropped may stand at the service for a while; what could still be answered or opened may
 * not.
 */
function isUnlisted({ state, size }: ServedRequest): boolean {
  return state === "awaiting" || (state === "provided" && size !== null);
}

function toUnlistedSummary(served: ServedRequest): RequestRow {
  return {
    ...datesOf(served),
    requestId: served.request_id,
    title: "",
    state: served.state,
    createdAt: served.created_at,
    expiresAt: served.expires_at,
    discrepancy: "unknown",
  };
}

function isEnded(state: RequestRow["state"]): boolean {
  return state === "expired" || state === "revoked";
}

function datesOf(served: ServedRequest | null): Pick<RequestRow, "providedAt" | "collectedAt" | "size"> {
  return {
    providedAt: served?.provided_at ?? null,
    collectedAt: served?.collected_at ?? null,
    size: served?.size ?? null,
  };
}

function toSummary(entry: RequestEntry, served: ServedRequest | null, now: number): RequestRow {
  const { request_id: requestId, title, created_at: createdAt, expires_at: expiresAt } = entry;
  const isExpired = Date.parse(expiresAt) <= now;
  return { ...datesOf(served), requestId, title, createdAt, expiresAt, ...assessState(entry, served, isExpired) };
}

/** The state to show, and what does not fit. */
function assessState(
  entry: RequestEntry,
  served: ServedRequest | null,
  isExpired: boolean,
): Pick<RequestRow, "state" | "discrepancy"> {
  const isStillServed = served !== null && (served.state === "awaiting" || served.state === "provided");
  if (entry.state === "revoked")
    return {
      state: "revoked",
      discrepancy: isStillServed && !(served.state === "awaiting" && isExpired) ? "still_served" : null,
    };
  if (entry.state === "collected")
    return { state: "collected", discrepancy: served?.state === "revoked" ? "not_revoked_here" : null };
  if (served === null) {
    // An answer that was opened here must still be there; a request that nobody answered in time
    // may be gone.
    const isHidden = !isExpired || entry.answer_sha256 !== null;
    return {
      state: entry.answer_sha256 !== null ? "provided" : isExpired ? "expired" : "awaiting",
      discrepancy: isHidden ? "hidden" : null,
    };
  }
  if (served.state === "revoked" || served.state === "collected" || (served.state === "expired" && !isExpired))
    return { state: served.state, discrepancy: "not_revoked_here" };
  return { state: served.state === "awaiting" && isExpired ? "expired" : served.state, discrepancy: null };
}
