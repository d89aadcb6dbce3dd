import { generateKeyPairSync } from "node:crypto";

import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildSecret,
  buildSlot,
  createSigner,
  computeDigest,
  signDocument,
  type Signer,
} from "@relicario/api/testing/person";
import type { Json, KeyringChange } from "@relicario/shared/api";
import { z } from "zod";

import { newId } from "../../seal/ids.ts";
import {
  expectRefusal,
  putChange,
  signInWithSecret,
  readAccountState,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

const passkeyId = newId(Date.now());

/** Changes of an account with one image that the service refuses from any session. */
const invalidChanges: readonly (readonly [string, (signer: Signer) => KeyringChange])[] = [
  [
    "is signed by another key",
    (signer) => signDocument("put", buildChange(signer), generateKeyPairSync("ed25519").privateKey),
  ],
  ["names another account", (signer) => buildChange(signer, { user_id: createSigner(newId(Date.now())).userId })],
  [
    "has a state that follows another one",
    (signer) =>
      buildChange(signer, {
        state: buildJwe({
          typ: "relicario-state",
          user_id: signer.userId,
          key_epoch: 1,
          previous: computeDigest("another"),
        }),
      }),
  ],
  [
    "has a state of another account",
    (signer) =>
      buildChange(signer, {
        state: buildJwe({
          typ: "relicario-state",
          user_id: passkeyId,
          key_epoch: 1,
          previous: computeDigest(String(signer.state)),
        }),
      }),
  ],
  [
    "has a book of another epoch",
    (signer) =>
      buildChange(signer, { book: buildJwe({ typ: "relicario-book", user_id: signer.userId, key_epoch: 2 }) }),
  ],
  [
    "has requests in place of shares",
    (signer) =>
      buildChange(signer, { shares: buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 1 }) }),
  ],
  [
    "names the same slot twice",
    (signer) =>
      buildChange(signer, {
        slots: { set: [buildSlot(passkeyId, "passkey"), buildSlot(passkeyId, "passkey")], remove: [] },
      }),
  ],
  ["removes a slot that is not there", (signer) => buildChange(signer, { slots: { set: [], remove: [passkeyId] } })],
  [
    "removes an image record that is not there",
    (signer) => buildChange(signer, { image_records: { set: [], remove: [passkeyId] } }),
  ],
  [
    "adds an image without its record",
    (signer) => buildChange(signer, { slots: { set: [buildSlot(passkeyId)], remove: [] } }),
  ],
  [
    "removes the record of an image that stays",
    (signer) => buildChange(signer, { image_records: { set: [], remove: [signer.imageId] } }),
  ],
  [
    "leaves a passkey as the only opener",
    (signer) =>
      buildChange(signer, {
        slots: { set: [buildSlot(passkeyId, "passkey")], remove: [signer.imageId] },
        image_records: { set: [], remove: [signer.imageId] },
      }),
  ],
  ["names a stage without its digest", (signer) => buildChange(signer, { stage_id: passkeyId })],
  [
    "takes the next epoch without another key",
    (signer) =>
      buildChange(signer, {
        key_epoch: 2,
        state: buildJwe({
          typ: "relicario-state",
          user_id: signer.userId,
          key_epoch: 2,
          previous: computeDigest(String(signer.state)),
        }),
      }),
  ],
  ["purges what is not in the trash", (signer) => buildChange(signer, { purge: [passkeyId] })],
  [
    "drops a version of a secret that is not there",
    (signer) => buildChange(signer, { purge_versions: [{ secret_db_id: passkeyId, versions: [1] }] }),
  ],
];

