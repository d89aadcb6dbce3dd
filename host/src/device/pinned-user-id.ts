import { buildAccountStorageKey, type DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { withHostDatabase } from "./host-database.ts";

/**
 * Pins the account id that the service first names for a vendor, issuer and subject. Rejects when
 * the service names another id later. Pins nothing where there are no databases.
 *
 * Sealed documents name the account id. Under another id nothing stored on this device would open,
 * and new documents would be sealed for another account.
 *
 * @param isSessionActive Called right before the id is stored, because nothing may be stored after
 *   the sweep that ends a session
 * @throws PortalError `account_changed` when another id is pinned; `cancelled` when the session is
 *   not active. Nothing is stored then
 */
export async function requirePinnedUserId(
  account: DeviceAccount,
  userId: string,
  isSessionActive: () => boolean,
): Promise<void> {
  const storageKey = buildAccountStorageKey(account);
  const pinned = await withHostDatabase(async (database) => {
    const transaction = database.transaction("people", "readwrite", { durability: "strict" });
    const existing = await transaction.store.get(storageKey);
    if (!isSessionActive()) throw new PortalError("cancelled");
    if (existing === undefined) await transaction.store.put(userId, storageKey);
    await transaction.done;
    return existing ?? userId;
  });
  if (pinned !== null && pinned !== userId) throw new PortalError("account_changed");
}
