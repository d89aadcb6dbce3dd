import { RequestId } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createEmptyRequests, publishRequests, requireRequestEntry, changeRequestEntry } from "./requests-document.ts";

/**
 * Marks an answer as collected; the service deletes its content some days later. Needs the account
 * key. Idempotent.
 *
 * @throws PortalError `not_found`, `vault_locked`, and errors of publishing
 */
export async function markCollected(
  vault: VaultSession,
  requestId: string,
  options: OperationOptions = {},
): Promise<void> {
  await publishRequests(
    vault,
    {
      buildDocument: async ({ requests }) => {
        const { state } = requireRequestEntry(requests, requestId);
        return requests === null || state !== "open"
          ? null
          : changeRequestEntry(requests, requestId, (entry) => ({ ...entry, state: "collected" }));
      },
      isApplied: ({ requests }) =>
        requests.some(({ request_id: id, state }) => id === requestId && state === "collected"),
      send: ({ keyringChange }) => vault.service.requests.markCollected(requestId, keyringChange),
      authored: true,
    },
    options,
  );
}

/**
 * Ends a request. Revokes an open one, with or without an answer; deletes a collected one with its
 * content, or an expired one. A request that only the service lists ends at the service; a request
 * that the service does not know ends in the document. Idempotent. Needs the account key, because
 * an answer may be dropped.
 *
 * @throws PortalError `not_found` for a malformed id, `show_opener_first`, `vault_locked`, and
 *   errors of publishing
 */
export async function dropRequest(
  vault: VaultSession,
  requestId: string,
  options: OperationOptions = {},
): Promise<void> {
  if (!RequestId.safeParse(requestId).success) throw new PortalError("not_found");
  let isKnown = false;
  await publishRequests(
    vault,
    {
      buildDocument: async ({ requests }) => {
        const entry = requests?.requests.find(({ request_id: id }) => id === requestId);
        isKnown = entry !== undefined;
        if (entry?.state === "revoked") return null;
        return changeRequestEntry(requests ?? (await createEmptyRequests(vault)), requestId, (current) =>
          current.state === "collected" || Date.parse(current.expires_at) <= vault.now()
            ? null
            : { ...current, state: "revoked" },
        );
      },
      isApplied: ({ requests }) =>
        // a document that never listed the request proves nothing
        isKnown && requests.every(({ request_id: id, state }) => id !== requestId || state === "revoked"),
      send: ({ keyringChange }) =>
        vault.service.requests.drop(requestId, keyringChange).catch((error: unknown) => {
          if (!isPortalError(error, "not_found")) throw error;
          return vault.service.changeKeyring(keyringChange); // the service has deleted it
        }),
      authored: true,
    },
    options,
  );
}
