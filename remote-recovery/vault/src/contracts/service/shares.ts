import {
  buildShare,
  buildChangeWith,
  inDays,
  newPublicId,
  openingOf,
  type BuiltShare,
} from "@relicario/api/testing/sharing";
import { buildChange, buildRecipient, confirm } from "@relicario/api/testing/person";
import {
  helperBytes,
  maxWrongPasswords,
  ShareList,
  type ChangeShare,
  type OpenShare,
  type OwnShare,
} from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";

import { newId } from "../../seal/ids.ts";
import { openCallsOn, type OpenCalls } from "../../shares/open-calls.ts";
import { transferCallsOn } from "../../transfer/upload-calls.ts";
import {
  day,
  digestOfB64u,
  expectRefusal,
  expectRefusals,
  noise,
  putChange,
  signInWithSecret,
  storeSecret,
  type Account,
  type ServiceUnderTest,
  type StoredSecret,
} from "./under-test.ts";

type ShareOptions = NonNullable<Parameters<typeof buildShare>[2]>;

async function share(
  { calls, signer }: Account,
  { id }: StoredSecret,
  options: ShareOptions = {},
): Promise<BuiltShare> {
  const share = buildShare(signer, id, options);
  await calls.shares.create(share.body);
  confirm(signer, share.body.keyring);
  return share;
}

/** Changes a share with a keyring change that fits. */
async function changeShare(
  { calls, signer }: Account,
  shareId: string,
  more: Omit<ChangeShare, "keyring">,
): Promise<void> {
  const keyring = buildChangeWith(signer, "shares");
  await calls.shares.change(shareId, { ...more, keyring });
  confirm(signer, keyring);
}

const openable = (http: Http): OpenCalls => openCallsOn(http, { isPublic: true });
const claimOf = (share: BuiltShare): OpenShare & { claim_id: string } => ({ ...openingOf(share), claim_id: noise(16) });
const toPerson = (share: BuiltShare): OpenShare & { claim_id: string } => ({
  share_id: share.shareId,
  claim_id: noise(16),
});
const proofOf = ({ shareId, linkAuth }: BuiltShare): OpenShare => ({ share_id: shareId, link_auth: linkAuth });

