import { eq } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "./mailer.ts";

type AddressedAccount = Pick<
  typeof accounts.$inferSelect,
  "id" | "contactEmail" | "contactEmailVerified" | "providerEmail"
>;

/**
 * Changes the address for mails. Notifies the previous address, so that a stolen session cannot
 * silently redirect mail. The account must be locked.
 */
export async function changeContactAddress(
  tx: Tx,
  { id, contactEmail: previousAddress, contactEmailVerified: wasVerified }: AddressedAccount,
  { address, isVerified }: { readonly address: string; readonly isVerified: boolean },
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  if (previousAddress !== null && wasVerified && previousAddress !== address)
    await mailer.queue(tx, id, "address_changed", { ...context, address: previousAddress });
  await tx.update(accounts).set({ contactEmail: address, contactEmailVerified: isVerified }).where(eq(accounts.id, id));
}

/**
 * Makes the address that the provider has verified the address for mails, once each time that it
 * changes there: an address chosen here since then stays. The account must be locked.
 */
export async function adoptProviderAddress(
  tx: Tx,
  account: AddressedAccount,
  address: string,
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  if (address === account.providerEmail) return;
  await tx.update(accounts).set({ providerEmail: address }).where(eq(accounts.id, account.id));
  await changeContactAddress(tx, account, { address, isVerified: true }, mailer, context);
  if (account.contactEmail !== null && account.contactEmail !== address)
    await recordActivity(tx, account.id, [{ kind: "profile_changed" }], context.now);
}
