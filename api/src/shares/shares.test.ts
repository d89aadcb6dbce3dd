import { maxLiveShares, ReceivedShares } from "@relicario/shared/api";
import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { accounts, publicIds, shareClaims, shares } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import { buildChange, buildSecret, confirmChange, signTicket, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import {
  buildChangeWithDocument,
  buildShare,
  callOk,
  formatDaysFromNow,
  storeSecret,
  createShare,
  createPublicId,
  buildOpening,
  createSharedSecret,
  listShares,
  type BuiltShare,
} from "../testing/sharing.ts";
import { checkStoredContents } from "../testing/storage.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService(
    {
      VENDORS: JSON.stringify([
        { vendor_id: "relicario", name: "Relicario", former_versions: 1 },
        { vendor_id: "second", name: "Second", share_days: 90 },
      ]),
      RATE_LIMITS: JSON.stringify({ share_with_person: 8 }),
    },
    () => clock,
  );
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const advanceDays = (days: number): void => {
  clock = new Date(clock.getTime() + days * 86_400_000);
};
const postShare = (person: Person, share: BuiltShare): Promise<TestResponse> =>
  service.call("POST", "/share", person.token, { body: share.body });
const patchShare = (person: Person, shareId: string, overrides: object): Promise<TestResponse> =>
  service.call("PATCH", `/share/${shareId}`, person.token, {
    body: { keyring: buildChangeWithDocument(person, "shares"), ...overrides },
  });
const openShare = async (share: BuiltShare): Promise<number> =>
  (await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(share) })).status;
const createOwner = async (): Promise<{ owner: Person; id: string }> => {
  const owner = await service.signIn();
  return { owner, id: (await storeSecret(service, owner)).id };
};
/** Copies of a share under new ids. */
const insertShareCopies = (shareId: string, times: number) =>
  service.app.services.db
    .execute(sql`insert into shares select account_id, share_id || n, secret_id, version, audience, recipient_id, ticket, ticket_sha256, link_auth_sha256, pass_auth_sha256, password,
    picture, share_helper, expires_at, max_views, views, wrong_passwords, notify, created_at, last_opened_at, revoked_at, ended_at
    from shares, generate_series(1, ${times}::int) n where share_id = ${shareId}`);
const confirmIfAccepted = (person: Person, response: TestResponse, keyring: ReturnType<typeof buildChange>): void => {
  expect(response).toMatchObject({ status: 200 });
  confirmChange(person, keyring);
};

