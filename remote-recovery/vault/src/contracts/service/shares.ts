import {
  buildShare,
  buildChangeWithDocument,
  formatDaysFromNow,
  createPublicId,
  buildOpening,
  type BuiltShare,
} from "@relicario/api/testing/sharing";
import { buildChange, buildRecipient, confirmChange, signTicket } from "@relicario/api/testing/person";
import {
  helperBytes,
  maxWrongPasswords,
  ShareList,
  type ChangeShareBody,
  type OpenShareBody,
  type OwnShare,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

import { newId } from "../../seal/ids.ts";
import { createShareOpeningCalls, type ShareOpeningCalls } from "../../service/share-opening-calls.ts";
import { createTransferCalls } from "../../transfer/upload-calls.ts";
import {
  dayMs,
  computeDigestOfB64u,
  expectRefusal,
  expectRefusals,
  randomB64u,
  putChange,
  signInWithSecret,
  storeSecret,
  type Account,
  type ServiceUnderTest,
  type StoredSecret,
} from "./service-under-test.ts";

type ShareOptions = NonNullable<Parameters<typeof buildShare>[2]>;

async function createShare(
  { calls, signer }: Account,
  { id }: StoredSecret,
  options: ShareOptions = {},
): Promise<BuiltShare> {
  const share = buildShare(signer, id, options);
  await calls.shares.create(share.body);
  confirmChange(signer, share.body.keyring);
  return share;
}

/** Changes a share, with a valid keyring change. */
async function changeShare(
  { calls, signer }: Account,
  shareId: string,
  changes: Omit<ChangeShareBody, "keyring">,
): Promise<void> {
  const keyring = buildChangeWithDocument(signer, "shares");
  await calls.shares.change(shareId, { ...changes, keyring });
  confirmChange(signer, keyring);
}

const publicCalls = (http: HttpClient): ShareOpeningCalls => createShareOpeningCalls(http, { isPublic: true });
const makeClaim = (share: BuiltShare): OpenShareBody & { claim_id: string } => ({
  ...buildOpening(share),
  claim_id: randomB64u(16),
});
const makePersonClaim = (share: BuiltShare): OpenShareBody & { claim_id: string } => ({
  share_id: share.shareId,
  claim_id: randomB64u(16),
});
const makeProof = ({ shareId, linkAuth }: BuiltShare): OpenShareBody => ({ share_id: shareId, link_auth: linkAuth });

export function describeShares(service: () => ServiceUnderTest): void {
  const signInTwoPeople = async (): Promise<{ ada: Account; firstSecret: StoredSecret; ben: Account }> => {
    const { account: ada, firstSecret } = await signInWithSecret(service());
    return { ada, firstSecret, ben: (await signInWithSecret(service())).account };
  };
  const listShares = async ({ calls }: Account, { id }: StoredSecret): Promise<OwnShare[]> => [
    ...(await calls.shares.listOfSecret(id)),
  ];
  const readContent = async (http: HttpClient, token: string): Promise<string> =>
    Buffer.from((await createTransferCalls(http).range({ token }, 0, 5_000)).bytes).toString("base64url");

  describe("creating a share", () => {
    it("lists the share for its owner, and returns the same response to a repeated call", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, {
        max_views: 3,
        notify: true,
        password: true,
        share_helper: randomB64u(helperBytes),
      });
      await ada.calls.shares.create(createdShare.body);
      const { body } = createdShare;
      expect(await listShares(ada, firstSecret)).toEqual([
        {
          ...{
            share_id: createdShare.shareId,
            secret_db_id: firstSecret.id,
            version: 1,
            audience: "public",
            recipient: null,
            password: true,
            picture: true,
          },
          ...{
            ticket_sha256: computeDigestOfB64u(body.ticket),
            created_at: expect.any(String) as string,
            expires_at: body.expires_at,
            views: 0,
            max_views: 3,
          },
          ...{ last_opened_at: null, notify: true, end: null },
        },
      ]);
      expect(await ada.calls.getKeyring(null)).toMatchObject({ state_rev: 2, shares: body.keyring.shares });
      await expectRefusal(ada.calls.shares.create({ ...body, ticket: randomB64u(2_000) }), "state_conflict");
      await expectRefusal(
        ada.calls.shares.create(buildShare(ada.signer, firstSecret.id, { share_id: createdShare.shareId }).body),
        "id_taken",
      );
    });

    it("needs the current version of an existing secret", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      const attempt = (id: string, options: ShareOptions = {}): Promise<unknown> =>
        ada.calls.shares.create(buildShare(ada.signer, id, options).body);
      await storeSecret(ada, { id: firstSecret.id, base: 1 });
      await expectRefusal(attempt(firstSecret.id), "version_conflict");
      await expectRefusal(attempt(newId(Date.now())), "not_found");
      await expectRefusal(ben.calls.shares.create(buildShare(ben.signer, firstSecret.id).body), "not_found");
      await ada.calls.trash(firstSecret.id);
      await expectRefusal(attempt(firstSecret.id, { version: 2 }), "conflict");
    });

    it("needs a future expiry, an existing person, and the shares document", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const attempt = (options: ShareOptions): Promise<unknown> =>
        ada.calls.shares.create(buildShare(ada.signer, firstSecret.id, options).body);
      for (const days of [-1, 60])
        await expectRefusal(attempt({ expires_at: formatDaysFromNow(days) }), "validation_error");
      for (const recipient of [newId(Date.now()), ada.signer.userId])
        await expectRefusal(attempt({ recipient }), "validation_error");
      await expectRefusal(attempt({ link_auth_sha256: undefined }), "validation_error");
      await expectRefusal(attempt({ change: { shares: undefined } }), "keyring_change_invalid");
      await expectRefusal(attempt({ change: { state_rev: 9 } }), "state_conflict");
      expect(await listShares(ada, firstSecret)).toEqual([]);
    });
  });

  describe("a public link", () => {
    it("is previewed without using a view, and names its sender to anyone with the link key", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { max_views: 2 });
      const { inspect, getOffer } = publicCalls(service().visitor);
      const expected = {
        share_id: createdShare.shareId,
        audience: "public",
        password: false,
        picture: false,
        expires_at: createdShare.body.expires_at,
      };
      expect(await inspect(createdShare.shareId)).toEqual(expected);
      expect(await getOffer(makeProof(createdShare))).toEqual({
        ...expected,
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        share_helper: null,
        views_left: 2,
      });
      for (const proof of [
        { share_id: createdShare.shareId },
        { share_id: createdShare.shareId, link_auth: randomB64u(32) },
      ])
        await expectRefusal(getOffer(proof), "share_unavailable");
      await expectRefusal(inspect(createPublicId()), "share_unavailable");
      expect(await listShares(ada, firstSecret)).toMatchObject([{ views: 0, last_opened_at: null }]);
    });

    it("returns ticket and content for each of its views", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { max_views: 2 });
      const { visitor } = service();
      const { getOffer, claim } = publicCalls(visitor);
      const claimBody = makeClaim(createdShare);
      const { ticket, from, download } = await claim(claimBody);
      expect({ ticket, from, size: download.size }).toEqual({
        ticket: createdShare.body.ticket,
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        size: 700,
      });
      expect(await readContent(visitor, download.token)).toBe(firstSecret.body.content);
      expect((await claim(claimBody)).ticket).toBe(ticket); // the same view
      expect(await getOffer(makeProof(createdShare))).toMatchObject({ views_left: 1 });
      await claim(makeClaim(createdShare));
      await expectRefusal(claim(makeClaim(createdShare)), "share_unavailable");
      await expectRefusal(getOffer(makeProof(createdShare)), "share_unavailable");
      const secondClaim = await claim(claimBody);
      expect(await readContent(visitor, secondClaim.download.token)).toBe(firstSecret.body.content);
      expect(await listShares(ada, firstSecret)).toMatchObject([
        { views: 2, last_opened_at: expect.any(String) as string, end: "used_up" },
      ]);
      await expectRefusal(readContent(visitor, "a token of nobody"), "share_unavailable");
    });

    it("counts wrong passwords, and closes after the tenth", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { password: true });
      const { claim } = publicCalls(service().visitor);
      await expectRefusal(claim({ ...makeProof(createdShare), claim_id: randomB64u(16) }), "validation_error");
      const claimWithWrongPassword = (): Promise<unknown> =>
        claim({ ...makeClaim(createdShare), pass_auth: randomB64u(32) });
      for (let triesLeft = maxWrongPasswords - 1; triesLeft >= 0; triesLeft--)
        await expectRefusal(claimWithWrongPassword(), "wrong_password", { tries_left: triesLeft });
      await expectRefusal(claimWithWrongPassword(), "share_unavailable");
      await expectRefusal(claim(makeClaim(createdShare)), "share_unavailable");
      expect(await listShares(ada, firstSecret)).toMatchObject([{ views: 0, end: "locked" }]);
    });

    it("ends when revoked, even for a claimed view", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret);
      const claimBody = makeClaim(createdShare);
      const { inspect, claim } = publicCalls(service().visitor);
      const { download } = await claim(claimBody);
      await expectRefusal(ben.calls.shares.revoke(createdShare.shareId), "not_found");
      await ada.calls.shares.revoke(createdShare.shareId);
      await ada.calls.shares.revoke(createdShare.shareId);
      await expectRefusal(ada.calls.shares.revoke(createPublicId()), "not_found");
      await expectRefusals(
        [
          inspect(createdShare.shareId),
          claim(claimBody),
          claim(makeClaim(createdShare)),
          readContent(service().visitor, download.token),
        ],
        "share_unavailable",
      );
      expect(await listShares(ada, firstSecret)).toMatchObject([{ end: "revoked" }]);
      expect((await ada.http.request("GET", `/sharelist/${firstSecret.id}`, ShareList)).shares).toEqual([]);
      await expectRefusal(changeShare(ada, createdShare.shareId, { max_views: 5 }), "conflict");
    });

    it("ends when it expires, and opens again when extended", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const now = Date.now();
      const createdShare = await createShare(ada, firstSecret, {
        expires_at: new Date(now + 30 * dayMs).toISOString(),
      });
      const { claim } = publicCalls(service().visitor);
      const claimBody = makeClaim(createdShare);
      const { download } = await claim(claimBody);
      service().setClockOffset(30 * dayMs);
      await expectRefusals(
        [claim(claimBody), claim(makeClaim(createdShare)), readContent(service().visitor, download.token)],
        "share_unavailable",
      );
      expect(await listShares(ada, firstSecret)).toMatchObject([{ end: "expired" }]);
      const laterExpiry = new Date(now + 50 * dayMs).toISOString();
      await changeShare(ada, createdShare.shareId, { expires_at: laterExpiry });
      expect(await claim(makeClaim(createdShare))).toMatchObject({ ticket: createdShare.body.ticket });
      expect(await listShares(ada, firstSecret)).toMatchObject([{ end: null, expires_at: laterExpiry, views: 2 }]);
    });

    it("shows another version, or allows more views, when its owner changes it", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { max_views: 1 });
      const { claim } = publicCalls(service().visitor);
      await claim(makeClaim(createdShare));
      const secondVersion = await storeSecret(ada, { id: firstSecret.id, base: 1 });
      const ticket = randomB64u(1_900);
      const signNewTicket = (version: number) => ({
        ...{ version, ticket },
        ticket_sig: signTicket(ada.signer, {
          secretId: firstSecret.id,
          version,
          ticket,
          shareId: createdShare.shareId,
        }),
      });
      await expectRefusal(changeShare(ada, createdShare.shareId, signNewTicket(1)), "version_conflict");
      await expectRefusal(changeShare(ben, createdShare.shareId, { max_views: 5 }), "not_found");
      await expectRefusal(changeShare(ada, createPublicId(), { max_views: 5 }), "not_found");
      await changeShare(ada, createdShare.shareId, { ...signNewTicket(2), max_views: null });
      const { download, ...claimed } = await claim(makeClaim(createdShare));
      expect(claimed).toMatchObject({ ticket });
      expect(await readContent(service().visitor, download.token)).toBe(secondVersion.body.content);
      expect(await listShares(ada, firstSecret)).toMatchObject([
        { version: 2, ticket_sha256: computeDigestOfB64u(ticket), max_views: null, views: 2, end: null },
      ]);
    });

    it("ends for good when its secret is trashed or its version removed", async () => {
      const { ada, firstSecret } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret);
      await storeSecret(ada, { id: firstSecret.id, base: 1 });
      const otherShare = await createShare(ada, firstSecret, { version: 2 });
      await putChange(
        ada,
        buildChange(ada.signer, { purge_versions: [{ secret_db_id: firstSecret.id, versions: [1] }] }),
      );
      await expectRefusal(publicCalls(service().visitor).inspect(createdShare.shareId), "share_unavailable");
      await publicCalls(service().visitor).inspect(otherShare.shareId);
      await ada.calls.trash(firstSecret.id);
      await ada.calls.store({ secret_db_id: firstSecret.id, restore: true });
      await expectRefusal(publicCalls(service().visitor).claim(makeClaim(otherShare)), "share_unavailable");
      const ends = new Map((await listShares(ada, firstSecret)).map(({ share_id: id, end }) => [id, end]));
      expect([ends.get(createdShare.shareId), ends.get(otherShare.shareId)]).toEqual(["ended", "ended"]);
    });
  });

  describe("a link for signed-in people", () => {
    it("needs a session, and is listed for the people who opened it", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { audience: "signed_in" });
      await expectRefusal(publicCalls(service().visitor).inspect(createdShare.shareId), "share_unavailable");
      await expectRefusal(
        createShareOpeningCalls(service().visitor, { isPublic: false }).inspect(createdShare.shareId),
        "unauthorized",
      );
      expect(await ben.calls.shareOpening.inspect(createdShare.shareId)).toMatchObject({ audience: "signed_in" });
      expect(await ben.calls.shares.listReceived(true)).toEqual([]);
      const { download } = await ben.calls.shareOpening.claim(makeClaim(createdShare));
      expect(await readContent(ben.http, download.token)).toBe(firstSecret.body.content);
      await expectRefusal(readContent(ada.http, download.token), "share_unavailable");
      expect(await ben.calls.shares.listReceived(false)).toMatchObject([
        {
          share_id: createdShare.shareId,
          audience: "signed_in",
          from: { user_name: ada.userName },
          opened_at: expect.any(String) as string,
          available: true,
        },
      ]);
    });
  });

  describe("a share with one person", () => {
    it("opens only for that person, without a link, and is listed before", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      const createdShare = await createShare(ada, firstSecret, { recipient: ben.signer.userId, max_views: 2 });
      const expected = {
        share_id: createdShare.shareId,
        audience: "person",
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        expires_at: createdShare.body.expires_at,
        created_at: expect.any(String) as string,
      };
      expect(await ben.calls.shares.listReceived(false)).toEqual([
        { ...expected, opened_at: null, views_left: 2, available: true },
      ]);
      expect(await listShares(ada, firstSecret)).toMatchObject([
        { audience: "person", recipient: { user_id: ben.signer.userId, user_name: ben.userName } },
      ]);
      for (const { calls } of [ada, await service().signIn()])
        await expectRefusal(calls.shareOpening.inspect(createdShare.shareId), "share_unavailable");
      expect(await ben.calls.shareOpening.getOffer({ share_id: createdShare.shareId })).toMatchObject({
        from: expected.from,
        views_left: 2,
      });
      const { ticket, download } = await ben.calls.shareOpening.claim(makePersonClaim(createdShare));
      expect(ticket).toBe(createdShare.body.ticket);
      expect(await readContent(ben.http, download.token)).toBe(firstSecret.body.content);
      expect(await ben.calls.shares.listReceived(false)).toEqual([
        { ...expected, opened_at: expect.any(String) as string, views_left: 1, available: true },
      ]);
      await ada.calls.shares.revoke(createdShare.shareId);
      expect(await ben.calls.shares.listReceived(false)).toEqual([]);
      expect(await ben.calls.shares.listReceived(true)).toMatchObject([
        { share_id: createdShare.shareId, available: false },
      ]);
    });
  });

  describe("the key directory", () => {
    it("returns a person's key statement by name, in any letter case", async () => {
      const { ada, firstSecret, ben } = await signInTwoPeople();
      expect(await ben.calls.shares.getKeyStatement(ada.userName)).toEqual(firstSecret.body.keyring.key_statement);
      expect(await ben.calls.shares.getKeyStatement(ada.userName.toUpperCase())).toMatchObject({
        recipient: buildRecipient(),
        user_id: ada.signer.userId,
      });
      // this person has no keys yet
      await expectRefusal(ben.calls.shares.getKeyStatement((await service().signIn()).userName), "not_found");
      await expectRefusal(ben.calls.shares.getKeyStatement("nobody-has-this-name"), "not_found");
      expect(await ben.calls.shares.getMe()).toMatchObject({ user_id: ben.signer.userId, user_name: ben.userName });
    });
  });
}