export function describeShares(service: () => ServiceUnderTest): void {
  const twoPeople = async (): Promise<{ ada: Account; first: StoredSecret; ben: Account }> => {
    const { account: ada, first } = await signInWithSecret(service());
    return { ada, first, ben: (await signInWithSecret(service())).account };
  };
  const listed = async ({ calls }: Account, { id }: StoredSecret): Promise<OwnShare[]> => [
    ...(await calls.shares.ofSecret(id)),
  ];
  const read = async (http: Http, token: string): Promise<string> =>
    Buffer.from((await transferCallsOn(http).range({ token }, 0, 5_000)).bytes).toString("base64url");

  describe("making a share", () => {
    it("lists it for its owner, and answers the same call as the first time", async () => {
      const { ada, first } = await twoPeople();
      const made = await share(ada, first, {
        max_views: 3,
        notify: true,
        password: true,
        share_helper: noise(helperBytes),
      });
      await ada.calls.shares.create(made.body);
      const { body } = made;
      expect(await listed(ada, first)).toEqual([
        {
          ...{
            share_id: made.shareId,
            secret_db_id: first.id,
            version: 1,
            audience: "public",
            recipient: null,
            password: true,
            picture: true,
          },
          ...{
            ticket_sha256: digestOfB64u(body.ticket),
            created_at: expect.any(String) as string,
            expires_at: body.expires_at,
            views: 0,
            max_views: 3,
          },
          ...{ last_opened_at: null, notify: true, end: null },
        },
      ]);
      expect(await ada.calls.keyring(null)).toMatchObject({ state_rev: 2, shares: body.keyring.shares });
      await expectRefusal(ada.calls.shares.create({ ...body, ticket: noise(2_000) }), "state_conflict");
      await expectRefusal(
        ada.calls.shares.create(buildShare(ada.signer, first.id, { share_id: made.shareId }).body),
        "id_taken",
      );
    });

    it("takes the present version of a secret that is there", async () => {
      const { ada, first, ben } = await twoPeople();
      const attempt = (id: string, options: ShareOptions = {}): Promise<unknown> =>
        ada.calls.shares.create(buildShare(ada.signer, id, options).body);
      await storeSecret(ada, { id: first.id, base: 1 });
      await expectRefusal(attempt(first.id), "version_conflict");
      await expectRefusal(attempt(newId(Date.now())), "not_found");
      await expectRefusal(ben.calls.shares.create(buildShare(ben.signer, first.id).body), "not_found");
      await ada.calls.trash(first.id);
      await expectRefusal(attempt(first.id, { version: 2 }), "conflict");
    });

    it("takes a time to come, a person who is there, and the document of shares", async () => {
      const { ada, first } = await twoPeople();
      const attempt = (options: ShareOptions): Promise<unknown> =>
        ada.calls.shares.create(buildShare(ada.signer, first.id, options).body);
      for (const days of [-1, 60]) await expectRefusal(attempt({ expires_at: inDays(days) }), "validation_error");
      for (const recipient of [newId(Date.now()), ada.signer.userId])
        await expectRefusal(attempt({ recipient }), "validation_error");
      await expectRefusal(attempt({ link_auth_sha256: undefined }), "validation_error");
      await expectRefusal(attempt({ change: { shares: undefined } }), "keyring_change_invalid");
      await expectRefusal(attempt({ change: { state_rev: 9 } }), "state_conflict");
      expect(await listed(ada, first)).toEqual([]);
    });
  });

  describe("a public link", () => {
    it("is looked at without cost, and shows who sent it to its key", async () => {
      const { ada, first } = await twoPeople();
      const made = await share(ada, first, { max_views: 2 });
      const { look, offer } = openable(service().visitor);
      const facts = {
        share_id: made.shareId,
        audience: "public",
        password: false,
        picture: false,
        expires_at: made.body.expires_at,
      };
      expect(await look(made.shareId)).toEqual(facts);
      expect(await offer(proofOf(made))).toEqual({
        ...facts,
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        share_helper: null,
        views_left: 2,
      });
      for (const proof of [{ share_id: made.shareId }, { share_id: made.shareId, link_auth: noise(32) }])
        await expectRefusal(offer(proof), "share_unavailable");
      await expectRefusal(look(newPublicId()), "share_unavailable");
      expect(await listed(ada, first)).toMatchObject([{ views: 0, last_opened_at: null }]);
    });

    it("gives ticket and content for a view, as often as it has views", async () => {
      const { ada, first } = await twoPeople();
      const made = await share(ada, first, { max_views: 2 });
      const { visitor } = service();
      const { offer, claim } = openable(visitor);
      const claimed = claimOf(made);
      const { ticket, from, download } = await claim(claimed);
      expect({ ticket, from, size: download.size }).toEqual({
        ticket: made.body.ticket,
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        size: 700,
      });
      expect(await read(visitor, download.token)).toBe(first.body.content);
      expect((await claim(claimed)).ticket).toBe(ticket); // the same view
      expect(await offer(proofOf(made))).toMatchObject({ views_left: 1 });
      await claim(claimOf(made));
      await expectRefusal(claim(claimOf(made)), "share_unavailable");
      await expectRefusal(offer(proofOf(made)), "share_unavailable");
      const again = await claim(claimed);
      expect(await read(visitor, again.download.token)).toBe(first.body.content);
      expect(await listed(ada, first)).toMatchObject([
        { views: 2, last_opened_at: expect.any(String) as string, end: "used_up" },
      ]);
      await expectRefusal(read(visitor, "a token of nobody"), "share_unavailable");
    });

    it("counts wrong passwords, and closes after the tenth", async () => {
      const { ada, first } = await twoPeople();
      const made = await share(ada, first, { password: true });
      const { claim } = openable(service().visitor);
      await expectRefusal(claim({ ...proofOf(made), claim_id: noise(16) }), "validation_error");
      const wrong = (): Promise<unknown> => claim({ ...claimOf(made), pass_auth: noise(32) });
      for (let left = maxWrongPasswords - 1; left >= 0; left--)
        await expectRefusal(wrong(), "wrong_password", { tries_left: left });
      await expectRefusal(wrong(), "share_unavailable");
      await expectRefusal(claim(claimOf(made)), "share_unavailable");
      expect(await listed(ada, first)).toMatchObject([{ views: 0, end: "locked" }]);
    });

    it("ends when it is revoked, for those who hold a view too", async () => {
      const { ada, first, ben } = await twoPeople();
      const made = await share(ada, first);
      const claimed = claimOf(made);
      const { look, claim } = openable(service().visitor);
      const { download } = await claim(claimed);
      await expectRefusal(ben.calls.shares.revoke(made.shareId), "not_found");
      await ada.calls.shares.revoke(made.shareId);
      await ada.calls.shares.revoke(made.shareId);
      await expectRefusal(ada.calls.shares.revoke(newPublicId()), "not_found");
      await expectRefusals(
        [look(made.shareId), claim(claimed), claim(claimOf(made)), read(service().visitor, download.token)],
        "share_unavailable",
      );
      expect(await listed(ada, first)).toMatchObject([{ end: "revoked" }]);
      expect((await ada.http.request("GET", `/sharelist/${first.id}`, ShareList)).shares).toEqual([]);
      await expectRefusal(changeShare(ada, made.shareId, { max_views: 5 }), "conflict");
    });

    it("ends with its time, and opens again with another one", async () => {
      const { ada, first } = await twoPeople();
      const now = Date.now();
      const made = await share(ada, first, { expires_at: new Date(now + 30 * day).toISOString() });
      const { claim } = openable(service().visitor);
      const claimed = claimOf(made);
      const { download } = await claim(claimed);
      service().goAhead(30 * day);
      await expectRefusals(
        [claim(claimed), claim(claimOf(made)), read(service().visitor, download.token)],
        "share_unavailable",
      );
      expect(await listed(ada, first)).toMatchObject([{ end: "expired" }]);
      const later = new Date(now + 50 * day).toISOString();
      await changeShare(ada, made.shareId, { expires_at: later });
      expect(await claim(claimOf(made))).toMatchObject({ ticket: made.body.ticket });
      expect(await listed(ada, first)).toMatchObject([{ end: null, expires_at: later, views: 2 }]);
    });

    it("shows another version, or more views, as its owner changes it", async () => {
      const { ada, first, ben } = await twoPeople();
      const made = await share(ada, first, { max_views: 1 });
      const { claim } = openable(service().visitor);
      await claim(claimOf(made));
      const second = await storeSecret(ada, { id: first.id, base: 1 });
      const ticket = noise(1_900);
      await expectRefusal(changeShare(ada, made.shareId, { version: 1, ticket }), "version_conflict");
      await expectRefusal(changeShare(ben, made.shareId, { max_views: 5 }), "not_found");
      await expectRefusal(changeShare(ada, newPublicId(), { max_views: 5 }), "not_found");
      await changeShare(ada, made.shareId, { version: 2, ticket, max_views: null });
      const { download, ...claimed } = await claim(claimOf(made));
      expect(claimed).toMatchObject({ ticket });
      expect(await read(service().visitor, download.token)).toBe(second.body.content);
      expect(await listed(ada, first)).toMatchObject([
        { version: 2, ticket_sha256: digestOfB64u(ticket), max_views: null, views: 2, end: null },
      ]);
    });

    it("ends for good with its secret in the trash, and with its version", async () => {
      const { ada, first } = await twoPeople();
      const made = await share(ada, first);
      await storeSecret(ada, { id: first.id, base: 1 });
      const other = await share(ada, first, { version: 2 });
      await putChange(ada, buildChange(ada.signer, { purge_versions: [{ secret_db_id: first.id, versions: [1] }] }));
      await expectRefusal(openable(service().visitor).look(made.shareId), "share_unavailable");
      await openable(service().visitor).look(other.shareId);
      await ada.calls.trash(first.id);
      await ada.calls.store({ secret_db_id: first.id, restore: true });
      await expectRefusal(openable(service().visitor).claim(claimOf(other)), "share_unavailable");
      const ends = new Map((await listed(ada, first)).map(({ share_id: id, end }) => [id, end]));
      expect([ends.get(made.shareId), ends.get(other.shareId)]).toEqual(["ended", "ended"]);
    });
  });

  describe("a link for signed-in people", () => {
    it("takes a session, and is listed for whoever opened it", async () => {
      const { ada, first, ben } = await twoPeople();
      const made = await share(ada, first, { audience: "signed_in" });
      await expectRefusal(openable(service().visitor).look(made.shareId), "share_unavailable");
      await expectRefusal(openCallsOn(service().visitor, { isPublic: false }).look(made.shareId), "unauthorized");
      expect(await ben.calls.opening.look(made.shareId)).toMatchObject({ audience: "signed_in" });
      expect(await ben.calls.shares.withMe(true)).toEqual([]);
      const { download } = await ben.calls.opening.claim(claimOf(made));
      expect(await read(ben.http, download.token)).toBe(first.body.content);
      await expectRefusal(read(ada.http, download.token), "share_unavailable");
      expect(await ben.calls.shares.withMe(false)).toMatchObject([
        {
          share_id: made.shareId,
          audience: "signed_in",
          from: { user_name: ada.userName },
          opened_at: expect.any(String) as string,
          available: true,
        },
      ]);
    });
  });

  describe("a share with one person", () => {
    it("is theirs alone, without a link, and listed before it is opened", async () => {
      const { ada, first, ben } = await twoPeople();
      const made = await share(ada, first, { recipient: ben.signer.userId, max_views: 2 });
      const facts = {
        share_id: made.shareId,
        audience: "person",
        from: { user_id: ada.signer.userId, user_name: ada.userName },
        expires_at: made.body.expires_at,
        created_at: expect.any(String) as string,
      };
      expect(await ben.calls.shares.withMe(false)).toEqual([
        { ...facts, opened_at: null, views_left: 2, available: true },
      ]);
      expect(await listed(ada, first)).toMatchObject([
        { audience: "person", recipient: { user_id: ben.signer.userId, user_name: ben.userName } },
      ]);
      for (const { calls } of [ada, await service().signIn()])
        await expectRefusal(calls.opening.look(made.shareId), "share_unavailable");
      expect(await ben.calls.opening.offer({ share_id: made.shareId })).toMatchObject({
        from: facts.from,
        views_left: 2,
      });
      const { ticket, download } = await ben.calls.opening.claim(toPerson(made));
      expect(ticket).toBe(made.body.ticket);
      expect(await read(ben.http, download.token)).toBe(first.body.content);
      expect(await ben.calls.shares.withMe(false)).toEqual([
        { ...facts, opened_at: expect.any(String) as string, views_left: 1, available: true },
      ]);
      await ada.calls.shares.revoke(made.shareId);
      expect(await ben.calls.shares.withMe(false)).toEqual([]);
      expect(await ben.calls.shares.withMe(true)).toMatchObject([{ share_id: made.shareId, available: false }]);
    });
  });

  describe("the key directory", () => {
    it("gives the statement of a person by name, whatever its case", async () => {
      const { ada, first, ben } = await twoPeople();
      expect(await ben.calls.shares.keyOf(ada.userName)).toEqual(first.body.keyring.key_statement);
      expect(await ben.calls.shares.keyOf(ada.userName.toUpperCase())).toMatchObject({
        recipient: buildRecipient(),
        user_id: ada.signer.userId,
      });
      await expectRefusal(ben.calls.shares.keyOf((await service().signIn()).userName), "not_found"); // no keys yet
      await expectRefusal(ben.calls.shares.keyOf("nobody-has-this-name"), "not_found");
      expect(await ben.calls.shares.me()).toMatchObject({ user_id: ben.signer.userId, user_name: ben.userName });
    });
  });
}
