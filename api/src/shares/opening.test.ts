import { claimLifetimeMinutes, maxWrongPasswords, ShareClaim, ShareOffer } from "@relicario/shared/api";
import { eq, sql } from "drizzle-orm";

import { maxDownloadHours } from "../auth/grants.ts";
import { shares } from "../db/schema.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { confirmChange, signTicket, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import {
  buildChangeWithDocument,
  callOk,
  formatDaysFromNow,
  storeSecret,
  createShare,
  createPublicId,
  buildOpening,
  createSharedSecret,
  listShares,
  type BuiltShare,
  type LinkCredentials,
} from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
let reader: Person;
beforeAll(async () => {
  service = await startService(
    { RATE_LIMITS: JSON.stringify({ visit: 100_000, download_shared: 100_000 }) },
    () => clock,
  );
  clock = new Date();
  reader = await service.signIn();
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const advanceMinutes = (minutes: number): void => {
  clock = new Date(clock.getTime() + minutes * 60_000);
};

const openShare = (body: unknown, headers = {}): Promise<TestResponse> =>
  service.call("POST", "/share/get-public-secret", null, { body, headers });
const readShareInfo = (shareId: string, headers = {}): Promise<TestResponse> =>
  service.call("POST", `/share/get-public-secret/${shareId}`, null, { headers });
const download = (
  token: string,
  { headers = {}, actor = null }: { headers?: Readonly<Record<string, string>>; actor?: Person | null } = {},
) =>
  service.app.http.inject({
    method: "POST",
    url: "/share/content",
    headers: { ...(actor === null ? {} : { authorization: `Bearer ${actor.token}` }), ...headers },
    payload: { token },
  });
const parseShareClaim = (response: TestResponse): ShareClaim => {
  if (response.status !== 200) throw new Error(response.text);
  return ShareClaim.parse(response.body);
};
const readViewCount = async (share: LinkCredentials): Promise<number> => {
  const [row] = await service.app.services.db.select().from(shares).where(eq(shares.shareId, share.shareId));
  return row?.views ?? NaN;
};
/** Omits what differs between responses. */
const omitRequestId = ({ status, body: { request_id: _, ...body } }: TestResponse) => ({ status, body });
const unavailableResponse = {
  status: 404,
  body: { type: "about:blank", title: "Not found", status: 404, code: "share_unavailable" },
};

const previewAgents = [
  ...[
    "Slackbot-LinkExpanding 1.0",
    "Twitterbot/1.0",
    "facebookexternalhit/1.1",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
  ],
  ...[
    "Discordbot/2.0",
    "LinkedInBot/1.0",
    "SkypeUriPreview Preview/0.5",
    "Googlebot/2.1",
    "Mozilla/5.0 (compatible; bingbot/2.0)",
  ],
];

describe("reading a share", () => {
  it("uses no view, and neither does a HEAD, a GET or an offer, by people or by ten known preview agents", async () => {
    const { share, owner, secret } = await createSharedSecret(service, { max_views: 1 });
    const { claim_id: _, pass_auth: _pass, ...offerBody } = buildOpening(share);
    for (const agent of [...previewAgents, "Mozilla/5.0"]) {
      const headers = { "user-agent": agent };
      expect((await readShareInfo(share.shareId, headers)).status).toBe(200);
      expect((await openShare(offerBody, headers)).status).toBe(200);
      for (const path of [
        `/share/get-public-secret/${share.shareId}`,
        `/share/${share.shareId}`,
        `/share/get-secret/${share.shareId}`,
      ]) {
        for (const method of ["GET", "HEAD"] as const)
          expect((await service.app.http.inject({ method, url: path, headers })).statusCode).toBe(404);
      }
    }
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ views: 0, last_opened_at: null, end: null }]);
    expect((await openShare(buildOpening(share))).status).toBe(200);
  });

  it("says what is asked for and until when, but not the sender or the secret", async () => {
    const { share } = await createSharedSecret(service, { password: true });
    expect((await readShareInfo(share.shareId)).body).toEqual({
      share_id: share.shareId,
      audience: "public",
      password: true,
      picture: false,
      expires_at: share.body.expires_at,
    });
  });

  it("returns the sender and the picture's helper with the link's proof", async () => {
    const helper = Buffer.alloc(454, 7).toString("base64url");
    const { share, owner } = await createSharedSecret(service, { share_helper: helper, max_views: 5 });
    const response = await openShare({ share_id: share.shareId, link_auth: share.linkAuth });
    expect(ShareOffer.parse(response.body)).toMatchObject({
      from: { user_id: owner.userId, user_name: owner.subject },
      picture: true,
      share_helper: helper,
      views_left: 5,
    });
  });
});

