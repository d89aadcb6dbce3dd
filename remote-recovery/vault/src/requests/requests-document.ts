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

/** Ended entries stay this long after their expiry, for comparison with the service's claims. */
const endedRetentionMilliseconds = 90 * dayMilliseconds;

/**
 * A started answer may be finished this long after the expiry. Then the service deletes the
 * request.
 */
const finishingPeriodMilliseconds = trashRetentionDays * dayMilliseconds;

/** @throws PortalError `not_found` */
export function requireRequestEntry(requests: Requests | null, requestId: string): RequestEntry {
  const entry = requests?.requests.find(({ request_id: id }) => id === requestId);
  if (entry === undefined) throw new PortalError("not_found");
  return entry;
}

/** Changes one entry, or removes it if `change` returns null. Copies `inner` byte for byte. */
export function changeRequestEntry(
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
 * Adds a request. Removes entries that ended long ago, and the keys and notes of all ended ones
 * from `inner`.
 */
export async function addRequestEntry(
  vault: VaultSession,
  accountKey: AccountKey,
  document: Requests | null,
  entry: RequestEntry,
  inner: RequestsInner["requests"][number],
): Promise<Requests> {
  const innerEntries = document === null ? [] : (await openRequestsInner(accountKey, vault.userId, document)).requests;
  const entries = document?.requests ?? [];
  const endedIds = await findEndedIds(vault, entries);
  const retainedEntries = entries.filter(
    (candidate) =>
      !endedIds.has(candidate.request_id) || getMillisecondsSinceExpiry(vault, candidate) < endedRetentionMilliseconds,
  );
  const requests = [
    ...innerEntries.filter(
      ({ request_id: id }) => !endedIds.has(id) && retainedEntries.some((candidate) => candidate.request_id === id),
    ),
    inner,
  ];
  return {
    v: 1,
    requests: [...retainedEntries, entry],
    inner: await sealRequestsInner(accountKey, vault.userId, { v: 1, requests }),
  };
}

/**
 * For an account without a requests document.
 * @throws PortalError `show_opener_first`
 */
export async function createEmptyRequests({ accountKey, userId }: VaultSession): Promise<Requests> {
  if (accountKey === null) throw new PortalError("show_opener_first");
  return { v: 1, requests: [], inner: await sealRequestsInner(accountKey, userId, { v: 1, requests: [] }) };
}

/**
 * Ids of requests whose key no longer opens anything: revoked, collected and deleted by the
 * service, or not answered in time.
 */
async function findEndedIds(vault: VaultSession, entries: readonly RequestEntry[]): Promise<Set<string>> {
  const isPossiblyEnded = (candidate: RequestEntry): boolean =>
    candidate.state === "collected" ||
    (candidate.state === "open" &&
      candidate.answer_sha256 === null &&
      getMillisecondsSinceExpiry(vault, candidate) >= finishingPeriodMilliseconds);
  const servedRequests = entries.some(isPossiblyEnded) ? await vault.service.requests.list() : [];
  const idsWithContent = new Set(servedRequests.flatMap(({ request_id: id, size }) => (size === null ? [] : [id])));
  const isEnded = (candidate: RequestEntry): boolean =>
    candidate.state === "revoked" || (isPossiblyEnded(candidate) && !idsWithContent.has(candidate.request_id));
  return new Set(entries.filter(isEnded).map(({ request_id: id }) => id));
}

/** Milliseconds since the expiry; negative before. */
function getMillisecondsSinceExpiry({ now }: VaultSession, { expires_at: expiresAt }: RequestEntry): number {
  return now() - Date.parse(expiresAt);
}

export interface RequestsChange {
  /** Builds the changed document from the current account. Null changes nothing. */
  readonly buildDocument: (openedKeyring: OpenedKeyring) => Promise<Requests | null>;
  readonly isApplied: (requests: Requests) => boolean;
  /** Sends the same bytes on every call. */
  readonly send: (change: SignedChange) => Promise<unknown>;
  /** See {@link ChangeParts}. */
  readonly authored?: boolean;
}

/**
 * Publishes a change of the requests document, with another call or by itself.
 *
 * @throws PortalError `no_keyring` before the first secret, `limit_reached`, `vault_locked`, and
 *   errors of publishing
 */
export async function publishRequests(
  vault: VaultSession,
  { buildDocument, isApplied, send, authored = false }: RequestsChange,
  options: OperationOptions,
): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
    const requests = await buildDocument(openedKeyring);
    if (requests === null) return { done: "done" };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { requests },
      authored,
    });
    if ((change.keyringChange.requests ?? "").length > maxBookLength) throw new PortalError("limit_reached");
    return { change, send: () => send(change), result: "done" };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring?.requests != null && isApplied(view.openedKeyring.requests) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
