import type { ActOptions, VaultContext } from "../vault-context.ts";
import { publishRequests, requireEntry, withEntry } from "./requests-document.ts";

/**
 * Marks an answer as collected: its content goes some days later. Takes no opener. Without effect when it is collected already.
 *
 * @throws PortalError `not_found`, `vault_locked`, and those of publishing.
 */
export async function markCollected(vault: VaultContext, requestId: string, options: ActOptions = {}): Promise<void> {
  await publishRequests(
    vault,
    {
      next: async ({ requests }) => {
        const { state } = requireEntry(requests, requestId);
        return requests === null || state !== "open" ? null : withEntry(requests, requestId, (entry) => ({ ...entry, state: "collected" }));
      },
      isIn: ({ requests }) => requests.some(({ request_id: id, state }) => id === requestId && state === "collected"),
      send: ({ keyring }) => vault.service.requests.markCollected(requestId, keyring),
    },
    options,
  );
}

/**
 * Revokes an open request, whether it was answered or not; drops a collected answer, its content at once. Takes no opener. Without
 * effect when that was done already.
 *
 * @throws PortalError `not_found`, `vault_locked`, and those of publishing.
 */
export async function dropRequest(vault: VaultContext, requestId: string, options: ActOptions = {}): Promise<void> {
  await publishRequests(
    vault,
    {
      next: async ({ requests }) => {
        const { state } = requireEntry(requests, requestId);
        if (requests === null || state === "revoked") return null;
        return withEntry(requests, requestId, (entry) => (entry.state === "collected" ? null : { ...entry, state: "revoked" }));
      },
      isIn: ({ requests }) => requests.every(({ request_id: id, state }) => id !== requestId || state === "revoked"),
      send: ({ keyring }) => vault.service.requests.drop(requestId, keyring),
    },
    options,
  );
}
