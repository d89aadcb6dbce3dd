import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildSlot,
  buildStatement,
  confirmChange,
  createSigner,
  computeDigest,
  type Signer,
  signChange,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import type { Json, KeyringChange } from "@relicario/shared/api";

import { createShareOpeningCalls } from "../../service/share-opening-calls.ts";
import { expectRefusal, signInWithSecret, readAccountState, type ServiceUnderTest } from "./service-under-test.ts";

/** Builds the change that resets an account to a new account key. */
function buildReset(
  signer: Signer,
  overrides: Readonly<Record<string, Json | undefined>> = {},
): { freshSigner: Signer; change: KeyringChange } {
  const freshSigner: Signer = { ...createSigner(signer.userId), stateRev: signer.stateRev, state: signer.state };
  const header = { user_id: signer.userId, key_epoch: 2 };
  const change = buildChange(freshSigner, {
    ...header,
    state: buildJwe({ typ: "relicario-state", ...header, previous: computeDigest(String(signer.state)) }),
    book: buildJwe({ typ: "relicario-book", ...header }),
    shares: buildJwe({ typ: "relicario-shares", ...header }),
    slots: { set: [buildSlot(freshSigner.imageId)], remove: [signer.imageId] },
    key_statement: buildStatement(freshSigner, { key_epoch: 2 }),
    image_records: { set: [buildImageRecord(freshSigner.imageId)], remove: [signer.imageId] },
    ...overrides,
  });
  return { freshSigner, change };
}

export function describeReset(service: () => ServiceUnderTest): void {
  describe("the reset of an account", () => {
    it("is refused before it is requested", async () => {
      const { account } = await signInWithSecret(service());
      const stateBefore = await readAccountState(account);
      await expectRefusal(account.calls.changeKeyring(buildReset(account.signer).change), "conflict");
      expect(await readAccountState(account)).toEqual(stateBefore);
    });

    it("removes everything: secrets, openers, shares and requests", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const { signer } = account;
      const share = buildShare(signer, firstSecret.id);
      await account.calls.shares.create(share.body);
      confirmChange(signer, share.body.keyring);
      const request = buildRequest(signer);
      await account.calls.requests.create(request.body);
      confirmChange(signer, request.body.keyring);
      const { changes } = await account.calls.getListPage({ cursor: null, since: null });
      const calls = await account.waitForReset();
      const invalidOverrides = [{ slots: { set: [], remove: [] } }, { book: undefined }, { image_records: undefined }];
      for (const overrides of invalidOverrides)
        await expectRefusal(calls.changeKeyring(buildReset(signer, overrides).change), "keyring_change_invalid");
      await expectRefusal(calls.changeKeyring(signChange(buildReset(signer).change, signer)), "keyring_change_invalid");
      const { freshSigner, change } = buildReset(signer);
      await calls.changeKeyring(change);
      await calls.changeKeyring(change);
      confirmChange(freshSigner, change);
      expect(await calls.getKeyring(null)).toMatchObject({
        key_epoch: 2,
        state_rev: 4,
        state: change.state,
        requests: null,
        slots: change.slots?.set,
        key_statement: change.key_statement,
      });
      expect(await calls.getImageRecords()).toEqual(change.image_records?.set);
      expect(await calls.getListPage({ cursor: null, since: changes })).toMatchObject({
        secrets: [],
        total: 0,
        purged: [firstSecret.id],
      });
      await expectRefusal(calls.getSecret(firstSecret.id, null), "not_found");
      await expectRefusal(
        createShareOpeningCalls(service().visitor, { isPublic: true }).inspect(share.shareId),
        "share_unavailable",
      );
      expect(await calls.requests.list()).toMatchObject([{ request_id: request.requestId, state: "revoked" }]);
      await expectRefusal(account.calls.changeKeyring(buildChange(signer)), "state_conflict");
      await expectRefusal(
        calls.changeKeyring(buildReset(freshSigner, { key_epoch: 3 }).change),
        "keyring_change_invalid",
      );
      const state = buildJwe({
        typ: "relicario-state",
        user_id: signer.userId,
        key_epoch: 2,
        previous: computeDigest(change.state),
      });
      await calls.changeKeyring(buildChange(freshSigner, { key_epoch: 2, state }));
    });
  });
}