describe("a claim", () => {
  it("counts one view, and gives ticket and content, also in ranges, any number of times", async () => {
    const { share, secret } = await createSharedSecret(service, { max_views: 1 });
    const { ticket, download: token } = parseShareClaim(await openShare(buildOpening(share)));
    expect(ticket).toBe(share.body.ticket);
    expect(token.size).toBe(secret.content.length);
    expect((await download(token.token)).rawPayload.equals(secret.content)).toBe(true);
    const rangeResponse = await download(token.token, { headers: { range: "bytes=100-199" } });
    expect([
      rangeResponse.statusCode,
      rangeResponse.headers["content-range"],
      rangeResponse.rawPayload.equals(secret.content.subarray(100, 200)),
    ]).toEqual([206, `bytes 100-199/${String(secret.content.length)}`, true]);
    expect((await download(token.token, { headers: { range: "bytes=9999-" } })).statusCode).toBe(416);
    expect(await readViewCount(share)).toBe(1);
    expect(omitRequestId(await openShare(buildOpening(share)))).toEqual(unavailableResponse);
  });

  it("repeated with the same claim_id within ten minutes is the same view, also concurrently and for the last view", async () => {
    const { share } = await createSharedSecret(service, { max_views: 2 });
    const opening = buildOpening(share);
    const responses = await Promise.all(Array.from({ length: 10 }, () => openShare(opening)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    await callOk(service, "POST", "/share/get-public-secret", null, { body: buildOpening(share) });
    advanceMinutes(claimLifetimeMinutes - 1);
    expect((await openShare(opening)).status).toBe(200);
    expect(await readViewCount(share)).toBe(2);
    advanceMinutes(2);
    expect(omitRequestId(await openShare(opening))).toEqual(unavailableResponse);
    await service.app.sweep();
    expect(omitRequestId(await openShare(opening))).toEqual(unavailableResponse);
  });

  it("takes a view for each concurrent visitor up to the limit: five of forty", async () => {
    const { share } = await createSharedSecret(service, { max_views: 5 });
    const responses = await Promise.all(Array.from({ length: 40 }, () => openShare(buildOpening(share))));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const response of responses)
      if (response.status !== 200) expect(omitRequestId(response)).toEqual(unavailableResponse);
    expect(await readViewCount(share)).toBe(5);
  });

  it("is valid during a download in ranges, and for ten minutes after the last one", async () => {
    const { share, secret } = await createSharedSecret(service, { max_views: 1 });
    const { download: token } = parseShareClaim(await openShare(buildOpening(share)));
    const chunks: Buffer[] = [];
    for (let start = 0; start < secret.content.length; start += 200) {
      advanceMinutes(claimLifetimeMinutes - 2);
      await service.app.sweep();
      const { statusCode, rawPayload } = await download(token.token, {
        headers: { range: `bytes=${String(start)}-${String(start + 199)}` },
      });
      expect(statusCode).toBe(206);
      chunks.push(rawPayload);
    }
    expect(Buffer.concat(chunks).equals(secret.content)).toBe(true);
    advanceMinutes(claimLifetimeMinutes);
    expect((await download(token.token)).statusCode).toBe(404);
    expect(await readViewCount(share)).toBe(1);
  });

  it("ends a day after it was made, despite downloads and repetitions: then the same claim_id is another view", async () => {
    const { share } = await createSharedSecret(service, { max_views: 2 });
    const opening = buildOpening(share);
    const deadline = new Date(clock.getTime() + maxDownloadHours * 3_600_000);
    parseShareClaim(await openShare(opening));
    advanceMinutes(maxDownloadHours * 60 - 5);
    await service.app.services.db.execute(
      sql`update share_claims set used_at = ${clock.toISOString()} where share_id = ${share.shareId}`,
    );
    const { download: repeatedDownload } = parseShareClaim(await openShare(opening));
    expect(repeatedDownload.expires_at).toBe(deadline.toISOString());
    advanceMinutes(4);
    expect((await download(repeatedDownload.token)).statusCode).toBe(200);
    expect(await readViewCount(share)).toBe(1);
    advanceMinutes(1);
    expect((await download(repeatedDownload.token)).statusCode).toBe(404);
    const { download: newDownload } = parseShareClaim(await openShare(opening));
    expect(await readViewCount(share)).toBe(2);
    expect((await download(newDownload.token)).statusCode).toBe(200);
    advanceMinutes(claimLifetimeMinutes);
    expect(omitRequestId(await openShare(opening))).toEqual(unavailableResponse);
  });

  it("does not lock the account: it succeeds while the owner's row is locked", async () => {
    const { share, owner } = await createSharedSecret(service);
    const lockHolder = await openFaultInjector(service.database.url);
    try {
      await lockHolder.query("begin");
      await lockHolder.query(`select 1 from accounts where id = '${owner.userId}' for update`);
      expect((await openShare(buildOpening(share))).status).toBe(200);
    } finally {
      await lockHolder.query("rollback");
      await lockHolder.close();
    }
  });

  it("takes one view when the database connection is lost meanwhile", async () => {
    const { share } = await createSharedSecret(service, { audience: "signed_in", max_views: 3 });
    const faultInjector = await openFaultInjector(service.database.url);
    try {
      await faultInjector.lockTable("share_recipients"); // written last
      const opening = service.call("POST", "/share/get-secret", reader.token, { body: buildOpening(share) });
      await faultInjector.waitForBlocked(1);
      expect(await faultInjector.terminate("waiting")).toBe(1);
      await faultInjector.release();
      expect((await opening).status).toBe(200);
      expect(await readViewCount(share)).toBe(1);
    } finally {
      await faultInjector.close();
    }
  });

  it("of a link for signed-in people can be used by its visitor only", async () => {
    const { share, secret } = await createSharedSecret(service, { audience: "signed_in", max_views: 1 });
    const opening = buildOpening(share);
    const claimShare = (person: Person) => service.call("POST", "/share/get-secret", person.token, { body: opening });
    const { download: token } = parseShareClaim(await claimShare(reader));
    const other = await service.signIn();
    expect(omitRequestId(await claimShare(other))).toEqual(unavailableResponse);
    expect((await download(token.token, { actor: other })).statusCode).toBe(404);
    expect((await download(token.token)).statusCode).toBe(404);
    expect((await download(token.token, { actor: reader })).rawPayload.equals(secret.content)).toBe(true);
  });

  it("gives no content without its token, with an altered token, or after ten minutes", async () => {
    const { share } = await createSharedSecret(service);
    const { download: token } = parseShareClaim(await openShare(buildOpening(share)));
    const [encodedHeader = "", body = "", signature = ""] = token.token.split(".");
    const alteredPayload = Buffer.from(body, "base64url")
      .toString()
      .replace(/"version":1/, '"version":2');
    const unsignedHeader = Buffer.from(JSON.stringify({ alg: "none", typ: "relicario-grant+jwt" })).toString(
      "base64url",
    );
    const tokens = [
      "x",
      `${encodedHeader}.${Buffer.from(alteredPayload).toString("base64url")}.${signature}`,
      `${unsignedHeader}.${body}.`,
      reader.token,
    ];
    for (const wrong of tokens)
      expect((await download(wrong)).json()).toMatchObject({ status: 404, code: "share_unavailable" });
    advanceMinutes(claimLifetimeMinutes);
    expect((await download(token.token)).statusCode).toBe(404);
  });
});

describe("an unavailable share", () => {
  const unavailableCases: readonly (readonly [
    string,
    (share: BuiltShare, owner: Person, secretId: string) => Promise<LinkCredentials>,
  ])[] = [
    [
      "it is unknown",
      () => Promise.resolve({ shareId: createPublicId(), linkAuth: "A".repeat(43), passAuth: "A".repeat(43) }),
    ],
    ["its link is a wrong one", (share) => Promise.resolve({ ...share, linkAuth: "A".repeat(43) })],
    [
      "it is for signed-in people",
      async (_, owner, secretId) => createShare(service, owner, secretId, { audience: "signed_in" }),
    ],
    [
      "it is a request",
      async (_, owner) => {
        const id = createPublicId();
        const body = {
          request_id: id,
          document: "a..b.c.d",
          link_auth_sha256: "A".repeat(43),
          expires_at: formatDaysFromNow(1),
          max_size: 1,
          keyring: buildChangeWithDocument(owner, "requests"),
        };
        await callOk(service, "POST", "/requests", owner.token, { body });
        return { shareId: id, linkAuth: "A".repeat(43), passAuth: "A".repeat(43) };
      },
    ],
    [
      "it expired",
      (share) => {
        advanceMinutes(8 * 24 * 60);
        return Promise.resolve(share);
      },
    ],
    [
      "it was opened as often as allowed",
      async (share) => {
        await callOk(service, "POST", "/share/get-public-secret", null, { body: buildOpening(share) });
        return share;
      },
    ],
    [
      "it was revoked",
      async (share, owner) => {
        await service.call("DELETE", `/share/${share.shareId}`, owner.token);
        return share;
      },
    ],
    [
      "its secret went to the trash",
      async (share, owner, secretId) => {
        await callOk(service, "DELETE", `/secrets/store/${secretId}`, owner.token);
        return share;
      },
    ],
    [
      "it was closed by wrong passwords",
      async (share) => {
        for (let tries = 0; tries < maxWrongPasswords; tries++)
          await openShare({ ...buildOpening(share), pass_auth: "A".repeat(43) });
        return share;
      },
    ],
    [
      "its owner's account was closed",
      async (share, owner) => {
        await service.app.services.db.execute(`update accounts set locked_at = now() where id = '${owner.userId}'`);
        return share;
      },
    ],
    [
      "its owner's vendor was closed",
      async (share, owner) => {
        await service.app.services.db.execute(`update accounts set vendor_id = 'closed' where id = '${owner.userId}'`);
        return share;
      },
    ],
  ];

  it.each(unavailableCases)("gives the same response after the same queries: %s", async (_, prepareLink) => {
    const { share, owner, secret } = await createSharedSecret(service, { max_views: 1 });
    const link = await prepareLink(share, owner, secret.id);
    const { claim_id: _claim, pass_auth: _pass, ...offerBody } = buildOpening(link);
    expect(omitRequestId(await openShare(buildOpening(link)))).toEqual(unavailableResponse);
    expect(omitRequestId(await openShare(offerBody))).toEqual(unavailableResponse);
    if (link.linkAuth === share.linkAuth || link.shareId !== share.shareId)
      expect(omitRequestId(await readShareInfo(link.shareId))).toEqual(unavailableResponse);
    expect(await recordQueries(() => openShare(buildOpening(link)))).toEqual(
      await recordQueries(() => openShare(buildOpening({ ...link, shareId: createPublicId() }))),
    );
    expect(await recordQueries(() => openShare(buildOpening(link)))).toHaveLength(3);
  });

  /** Statements of a call without values, and without those that count calls of its address. */
  async function recordQueries(call: () => Promise<unknown>): Promise<string[]> {
    await service.app.services.mailer.deliver(); // sends mails of earlier calls first
    const { Client } = jest.requireActual<typeof import("pg")>("pg");
    const spy = jest.spyOn(Client.prototype, "query");
    try {
      await call();
      const texts = spy.mock.calls.map(([query]) =>
        typeof query === "string" ? query : (query as unknown as { text: string }).text,
      );
      return texts.filter((text) => !text.startsWith('insert into "rate_limits"'));
    } finally {
      spy.mockRestore();
    }
  }

  it("is what other people see of a share with a person, and people of other vendors of a link for signed-in people", async () => {
    const { share, owner, secret } = await createSharedSecret(service, { recipient: reader.userId });
    const link = await createShare(service, owner, secret.id, { audience: "signed_in" });
    const stranger = await service.signIn(undefined, "second");
    const claimShare = (body: unknown, person: Person) =>
      service.call("POST", "/share/get-secret", person.token, { body });
    const personClaim = { share_id: share.shareId, claim_id: createPublicId() };
    for (const other of [owner, stranger, await service.signIn()]) {
      expect(omitRequestId(await claimShare(personClaim, other))).toEqual(unavailableResponse);
      expect(omitRequestId(await service.call("POST", `/share/get-secret/${share.shareId}`, other.token))).toEqual(
        unavailableResponse,
      );
    }
    expect(omitRequestId(await claimShare(buildOpening(link), stranger))).toEqual(unavailableResponse);
    expect((await claimShare(personClaim, reader)).status).toBe(200);
    expect((await claimShare(buildOpening(link), reader)).status).toBe(200);
    expect((await service.call("POST", "/share/get-secret", null, { body: personClaim })).status).toBe(401);
  });
});

describe("a wrong password", () => {
  it("is reported only with the right link, with the remaining attempts; after ten, the right password is refused too", async () => {
    const { share } = await createSharedSecret(service, { password: true, max_views: 3 });
    const wrong = { ...buildOpening(share), pass_auth: "A".repeat(43) };
    for (let triesLeft = maxWrongPasswords - 1; triesLeft >= 0; triesLeft--) {
      expect(omitRequestId(await openShare({ ...wrong, link_auth: "A".repeat(43) }))).toEqual(unavailableResponse);
      expect(await openShare(wrong)).toMatchObject({
        status: 403,
        body: { code: "wrong_password", tries_left: triesLeft },
      });
    }
    expect(omitRequestId(await openShare(wrong))).toEqual(unavailableResponse);
    expect(omitRequestId(await openShare(buildOpening(share)))).toEqual(unavailableResponse);
    expect(await readViewCount(share)).toBe(0);
  });

  it("cannot be guessed concurrently: of forty guesses ten are answered, and the right password after them is not", async () => {
    const { share } = await createSharedSecret(service, { password: true });
    const guesses = await Promise.all(
      Array.from({ length: 40 }, () => openShare({ ...buildOpening(share), pass_auth: "A".repeat(43) })),
    );
    expect(
      guesses
        .filter(({ status }) => status === 403)
        .map(({ body }) => body["tries_left"])
        .sort(),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(omitRequestId(await openShare(buildOpening(share)))).toEqual(unavailableResponse);
  });

  it("uses no view, and an opening without a password uses no attempt", async () => {
    const { share, owner, secret } = await createSharedSecret(service, { max_views: 1 });
    await openShare({ ...buildOpening(share), pass_auth: "A".repeat(43) });
    const { pass_auth: _, ...bodyWithoutPassword } = buildOpening(share);
    expect(await openShare(bodyWithoutPassword)).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/pass_auth", reason: "missing" }] },
    });
    expect((await openShare(buildOpening(share))).status).toBe(200);
    expect(await listShares(service, owner, secret.id)).toMatchObject([{ views: 1, end: "used_up" }]);
  });
});

