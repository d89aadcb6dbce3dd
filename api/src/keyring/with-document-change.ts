import type { Json, KeyringChange, TicketSignature } from "@relicario/shared/api";

import { withLockedAccount, type AccountRow } from "../accounts/lock-account.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { ActivityEvent } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import type { RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import {
  applyChange,
  createChangeCall,
  findRecordedResponse,
  requireDocument,
  type TargetSecret,
} from "./apply-change.ts";
import { checkTicketSignature, requireAuthor, type SignedTicket } from "./check-change.ts";
import { readKeyring } from "./queries.ts";

interface DocumentCall<T> {
  /** The document that must record the call. */
  readonly document: "shares" | "requests";
  readonly keyring: KeyringChange;
  /** The rest of the call. */
  readonly rest: Json;
  /** Ids to return with the new state. */
  readonly ids: T;
}

export interface WrittenRows {
  /** Added bytes. */
  readonly addedBytes: number;
  readonly targetSecret?: TargetSecret;
  /** A ticket that the call stores, with its signature. */
  readonly signedTicket?: { readonly signature: TicketSignature; readonly ticket: SignedTicket };
  /** The call does what only the author key may ([Note: Authority]). */
  readonly needsAuthor?: boolean;
  readonly event?: ActivityEvent;
}

/**
 * Runs a call about a share or a request with its keyring change ([Note: Keyring changes]). @param
 * writeRows writes the rows of the share or request
 */
export function withDocumentChange<T extends object>(
  services: Services,
  scope: AccountScope,
  { document, keyring, rest, ids }: DocumentCall<T>,
  context: RequestContext,
  writeRows: (tx: Tx, account: AccountRow) => Promise<WrittenRows>,
): Promise<T & { state_rev: number }> {
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  requireDocument(keyring, document);
  const result = { ...ids, state_rev: keyring.state_rev };
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const storedKeyring = await readKeyring(tx, scope);
    if (findRecordedResponse(storedKeyring, call) !== null) return result;
    const { addedBytes, targetSecret = null, event, signedTicket, needsAuthor } = await writeRows(tx, account);
    const changeBytes = await applyChange(tx, account, storedKeyring, call, targetSecret, services, context);
    if (signedTicket !== undefined)
      checkTicketSignature(storedKeyring, keyring, signedTicket.signature, signedTicket.ticket);
    if (needsAuthor === true) requireAuthor(storedKeyring?.keyStatement, keyring);
    const timedEvent = event === undefined ? undefined : { event, now: context.now };
    await chargeStorage(tx, vendor, account, changeBytes + addedBytes, quotaReserveBytes, timedEvent);
    return result;
  });
}
