import type { RequestList } from "@relicario/shared/api";
import type { RequestRow, CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { RequestEntry } from "./requests-document.ts";

type ServedRequest = RequestList["requests"][number];

/**
 * Lists the requests of this account, newest first. Titles, dates and decisions come from the
 * sealed document, the rest from the service. A `discrepancy` says where both differ.
 *
 * @throws PortalError `vault_locked`, and errors of reading
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
  const servedById = new Map(servedRequests.map((servedRequest) => [servedRequest.request_id, servedRequest]));
  const listedIds = new Set(entries.map(({ request_id: id }) => id));
  const listedRows = entries.map((entry) => toSummary(entry, servedById.get(entry.request_id) ?? null, vault.now()));
  return [
    ...listedRows,
    ...servedRequests
      .filter((servedRequest) => !listedIds.has(servedRequest.request_id) && isUnlisted(servedRequest))
      .map(toUnlistedSummary),
  ];
}

/**
 * Whether to show a request that only the service lists: one that can be answered or opened. The
 * service may still list a deleted request for a while.
 */
function isUnlisted({ state, size }: ServedRequest): boolean {
  return state === "awaiting" || (state === "provided" && size !== null);
}

function toUnlistedSummary(servedRequest: ServedRequest): RequestRow {
  return {
    ...toServedFacts(servedRequest),
    requestId: servedRequest.request_id,
    title: "",
    state: servedRequest.state,
    createdAt: servedRequest.created_at,
    expiresAt: servedRequest.expires_at,
    discrepancy: "unknown",
  };
}

function isEnded(state: RequestRow["state"]): boolean {
  return state === "expired" || state === "revoked";
}

function toServedFacts(servedRequest: ServedRequest | null): Pick<RequestRow, "providedAt" | "collectedAt" | "size"> {
  return {
    providedAt: servedRequest?.provided_at ?? null,
    collectedAt: servedRequest?.collected_at ?? null,
    size: servedRequest?.size ?? null,
  };
}

function toSummary(entry: RequestEntry, servedRequest: ServedRequest | null, now: number): RequestRow {
  const { request_id: requestId, title, created_at: createdAt, expires_at: expiresAt } = entry;
  const isExpired = Date.parse(expiresAt) <= now;
  return {
    ...toServedFacts(servedRequest),
    requestId,
    title,
    createdAt,
    expiresAt,
    ...assessState(entry, servedRequest, isExpired),
  };
}

function assessState(
  entry: RequestEntry,
  servedRequest: ServedRequest | null,
  isExpired: boolean,
): Pick<RequestRow, "state" | "discrepancy"> {
  const isStillServed =
    servedRequest !== null && (servedRequest.state === "awaiting" || servedRequest.state === "provided");
  if (entry.state === "revoked")
    return {
      state: "revoked",
      discrepancy: isStillServed && !(servedRequest.state === "awaiting" && isExpired) ? "still_served" : null,
    };
  if (entry.state === "collected")
    return { state: "collected", discrepancy: servedRequest?.state === "revoked" ? "not_revoked_here" : null };
  if (servedRequest === null) {
    // The service must still have an answer that was opened here. An expired request without an
    // answer may be gone.
    const isHidden = !isExpired || entry.answer_sha256 !== null;
    return {
      state: entry.answer_sha256 !== null ? "provided" : isExpired ? "expired" : "awaiting",
      discrepancy: isHidden ? "hidden" : null,
    };
  }
  if (
    servedRequest.state === "revoked" ||
    servedRequest.state === "collected" ||
    (servedRequest.state === "expired" && !isExpired)
  )
    return { state: servedRequest.state, discrepancy: "not_revoked_here" };
  return {
    state: servedRequest.state === "awaiting" && isExpired ? "expired" : servedRequest.state,
    discrepancy: null,
  };
}