describe("POST /share", () => {
  it("stores a share and its keyring change together, and gives a repeated call the first response", async () => {
    const { owner, id } = await createOwner();
    const share = buildShare(owner, id, { max_views: 5, notify: true, password: true });
    const firstResponse = await postShare(owner, share);
    expect(firstResponse).toMatchObject({ status: 200, body: { share_id: share.shareId, state_rev: 2 } });
    expect((await postShare(owner, share)).body).toEqual(firstResponse.body);
    expect(await postShare(owner, { ...share, body: { ...share.body, max_views: 6 } })).toMatchObject({
      status: 409,
      body: { code: "state_conflict" },
    });
    expect(await listShares(service, owner, id)).toEqual([
      {
        ...{
          share_id: share.shareId,
          secret_db_id: id,
          version: 1,
          audience: "public",
          recipient: null,
          password: true,
          picture: false,
          notify: true,
          end: null,
        },
        ...{
          views: 0,
          max_views: 5,
          last_opened_at: null,
          created_at: clock.toISOString(),
          expires_at: share.body.expires_at,
          ticket_sha256: expect.any(String),
        },
      },
    ]);
  });

  it("is refused without the document of shares, with an invalid signature, or with a state that does not follow; nothing is stored", async () => {
    const { owner, id } = await createOwner();
    const shareWithoutDocument = buildShare(owner, id, { change: { shares: undefined } });
    expect(await postShare(owner, shareWithoutDocument)).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    const alteredShare = buildShare(owner, id);
    expect(
      await postShare(owner, {
        ...alteredShare,
        body: { ...alteredShare.body, keyring: { ...alteredShare.body.keyring, state_rev: 2, sig: "A".repeat(86) } },
      }),
    ).toMatchObject({ status: 422 });
    const staleShare = buildShare(owner, id, { change: { state_rev: 7 } });
    expect(await postShare(owner, staleShare)).toMatchObject({
      status: 409,
      body: { code: "state_conflict", keyring: { state_rev: 1 } },
    });
    expect(await listShares(service, owner, id)).toEqual([]);
    const rows = await service.app.services.db
      .select()
      .from(publicIds)
      .where(sql`${publicIds.accountId} = ${owner.userId}`);
    expect(rows).toEqual([]);
  });

  it("accepts only the current version of one's own secret outside the trash", async () => {
    const { owner, id } = await createOwner();
    expect(await postShare(owner, buildShare(owner, uuidv7()))).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect(await postShare(owner, buildShare(owner, id, { version: 2 }))).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 1 },
    });
    await callOk(service, "DELETE", `/secrets/store/${id}`, owner.token);
    expect(await postShare(owner, buildShare(owner, id))).toMatchObject({ status: 409, body: { code: "conflict" } });
  });

  it("refuses a taken id, a time in the past or beyond 30 days; the vendor can allow more", async () => {
    const { owner, id } = await createOwner();
    const { share } = await createSharedSecret(service);
    expect(await postShare(owner, buildShare(owner, id, { share_id: share.shareId }))).toMatchObject({
      status: 409,
      body: { code: "id_taken" },
    });
    expect(await postShare(owner, buildShare(owner, id, { expires_at: formatDaysFromNow(-1) }))).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/expires_at", reason: "too_early" }] },
    });
    expect(await postShare(owner, buildShare(owner, id, { expires_at: formatDaysFromNow(31) }))).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/expires_at", reason: "too_late" }] },
    });
    const otherVendorPerson = await service.signIn(undefined, "second");
    const secret = await storeSecret(service, otherVendorPerson);
    expect(
      (
        await postShare(
          otherVendorPerson,
          buildShare(otherVendorPerson, secret.id, { expires_at: formatDaysFromNow(89) }),
        )
      ).status,
    ).toBe(200);
  });

  it("needs the members of its kind, link or person, and a recipient of the same vendor", async () => {
    const { owner, id } = await createOwner();
    const [reader, otherVendorPerson] = [await service.signIn(), await service.signIn(undefined, "second")];
    const anyDigest = "A".repeat(43);
    const invalidOverrides = [
      { audience: "public", recipient: reader.userId },
      { audience: "person" },
      { recipient: reader.userId, link_auth_sha256: anyDigest },
      { recipient: reader.userId, password: true },
      { link_auth_sha256: undefined },
      { max_views: 0 },
    ] as const;
    for (const more of invalidOverrides)
      expect([more, (await postShare(owner, buildShare(owner, id, more as object))).status]).toEqual([more, 422]);
    for (const recipient of [uuidv7(), otherVendorPerson.userId, owner.userId]) {
      expect(await postShare(owner, buildShare(owner, id, { recipient }))).toMatchObject({
        status: 422,
        body: { errors: [{ path: "/recipient", reason: "unknown" }] },
      });
    }
    expect((await postShare(owner, buildShare(owner, id, { recipient: reader.userId }))).status).toBe(200);
  });

  it("is limited per day for each recipient", async () => {
    const [first, second, reader] = [await createOwner(), await createOwner(), await service.signIn()];
    for (let count = 0; count < 8; count++)
      await createShare(service, first.owner, first.id, { recipient: reader.userId });
    expect(await postShare(first.owner, buildShare(first.owner, first.id, { recipient: reader.userId }))).toMatchObject(
      {
        status: 429,
        body: { code: "too_many_requests" },
      },
    );
    expect(
      (await postShare(second.owner, buildShare(second.owner, second.id, { recipient: reader.userId }))).status,
    ).toBe(200);
    expect((await postShare(first.owner, buildShare(first.owner, first.id))).status).toBe(200);
  });

  it("is limited in number while openable; ended shares do not count", async () => {
    const { owner, secret, share } = await createSharedSecret(service);
    await insertShareCopies(share.shareId, maxLiveShares - 1);
    expect((await callOk(service, "GET", "/user/me", owner.token)).body).toMatchObject({
      licence: { shares: maxLiveShares },
    });
    expect(await postShare(owner, buildShare(owner, secret.id))).toMatchObject({
      status: 409,
      body: { code: "limit_reached", limit: maxLiveShares },
    });
    await service.call("DELETE", `/share/${share.shareId}`, owner.token);
    expect((await postShare(owner, buildShare(owner, secret.id))).status).toBe(200);
  });
});

