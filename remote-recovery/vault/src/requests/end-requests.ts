import { RequestId } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createEmptyRequests, publishRequests, requireEntry, withEntry } from "./requests-document.ts";

/**
 * Marks an answer as collected: its content goes some days later. Takes no opener. Without effect
 * when it is collected already.
 *
 * @throws PortalError `not_found`, `vault_locked`, and those of publishing.
 */
export async function markCollected(
  vault: VaultSession,
  requestId: string,
  options: OperationOptions = {},
): Promise<void> {
  await publishRequests(
    vault,
    {
      next: async ({ requests }) => {
        const { state } = requireEntry(requests, requestId);
        return requests === null || state !== "open"
          ? null
          : withEntry(requests, requestId, (entry) => ({ ...entry, state: "collected" }));
      },
      isApplied: ({ requests }) =>
        requests.some(({ request_id: id, state }) => id === requestId && state === "collected"),
      send: ({ keyring }) => vault.service.requests.markCollected(requestId, keyring),
    },
    options,
  );
}

/**
 * Revokes an open request, whether it was answered or not; drops a collected answer, its content at
 * once, and one whose time is over. One that only the service names ends there, and one that the
 * service does not know ends in the document. Takes no opener, but for an account that never asked
 * for anything. Without effect when it is revoked already.
 *
 * @throws PortalError `not_found` for what is no request's id, `show_opener_first`, `vault_locked`,
 *   and those of publishing.
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
      next: async ({ requests }) => {
        const entry = requests?.requests.find(({ request_id: id }) => id === requestId);
        isKnown = entry !== undefined;
        if (entry?.state === "revoked") return null;
        return withEntry(requests ?? (await createEmptyRequests(vault)), requestId, (current) =>
          current.state === "collected" || Date.parse(current.expires_at) <= vault.now()
            ? null
            : { ...current, state: "revoked" },
        );
      },
      isApplied: ({ requests }) =>
        // of one that it never named a document shows nothing
        isKnown && requests.every(({ request_id: id, state }) => id !== requestId || state === "revoked"),
      send: ({ keyring }) =>
        vault.service.requests.drop(requestId, keyring).catch((error: unknown) => {
          if (!isPortalError(error, "not_found")) throw error;
          return vault.service.changeKeyring(keyring); // it is gone there: the document says so too
        }),
    },
    options,
  );
}
