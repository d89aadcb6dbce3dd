import { maxBookLength, trashRetentionDays } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { AccountKey } from "../seal/account-key.ts";
import { openRequestsInner, sealRequestsInner, type Requests, type RequestsInner } from "../seal/requests.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import type { AccountView } from "../keyring/read-account.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

export type RequestEntry = Requests["requests"][number];

const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * So long after its time an entry stays that is over: what the service says of it can be compared.
 */
const endedRetentionMilliseconds = 90 * dayMilliseconds;

/**
 * So long after its time an answer that was begun before may be finished: then the service forgets
 * what was asked.
 */
const finishingPeriodMilliseconds = trashRetentionDays * dayMilliseconds;

/** @throws PortalError `not_found`. */
export function requireEntry(requests: Requests | null, requestId: string): RequestEntry {
  const entry = requests?.requests.find(({ request_id: id }) => id === requestId);
  if (entry === undefined) throw new PortalError("not_found");
  return entry;
}

/**
 * The same document with one entry changed, or without it. `inner` is carried over byte for byte.
 */
export function withEntry(
  document: Requests,
  requestId: string,
  change: (entry: RequestEntry) => RequestEntry | null,
): Requests {
  return {
    ...document,
    requests: document.requests.flatMap((entry) => (entry.request_id === requestId ? (change(entry) ?? []) : [entry])),
  };
}

/**
 * The document with another request in it, without what was over long ago, and inside without the
 * keys and notes of all that is over.
 */
export async function withRequest(
  vault: VaultSession,
  accountKey: AccountKey,
  document: Requests | null,
  entry: RequestEntry,
  inner: RequestsInner["requests"][number],
): Promise<Requests> {
  const innerEntries = document === null ? [] : (await openRequestsInner(accountKey, vault.userId, document)).requests;
  const entries = document?.requests ?? [];
  const endedIds = await findEndedIds(vault, entries);
  const retained = entries.filter(
    (candidate) => !endedIds.has(candidate.request_id) || timeSinceEnd(vault, candidate) < endedRetentionMilliseconds,
  );
  const requests = [
    ...innerEntries.filter(
      ({ request_id: id }) => !endedIds.has(id) && retained.some((candidate) => candidate.request_id === id),
    ),
    inner,
  ];
  return {
    v: 1,
    requests: [...retained, entry],
    inner: await sealRequestsInner(accountKey, vault.userId, { v: 1, requests }),
  };
}

/**
 * A document that names nothing, for an account that never asked. @throws PortalError
 * `show_opener_first`.
 */
export async function createEmptyRequests({ accountKey, userId }: VaultSession): Promise<Requests> {
  if (accountKey === null) throw new PortalError("show_opener_first");
  return { v: 1, requests: [], inner: await sealRequestsInner(accountKey, userId, { v: 1, requests: [] }) };
}

/**
 * Ids of those by which nothing can be opened any more: revoked, collected and gone from the
 * service, or not answered in time.
 */
async function findEndedIds(vault: VaultSession, entries: readonly RequestEntry[]): Promise<Set<string>> {
  const isPossiblyEnded = (candidate: RequestEntry): boolean =>
    candidate.state === "collected" ||
    (candidate.state === "open" &&
      candidate.answer_sha256 === null &&
      timeSinceEnd(vault, candidate) >= finishingPeriodMilliseconds);
  const servedRequests = entries.some(isPossiblyEnded) ? await vault.service.requests.list() : [];
  const withContent = new Set(servedRequests.flatMap(({ request_id: id, size }) => (size === null ? [] : [id])));
  const isEnded = (candidate: RequestEntry): boolean =>
    candidate.state === "revoked" || (isPossiblyEnded(candidate) && !withContent.has(candidate.request_id));
  return new Set(entries.filter(isEnded).map(({ request_id: id }) => id));
}

/** Milliseconds since its time was over; below 0 before. */
function timeSinceEnd({ now }: VaultSession, { expires_at: expiresAt }: RequestEntry): number {
  return now() - Date.parse(expiresAt);
}

/** One change of the requests document. */
export interface RequestsChange {
  /** The document after it, from the account as it is; null when there is nothing to change. */
  readonly next: (openedKeyring: OpenedKeyring) => Promise<Requests | null>;
  /** Whether an account shows that it was made. */
  readonly isApplied: (requests: Requests) => boolean;
  /** Sends the same bytes at every call. */
  readonly send: (change: SignedChange) => Promise<unknown>;
}

/**
 * Publishes a change of the requests document with the call that it goes with, or alone.
 *
 * @throws PortalError `no_keyring` before anything was ever kept, `limit_reached`, `vault_locked`,
 *   and those of publishing.
 */
export async function publishRequests(
  vault: VaultSession,
  { next, isApplied, send }: RequestsChange,
  options: OperationOptions,
): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
    const requests = await next(openedKeyring);
    if (requests === null) return { done: "done" };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { requests },
    });
    if ((change.keyring.requests ?? "").length > maxBookLength) throw new PortalError("limit_reached");
    return { change, send: () => send(change), result: "done" };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring?.requests != null && isApplied(view.openedKeyring.requests) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