describe("PATCH /share/{share_id}", () => {
  it("revives a share only below the limit of openable shares; an openable share can always be changed", async () => {
    const { owner, secret, share } = await createSharedSecret(service);
    const [expiringShare, singleViewShare] = [
      await createShare(service, owner, secret.id, { expires_at: formatDaysFromNow(1) }),
      await createShare(service, owner, secret.id, { max_views: 1 }),
    ];
    await openShare(singleViewShare);
    advanceDays(2);
    await insertShareCopies(share.shareId, maxLiveShares - 1);
    const limitReached = { status: 409, body: { code: "limit_reached", limit: maxLiveShares } };
    expect(await patchShare(owner, expiringShare.shareId, { expires_at: formatDaysFromNow(5) })).toMatchObject(
      limitReached,
    );
    expect(await patchShare(owner, singleViewShare.shareId, { max_views: null })).toMatchObject(limitReached);
    for (const [changedShare, more] of [
      [share, { max_views: 9 }],
      [expiringShare, { max_views: 9 }],
    ] as const) {
      const keyring = buildChangeWithDocument(owner, "shares");
      confirmIfAccepted(
        owner,
        await service.call("PATCH", `/share/${changedShare.shareId}`, owner.token, { body: { ...more, keyring } }),
        keyring,
      );
    }
    expect(await openShare(expiringShare)).toBe(404);
    await service.call("DELETE", `/share/${share.shareId}`, owner.token);
    expect((await patchShare(owner, singleViewShare.shareId, { max_views: null })).status).toBe(200);
    expect(await openShare(singleViewShare)).toBe(200);
  });

  it("changes expiry, views and version, also of a share that expired or has no views left", async () => {
    const { owner, secret, share } = await createSharedSecret(service, { max_views: 1 });
    await openShare(share);
    expect(await openShare(share)).toBe(404);
    const keyring = buildChangeWithDocument(owner, "shares");
    const body = { max_views: null, expires_at: formatDaysFromNow(20), keyring };
    confirmIfAccepted(owner, await service.call("PATCH", `/share/${share.shareId}`, owner.token, { body }), keyring);
    expect((await service.call("PATCH", `/share/${share.shareId}`, owner.token, { body })).body).toEqual({
      share_id: share.shareId,
      state_rev: keyring.state_rev,
    });
    expect(await openShare(share)).toBe(200);
    expect(await listShares(service, owner, secret.id)).toMatchObject([
      { views: 2, max_views: null, expires_at: body.expires_at, end: null },
    ]);
    advanceDays(21);
    expect(await openShare(share)).toBe(404);
    const secondKeyring = buildChangeWithDocument(owner, "shares");
    confirmIfAccepted(
      owner,
      await service.call("PATCH", `/share/${share.shareId}`, owner.token, {
        body: { expires_at: formatDaysFromNow(5, clock), keyring: secondKeyring },
      }),
      secondKeyring,
    );
    expect(await openShare(share)).toBe(200);
    const signNewTicket = () => ({
      ...{ version: 2, ticket: "AAAA" },
      ticket_sig: signTicket(owner, { secretId: secret.id, version: 2, ticket: "AAAA", shareId: share.shareId }),
    });
    expect(await patchShare(owner, share.shareId, signNewTicket())).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 1 },
    });
    await storeSecret(service, owner, { id: secret.id, base: 1 });
    const thirdKeyring = buildChangeWithDocument(owner, "shares");
    confirmIfAccepted(
      owner,
      await service.call("PATCH", `/share/${share.shareId}`, owner.token, {
        body: { ...signNewTicket(), keyring: thirdKeyring },
      }),
      thirdKeyring,
    );
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ version: 2, views: 3 }]);
    await checkStoredContents(service, owner);
  });

  it("revives no revoked, ended or locked share, and needs version and ticket together", async () => {
    const { owner, share } = await createSharedSecret(service);
    expect((await patchShare(owner, share.shareId, { version: 1 })).status).toBe(422);
    expect((await patchShare(owner, createPublicId(), { max_views: 3 })).status).toBe(404);
    expect(await patchShare(owner, share.shareId, { keyring: buildChange(owner) })).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    await service.call("DELETE", `/share${share.shareId}`, owner.token);
    expect(await patchShare(owner, share.shareId, { max_views: 3 })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });
});