describe("openings", () => {
  it("are limited per minute by IP address and by share: further ones are answered too_many_requests", async () => {
    const limitedService = await startService({ RATE_LIMITS: '{"visit":3,"open_share":5}' }, () => clock);
    try {
      const { share } = await createSharedSecret(limitedService);
      const openFromAddress = async (remoteAddress: string, shareId = share.shareId) =>
        (
          await limitedService.call("POST", "/share/get-public-secret", null, {
            body: { share_id: shareId, link_auth: share.linkAuth },
            remoteAddress,
          })
        ).status;
      const openRepeatedly = async (address: string, count: number): Promise<number[]> => {
        const statuses: number[] = [];
        for (let call = 0; call < count; call++) statuses.push(await openFromAddress(address));
        return statuses;
      };
      expect(await openRepeatedly("192.0.2.1", 4)).toEqual([200, 200, 200, 429]);
      expect(await openRepeatedly("192.0.2.2", 3)).toEqual([200, 200, 429]);
      expect(await openFromAddress("192.0.2.3", createPublicId())).toBe(404);
    } finally {
      await limitedService.stop();
    }
  });

  it("are not used up by callers with only the share's id", async () => {
    const limitedService = await startService({ RATE_LIMITS: JSON.stringify({ open_share: 2 }) }, () => clock);
    try {
      const { share, owner, secret } = await createSharedSecret(limitedService);
      const [recipient, other] = [await limitedService.signIn(), await limitedService.signIn()];
      const { shareId } = await createShare(limitedService, owner, secret.id, { recipient: recipient.userId });
      const openByLink = async (linkAuth: string) =>
        (
          await limitedService.call("POST", "/share/get-public-secret", null, {
            body: { share_id: share.shareId, link_auth: linkAuth },
          })
        ).status;
      const openByPerson = async ({ token }: Person) =>
        (await limitedService.call("POST", "/share/get-secret", token, { body: { share_id: shareId } })).status;
      for (let calls = 0; calls < 3; calls++)
        expect([await openByLink("A".repeat(43)), await openByPerson(other)]).toEqual([404, 404]);
      for (const status of [200, 200, 429])
        expect([await openByLink(share.linkAuth), await openByPerson(recipient)]).toEqual([status, status]);
    } finally {
      await limitedService.stop();
    }
  });
});

