import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildSlot,
  buildStatement,
  confirm,
  createSigner,
  digestOf,
  signWith,
  type Signer,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import type { Json, KeyringChange } from "@relicario/shared/api";

import { openCallsOn } from "../../shares/open-calls.ts";
import { expectRefusal, signInWithSecret, stateOf, type ServiceUnderTest } from "./under-test.ts";

/** The change with which a device that made another account key begins the account again. */
function resetOf(
  signer: Signer,
  overrides: Readonly<Record<string, Json | undefined>> = {},
): { fresh: Signer; change: KeyringChange } {
  const fresh: Signer = { ...createSigner(signer.userId), stateRev: signer.stateRev, state: signer.state };
  const whose = { user_id: signer.userId, key_epoch: 2 };
  const change = buildChange(fresh, {
    ...whose,
    state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf(String(signer.state)) }),
    book: buildJwe({ typ: "relicario-book", ...whose }),
    shares: buildJwe({ typ: "relicario-shares", ...whose }),
    slots: { set: [buildSlot(fresh.imageId)], remove: [signer.imageId] },
    key_statement: buildStatement(fresh, { key_epoch: 2 }),
    image_records: { set: [buildImageRecord(fresh.imageId)], remove: [signer.imageId] },
    ...overrides,
  });
  return { fresh, change };
}

export function describeReset(service: () => ServiceUnderTest): void {
  describe("the reset of an account", () => {
    it("is refused while nobody asked for it", async () => {
      const { account } = await signInWithSecret(service());
      const before = await stateOf(account);
      await expectRefusal(account.calls.changeKeyring(resetOf(account.signer).change), "conflict");
      expect(await stateOf(account)).toEqual(before);
    });

    it("leaves nothing of before: secrets, openers, shares and requests", async () => {
      const { account, first } = await signInWithSecret(service());
      const { signer } = account;
      const share = buildShare(signer, first.id);
      await account.calls.shares.create(share.body);
      confirm(signer, share.body.keyring);
      const request = buildRequest(signer);
      await account.calls.requests.create(request.body);
      confirm(signer, request.body.keyring);
      const { changes } = await account.calls.page({ cursor: null, since: null });
      const calls = await account.waitForReset();
      const unfit = [{ slots: { set: [], remove: [] } }, { book: undefined }, { image_records: undefined }];
      for (const more of unfit)
        await expectRefusal(calls.changeKeyring(resetOf(signer, more).change), "keyring_change_invalid");
      await expectRefusal(
        calls.changeKeyring(signWith("put", resetOf(signer).change, signer.signingKey)),
        "keyring_change_invalid",
      );
      const { fresh, change } = resetOf(signer);
      await calls.changeKeyring(change);
      await calls.changeKeyring(change);
      confirm(fresh, change);
      expect(await calls.keyring(null)).toMatchObject({
        key_epoch: 2,
        state_rev: 4,
        state: change.state,
        requests: null,
        slots: change.slots?.set,
        key_statement: change.key_statement,
      });
      expect(await calls.imageRecords()).toEqual(change.image_records?.set);
      expect(await calls.page({ cursor: null, since: changes })).toMatchObject({
        secrets: [],
        total: 0,
        purged: [first.id],
      });
      await expectRefusal(calls.secret(first.id, null), "not_found");
      await expectRefusal(openCallsOn(service().visitor, { isPublic: true }).look(share.shareId), "share_unavailable");
      expect(await calls.requests.list()).toMatchObject([{ request_id: request.requestId, state: "revoked" }]);
      await expectRefusal(account.calls.changeKeyring(buildChange(signer)), "state_conflict");
      await expectRefusal(calls.changeKeyring(resetOf(fresh, { key_epoch: 3 }).change), "keyring_change_invalid");
      const state = buildJwe({
        typ: "relicario-state",
        user_id: signer.userId,
        key_epoch: 2,
        previous: digestOf(change.state),
      });
      await calls.changeKeyring(buildChange(fresh, { key_epoch: 2, state }));
    });
  });
}