describe("DELETE /share{share_id}", () => {
  it("is effective at once, by either path, idempotently, and drops ticket and helper", async () => {
    const { owner, secret, share } = await createSharedSecret(service, {
      share_helper: Buffer.alloc(454).toString("base64url"),
    });
    for (const path of [`/share${share.shareId}`, `/share/${share.shareId}`])
      expect((await service.call("DELETE", path, owner.token)).status).toBe(204);
    expect(await openShare(share)).toBe(404);
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ end: "revoked" }]);
    expect(await listShares(service, owner, secret.id, { includeEnded: false })).toEqual([]);
    expect(await checkStoredContents(service, owner)).toBe(secret.content.length);
    const rows = await service.app.services.db
      .select()
      .from(shares)
      .where(sql`${shares.shareId} = ${share.shareId}`);
    expect(rows).toMatchObject([{ ticket: null, shareHelper: null }]);
  });
});

describe("a removed secret", () => {
  it("ends its shares when it is trashed; a restore does not open the shares again", async () => {
    const { owner, secret, share } = await createSharedSecret(service);
    await callOk(service, "DELETE", `/secrets/store/${secret.id}`, owner.token);
    expect(await openShare(share)).toBe(404);
    await callOk(service, "POST", "/secrets/store", owner.token, { body: { secret_db_id: secret.id, restore: true } });
    expect(await openShare(share)).toBe(404);
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ end: "ended" }]);
    await checkStoredContents(service, owner);
  });

  it("ends only the shares of a version that is removed or dropped; until then the version's content stays", async () => {
    const { owner, secret, share } = await createSharedSecret(service);
    await storeSecret(service, owner, { id: secret.id, base: 1 });
    advanceDays(1);
    const second = await createShare(service, owner, secret.id, { version: 2 });
    expect([await openShare(share), await openShare(second)]).toEqual([200, 200]);
    advanceDays(30);
    const thirdVersion = buildSecret(owner, { id: secret.id, base: 2 });
    // the vendor keeps one former version: the first is dropped
    await callOk(service, "POST", "/secrets/store", owner.token, { body: thirdVersion.body });
    confirmChange(owner, thirdVersion.body.keyring);
    expect((await listShares(service, owner, secret.id)).map(({ version, end }) => [version, end])).toEqual([
      [2, "expired"],
      [1, "ended"],
    ]);
    const change = buildChange(owner, { purge_versions: [{ secret_db_id: secret.id, versions: [2] }] });
    confirmIfAccepted(owner, await service.call("PUT", "/user/keyring", owner.token, { body: change }), change);
    expect((await listShares(service, owner, secret.id)).map(({ end }) => end)).toEqual(["ended", "ended"]);
    await checkStoredContents(service, owner);
  });

  it("leaves nothing to download after a purge", async () => {
    const { owner, secret, share } = await createSharedSecret(service);
    const claim = await callOk(service, "POST", "/share/get-public-secret", null, { body: buildOpening(share) });
    const { token } = claim.body["download"] as { token: string };
    await callOk(service, "DELETE", `/secrets/store/${secret.id}`, owner.token);
    const change = buildChange(owner, { purge: [secret.id] });
    confirmIfAccepted(owner, await service.call("PUT", "/user/keyring", owner.token, { body: change }), change);
    expect(await service.call("POST", "/share/content", null, { body: { token } })).toMatchObject({
      status: 404,
      body: { code: "share_unavailable" },
    });
    expect(await checkStoredContents(service, owner)).toBe(0);
  });
});

