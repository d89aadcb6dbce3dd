import { buildAccountStorageKey, type DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { withHostDatabase } from "./host-database.ts";

/**
 * Compares the account id that the service names with the one that this device remembers of the
 * same vendor, issuer and subject, and remembers the first. Every sealed document names it: with
 * another one nothing of what is kept here would open, and what is sealed next would be somebody
 * else's. Without databases nothing is remembered.
 *
 * @param isSessionActive Asked right before it is written: once a session is being ended, a sweep
 *   wipes this and nothing may follow it.
 * @throws PortalError `account_changed`, or `cancelled` for somebody who does not stay: nothing was
 *   changed.
 */
export async function requirePinnedUserId(
  account: DeviceAccount,
  userId: string,
  isSessionActive: () => boolean,
): Promise<void> {
  const name = buildAccountStorageKey(account);
  const pinned = await withHostDatabase(async (database) => {
    const transaction = database.transaction("people", "readwrite", { durability: "strict" });
    const existing = await transaction.store.get(name);
    if (!isSessionActive()) throw new PortalError("cancelled");
    if (existing === undefined) await transaction.store.put(userId, name);
    await transaction.done;
    return existing ?? userId;
  });
  if (pinned !== null && pinned !== userId) throw new PortalError("account_changed");
}
