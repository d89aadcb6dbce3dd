import type { StoreSecretsResponse, StoreSecretsBody } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { chargeStorage } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { applyChange, createChangeCall } from "../keyring/apply-change.ts";
import type { RequestContext } from "../language/language.ts";
import { publishObjects, storeObjects } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { decodeContent } from "./new-content.ts";
import { rejectTakenIds, insertSecrets, type NewVersion } from "./queries.ts";
import { rejectOverQuota } from "./quota.ts";
import { readCallState, checkLabelHeader, checkOwnerTicket } from "./signed-call.ts";

/**
 * Stores new secrets with one keyring change, all or none, as for one secret: [Note: Objects and
 * rows], [Note: Keyring changes].
 */
export function storeBatch(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: StoreSecretsBody,
  context: RequestContext,
): Promise<StoreSecretsResponse> {
  const { now } = context;
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  for (const { secret_db_id: id, label } of rest.secrets) checkLabelHeader(scope, keyring, label, id, 1);
  const contents = rest.secrets.map((secret) => ({ ...decodeContent(scope, secret, 1), ticketSig: secret.ticket_sig }));
  const rows = contents.map(({ row }) => row);
  const [firstRow] = rows as [NewVersion, ...NewVersion[]]; // the schema requires one
  const sizes = rows.map(({ size }) => size);

  return storeObjects(services, scope.accountId, contents, now, () =>
    withLockedAccount(services, scope.accountId, async (tx, account) => {
      const { storedKeyring, recordedResponse } = await readCallState(tx, scope, call);
      if (recordedResponse !== null) return { result: { state_rev: recordedResponse.state_rev }, publishedKeys: [] };
      await rejectTakenIds(
        tx,
        scope,
        rows.map(({ id }) => id),
      );
      await rejectOverQuota(tx, vendor, scope, account, sizes, rows.length);
      for (const { row, ticketSig } of contents) checkOwnerTicket(storedKeyring, keyring, ticketSig, row);
      const targetSecret = { secretId: firstRow.id, version: firstRow.version };
      const changeBytes = await applyChange(tx, account, storedKeyring, call, targetSecret, services, context);
      const publishedKeys = contents.map(({ objectKey }) => objectKey);
      await publishObjects(tx, scope.accountId, publishedKeys);
      const changeNumber = await incrementChangeCounter(tx, scope.accountId);
      const rowBytes = await insertSecrets(tx, scope, rows, { changeNumber, now });
      await chargeStorage(tx, vendor, account, changeBytes + rowBytes + sizes.reduce((sum, size) => sum + size, 0));
      return { result: { state_rev: keyring.state_rev }, publishedKeys };
    }),
  );
}