export function describeKeyring(service: () => ServiceUnderTest): void {
  describe("the keyring", () => {
    it("does not exist before the first secret, which creates the keyring", async () => {
      const account = await service().signIn();
      const { calls, http, signer } = account;
      expect(await calls.getKeyring(null)).toBeNull();
      await expectRefusal(http.request("GET", "/user/keyring", z.unknown()), "no_keyring");
      await expectRefusal(calls.changeKeyring(buildChange(signer)), "keyring_change_invalid");
      await expectRefusal(calls.store(buildSecret(signer, { change: { state_rev: 2 } }).body), "no_keyring");
      for (const missing of ["book", "shares", "slots", "key_statement", "image_records"]) {
        await expectRefusal(
          calls.store(buildSecret(signer, { change: { [missing]: undefined } }).body),
          "keyring_change_invalid",
        );
      }
      expect(await calls.getKeyring(null)).toBeNull();
      const {
        body: { keyring: change },
      } = await storeSecret(account);
      const { book, shares, state, key_statement: statement } = change;
      expect(await calls.getKeyring(null)).toEqual({
        key_epoch: 1,
        state_rev: 1,
        state,
        book,
        shares,
        requests: null,
        slots: change.slots?.set,
        key_statement: statement,
      });
      expect(await calls.getImageRecords()).toEqual(change.image_records?.set);
    });

    it("accepts the next change, and returns the same response to a repeated one", async () => {
      const { account } = await signInWithSecret(service());
      const { calls, signer } = account;
      const change = buildChange(signer, {
        book: buildJwe({ typ: "relicario-book", user_id: signer.userId, key_epoch: 1 }),
      });
      await putChange(account, change);
      const stateAfter = await readAccountState(account);
      await calls.changeKeyring(change);
      expect(await readAccountState(account)).toEqual(stateAfter);
      expect(await calls.getKeyring(null)).toMatchObject({ state_rev: 2, state: change.state, book: change.book });
    });

    it("refuses a change that follows another state", async () => {
      const { account } = await signInWithSecret(service());
      await putChange(account, buildChange(account.signer));
      const stateBefore = await readAccountState(account);
      for (const stateRev of [1, 2, 4])
        await expectRefusal(
          account.calls.changeKeyring(buildChange(account.signer, { state_rev: stateRev })),
          "state_conflict",
        );
      expect(await readAccountState(account)).toEqual(stateBefore);
    });

    describe("refuses a change that", () => {
      let fixture: { account: Account; stateBefore: unknown };
      beforeAll(async () => {
        const { account } = await signInWithSecret(service());
        fixture = { account, stateBefore: await readAccountState(account) };
      });

      it.each(invalidChanges)("%s", async (_case, build) => {
        const { account, stateBefore } = fixture;
        await expectRefusal(account.calls.changeKeyring(build(account.signer)), "keyring_change_invalid");
        expect(await readAccountState(account)).toEqual(stateBefore);
      });
    });

    it("adds openers, replaces and removes them", async () => {
      const { account } = await signInWithSecret(service());
      const { calls, signer } = account;
      const [codeId, imageId] = [newId(Date.now()), newId(Date.now())];
      const buildOpenerChange = (slots: Json, records?: Json): KeyringChange =>
        buildChange(signer, { slots, ...(records === undefined ? {} : { image_records: records }) });
      const record = buildImageRecord(imageId);
      await putChange(
        account,
        buildOpenerChange(
          { set: [buildSlot(codeId, "recovery_code"), buildSlot(imageId)], remove: [] },
          { set: [record], remove: [] },
        ),
      );
      const replacedSlot = buildSlot(codeId, "recovery_code");
      await putChange(
        account,
        buildOpenerChange({ set: [replacedSlot], remove: [signer.imageId] }, { set: [], remove: [signer.imageId] }),
      );
      const slots = (await calls.getKeyring(null))?.slots ?? [];
      expect(slots).toHaveLength(2);
      expect(slots).toEqual(expect.arrayContaining([replacedSlot, expect.objectContaining({ opener_id: imageId })]));
      expect(await calls.getImageRecords()).toEqual([record]);
    });

    it("returns the states after a state_rev, oldest first", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const changes = [firstSecret.body.keyring];
      for (let rev = 2; rev <= 4; rev++) {
        const change = buildChange(account.signer);
        await putChange(account, change);
        changes.push(change);
      }
      const states = changes.map(({ state_rev, state }) => ({ state_rev, state }));
      expect((await account.calls.getKeyring(0))?.states).toEqual(states);
      expect((await account.calls.getKeyring(2))?.states).toEqual(states.slice(2));
      expect((await account.calls.getKeyring(4))?.states).toEqual([]);
    });

    it("is available only to its owner", async () => {
      const { account } = await signInWithSecret(service());
      const other = await service().signIn();
      expect(await other.calls.getKeyring(null)).toBeNull();
      await expectRefusal(other.calls.changeKeyring(buildChange(account.signer)), "no_keyring");
      await expectRefusal(service().visitor.request("GET", "/user/keyring", z.unknown()), "unauthorized");
    });
  });
}