describe("GET /user/share-with-me", () => {
  it("shows what was shared with this account and the links that it opened, with sender and expiry, and ended shares on request", async () => {
    const reader = await service.signIn();
    const { share, owner, secret } = await createSharedSecret(service, { recipient: reader.userId, max_views: 1 });
    advanceDays(1);
    const link = await createShare(service, owner, secret.id, { audience: "signed_in" });
    const listReceived = async (query = "") =>
      ReceivedShares.parse((await callOk(service, "GET", `/user/share-with-me${query}`, reader.token)).body).shares;
    expect(await listReceived()).toEqual([
      {
        ...{
          share_id: share.shareId,
          audience: "person",
          from: { user_id: owner.userId, user_name: owner.subject },
          created_at: expect.any(String),
          expires_at: share.body.expires_at,
        },
        ...{ opened_at: null, views_left: 1, available: true },
      },
    ]);
    await callOk(service, "POST", "/share/get-secret", reader.token, { body: buildOpening(link) });
    await callOk(service, "POST", "/share/get-secret", reader.token, {
      body: { share_id: share.shareId, claim_id: createPublicId() },
    });
    expect((await listReceived()).map(({ share_id: id }) => id)).toEqual([link.shareId]);
    expect(
      (await listReceived("?get_expired=true")).map(({ share_id: id, available, opened_at: at }) => [
        id,
        available,
        at,
      ]),
    ).toEqual([
      [link.shareId, true, clock.toISOString()],
      [share.shareId, false, clock.toISOString()],
    ]);
    await service.call("DELETE", `/share/${link.shareId}`, owner.token);
    expect(await listReceived()).toEqual([]);
    expect(await listReceived("?get_expired=true")).toHaveLength(2);
    expect(
      ReceivedShares.parse((await callOk(service, "GET", "/user/share-with-me?get_expired=true", owner.token)).body)
        .shares,
    ).toEqual([]);
  });
});

describe("the sweep", () => {
  it("deletes claims after ten minutes, and tickets 30 days after a share's expiry; the share's row stays closed", async () => {
    const { share, owner, secret } = await createSharedSecret(service);
    await openShare(share);
    const readClaims = () =>
      service.app.services.db
        .select()
        .from(shareClaims)
        .where(sql`${shareClaims.shareId} = ${share.shareId}`);
    expect(await readClaims()).toHaveLength(1);
    advanceDays(1);
    await service.app.sweep();
    expect(await readClaims()).toEqual([]);
    expect(await openShare(share)).toBe(200);
    advanceDays(36.5);
    await service.app.sweep();
    expect(await checkStoredContents(service, owner)).toBe(secret.content.length);
    expect(await listShares(service, owner, secret.id)).toMatchObject([
      { share_id: share.shareId, views: 2, end: "expired" },
    ]);
    expect(await patchShare(owner, share.shareId, { expires_at: formatDaysFromNow(3, clock) })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });
});

describe("mails", () => {
  const createVerifiedPerson = async (address: string): Promise<Person> => {
    const person = await service.signIn();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: address, contactEmailVerified: true, language: "es" })
      .where(sql`${accounts.id} = ${person.userId}`);
    return person;
  };
  const mailsTo = async (address: string) => (await readMails(service)).filter(({ to }) => to === address);

  it("notify the owner of openings if wanted, ten times a day at most", async () => {
    const owner = await createVerifiedPerson("owner@example.org");
    const { id } = await storeSecret(service, owner);
    const [notifyingShare, silentShare] = [
      await createShare(service, owner, id, { notify: true }),
      await createShare(service, owner, id),
    ];
    await openShare(silentShare);
    for (let views = 0; views < 12; views++) await openShare(notifyingShare);
    const subjects = (await mailsTo("owner@example.org")).map(({ subject }) => subject);
    expect(
      subjects.filter((subject) => subject === "Alguien ha abierto un secreto que compartes en Relicario"),
    ).toHaveLength(10);
  });

  it("notify a recipient of shares, five times a day at most, without sender or content", async () => {
    const reader = await createVerifiedPerson("reader@example.org");
    const { owner, id } = await createOwner();
    const sentShares: BuiltShare[] = [];
    for (let count = 0; count < 7; count++)
      sentShares.push(await createShare(service, owner, id, { recipient: reader.userId }));
    const mails = await mailsTo("reader@example.org");
    expect(mails).toHaveLength(5);
    expect(mails[0]?.subject).toBe("Alguien ha compartido un secreto contigo en Relicario");
    for (const { source, text } of mails)
      for (const { shareId } of sentShares)
        for (const privateText of [shareId, owner.subject, id]) expect(`${source}${text}`).not.toContain(privateText);
    expect(
      ReceivedShares.parse((await callOk(service, "GET", "/user/share-with-me", reader.token)).body).shares,
    ).toHaveLength(7);
  });
});
