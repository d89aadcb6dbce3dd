import { maxBookLength } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { AccountKey } from "../seal/account-key.ts";
import { openRequestsInner, sealRequestsInner, type Requests, type RequestsInner } from "../seal/requests.ts";
import { publishUntilItFits, requireOpened, type Attempt, type SignedChange } from "../steps/publish.ts";
import type { AccountView } from "../steps/read-account.ts";
import type { OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";

export type RequestEntry = Requests["requests"][number];

/** Marks of what was revoked stay so long: what the service says of it can be compared. Milliseconds. */
const keepEndedMs = 90 * 24 * 60 * 60 * 1000;

/** @throws PortalError `not_found`. */
export function requireEntry(requests: Requests | null, requestId: string): RequestEntry {
  const entry = requests?.requests.find(({ request_id: id }) => id === requestId);
  if (entry === undefined) throw new PortalError("not_found");
  return entry;
}

/** The same document with one entry changed, or without it. `inner` is carried over byte for byte. */
export function withEntry(document: Requests, requestId: string, change: (entry: RequestEntry) => RequestEntry | null): Requests {
  return { ...document, requests: document.requests.flatMap((entry) => (entry.request_id === requestId ? (change(entry) ?? []) : [entry])) };
}

/** The document with another request in it, and without what was revoked long ago. Keys of what was revoked or dropped go at once. */
export async function withRequest(vault: VaultContext, accountKey: AccountKey, document: Requests | null, entry: RequestEntry, inner: RequestsInner["requests"][number]): Promise<Requests> {
  const before = document === null ? [] : (await openRequestsInner(accountKey, vault.userId, document)).requests;
  const kept = (document?.requests ?? []).filter(({ state, expires_at: expiresAt }) => state !== "revoked" || vault.now() - Date.parse(expiresAt) < keepEndedMs);
  const answerable = new Set(kept.filter(({ state }) => state !== "revoked").map(({ request_id: id }) => id));
  const requests = [...before.filter(({ request_id: id }) => answerable.has(id)), inner];
  return { v: 1, requests: [...kept, entry], inner: await sealRequestsInner(accountKey, vault.userId, { v: 1, requests }) };
}

/** One change of the requests document. */
export interface RequestsChange {
  /** The document after it, from the account as it is; null when there is nothing to change. */
  readonly next: (opened: OpenedKeyring) => Promise<Requests | null>;
  /** Whether an account shows that it was made. */
  readonly isIn: (requests: Requests) => boolean;
  /** Sends the same bytes at every call. */
  readonly send: (change: SignedChange) => Promise<unknown>;
}

/**
 * Publishes a change of the requests document with the call that it goes with, or alone.
 *
 * @throws PortalError `no_keyring` before anything was ever kept, `limit_reached`, `vault_locked`, and those of publishing.
 */
export async function publishRequests(vault: VaultContext, { next, isIn, send }: RequestsChange, options: ActOptions): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const opened = requireOpened(account);
    if (account === null || opened === null) throw new PortalError("no_keyring");
    const requests = await next(opened);
    if (requests === null) return { done: "done" };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], { documents: { requests } });
    if ((change.keyring.requests ?? "").length > maxBookLength) throw new PortalError("limit_reached");
    return { change, send: () => send(change), result: "done" };
  };
  const published = ({ view }: AccountView): "done" | null => (view.opened?.requests != null && isIn(view.opened.requests) ? "done" : null);
  await publishUntilItFits(vault, { prepare, published }, options);
}