describe("an action of the operator during a download", () => {
  it.each([
    ["the owner's account is closed", "locked_at = now()", "locked_at = null"],
    ["the owner's vendor is closed", "vendor_id = 'closed'", "vendor_id = 'relicario'"],
  ])("stops the download for as long as it lasts: %s", async (_, closeSql, reopenSql) => {
    const { share, owner } = await createSharedSecret(service);
    const { download: token } = parseShareClaim(await openShare(buildOpening(share)));
    const updateAccount = (assignment: string) =>
      service.app.services.db.execute(`update accounts set ${assignment} where id = '${owner.userId}'`);
    await updateAccount(closeSql);
    expect((await download(token.token)).json()).toMatchObject({ status: 404, code: "share_unavailable" });
    await updateAccount(reopenSql);
    expect((await download(token.token)).statusCode).toBe(200);
  });
});

describe("an action of the owner during a download", () => {
  it("stops the download at once when the share is revoked or expires", async () => {
    const { share, owner } = await createSharedSecret(service);
    const { download: token } = parseShareClaim(await openShare(buildOpening(share)));
    const keyring = buildChangeWithDocument(owner, "shares");
    await callOk(service, "PATCH", `/share/${share.shareId}`, owner.token, {
      body: { expires_at: new Date(clock.getTime() + 60_000).toISOString(), keyring },
    });
    confirmChange(owner, keyring);
    expect((await download(token.token)).statusCode).toBe(200);
    advanceMinutes(1);
    expect((await download(token.token)).statusCode).toBe(404);

    const secondShared = await createSharedSecret(service);
    const { download: secondDownload } = parseShareClaim(await openShare(buildOpening(secondShared.share)));
    await service.call("DELETE", `/share/${secondShared.share.shareId}`, secondShared.owner.token);
    expect((await download(secondDownload.token)).json()).toMatchObject({ code: "share_unavailable" });
    expect((await openShare(buildOpening(secondShared.share))).status).toBe(404);
  });

  it("leaves an earlier claim's content as it was, and gives the updated one to a repeated claim", async () => {
    const { share, owner, secret } = await createSharedSecret(service, { max_views: 1 });
    const opening = buildOpening(share);
    const claimBefore = parseShareClaim(await openShare(opening));
    const newVersion = await storeSecret(service, owner, { id: secret.id, base: 1 });
    const keyring = buildChangeWithDocument(owner, "shares");
    const ticket = Buffer.alloc(1_000, 3).toString("base64url");
    const signature = signTicket(owner, { secretId: secret.id, version: 2, ticket, shareId: share.shareId });
    await callOk(service, "PATCH", `/share/${share.shareId}`, owner.token, {
      body: { version: 2, ticket, ticket_sig: signature, keyring },
    });
    expect((await download(claimBefore.download.token)).rawPayload.equals(secret.content)).toBe(true);
    const claimAfter = parseShareClaim(await openShare(opening));
    expect(claimAfter.ticket).toBe(ticket);
    expect((await download(claimAfter.download.token)).rawPayload.equals(newVersion.content)).toBe(true);
  });
});
