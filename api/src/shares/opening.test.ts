import { claimMinutes, maxWrongPasswords, ShareClaimed, ShareOffer } from "@relicario/shared/api";
import { eq, sql } from "drizzle-orm";

import { downloadHours } from "../auth/grants.ts";
import { shares } from "../db/schema.ts";
import { openSaboteur } from "../testing/database-faults.ts";
import { confirm, type Person } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import {
  buildChangeWith,
  done,
  inDays,
  keepSecret,
  keepShare,
  newPublicId,
  openingOf,
  sharedBySomebody,
  sharesOf,
  type BuiltShare,
  type Link,
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

const later = (minutes: number): void => {
  clock = new Date(clock.getTime() + minutes * 60_000);
};

const open = (body: unknown, headers = {}): Promise<Answer> =>
  service.call("POST", "/share/get-public-secret", null, { body, headers });
const look = (shareId: string, headers = {}): Promise<Answer> =>
  service.call("POST", `/share/get-public-secret/${shareId}`, null, { headers });
const download = (
  token: string,
  { headers = {}, as = null }: { headers?: Readonly<Record<string, string>>; as?: Person | null } = {},
) =>
  service.app.http.inject({
    method: "POST",
    url: "/share/content",
    headers: { ...(as === null ? {} : { authorization: `Bearer ${as.token}` }), ...headers },
    payload: { token },
  });
const claimed = (answer: Answer): ShareClaimed => {
  if (answer.status !== 200) throw new Error(answer.text);
  return ShareClaimed.parse(answer.body);
};
const viewsOf = async (share: Link): Promise<number> => {
  const [row] = await service.app.services.db.select().from(shares).where(eq(shares.shareId, share.shareId));
  return row?.views ?? NaN;
};
/** Without what differs from answer to answer. */
const plain = ({ status, body: { request_id: _, ...body } }: Answer) => ({ status, body });
const unavailable = {
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

describe("a look at a share", () => {
  it("costs nothing, nor does a HEAD, a GET or an offer, whoever makes it: people, and ten known preview agents", async () => {
    const { share, owner, secret } = await sharedBySomebody(service, { max_views: 1 });
    const { claim_id: _, pass_auth: _pass, ...offer } = openingOf(share);
    for (const agent of [...previewAgents, "Mozilla/5.0"]) {
      const headers = { "user-agent": agent };
      expect((await look(share.shareId, headers)).status).toBe(200);
      expect((await open(offer, headers)).status).toBe(200);
      for (const path of [
        `/share/get-public-secret/${share.shareId}`,
        `/share/${share.shareId}`,
        `/share/get-secret/${share.shareId}`,
      ]) {
        for (const method of ["GET", "HEAD"] as const)
          expect((await service.app.http.inject({ method, url: path, headers })).statusCode).toBe(404);
      }
    }
    expect(await sharesOf(service, owner, secret.id)).toMatchObject([{ views: 0, last_opened_at: null, end: null }]);
    expect((await open(openingOf(share))).status).toBe(200);
  });

  it("says what is asked for and until when, and nothing of who or what", async () => {
    const { share } = await sharedBySomebody(service, { password: true });
    expect((await look(share.shareId)).body).toEqual({
      share_id: share.shareId,
      audience: "public",
      password: true,
      picture: false,
      expires_at: share.body.expires_at,
    });
  });

  it("with the link's proof says from whom it is, and gives the helper of its picture", async () => {
    const helper = Buffer.alloc(454, 7).toString("base64url");
    const { share, owner } = await sharedBySomebody(service, { share_helper: helper, max_views: 5 });
    const answer = await open({ share_id: share.shareId, link_auth: share.linkAuth });
    expect(ShareOffer.parse(answer.body)).toMatchObject({
      from: { user_id: owner.userId, user_name: owner.subject },
      picture: true,
      share_helper: helper,
      views_left: 5,
    });
  });
});

describe("a claim", () => {
  it("counts one view, and gives ticket and content, a range of it too, as often as asked", async () => {
    const { share, secret } = await sharedBySomebody(service, { max_views: 1 });
    const { ticket, download: token } = claimed(await open(openingOf(share)));
    expect(ticket).toBe(share.body.ticket);
    expect(token.size).toBe(secret.content.length);
    expect((await download(token.token)).rawPayload.equals(secret.content)).toBe(true);
    const part = await download(token.token, { headers: { range: "bytes=100-199" } });
    expect([
      part.statusCode,
      part.headers["content-range"],
      part.rawPayload.equals(secret.content.subarray(100, 200)),
    ]).toEqual([206, `bytes 100-199/${String(secret.content.length)}`, true]);
    expect((await download(token.token, { headers: { range: "bytes=9999-" } })).statusCode).toBe(416);
    expect(await viewsOf(share)).toBe(1);
    expect(plain(await open(openingOf(share)))).toEqual(unavailable);
  });

  it("with the same claim_id is the same view for ten minutes, also of the last one, also at the same moment", async () => {
    const { share } = await sharedBySomebody(service, { max_views: 2 });
    const opening = openingOf(share);
    const together = await Promise.all(Array.from({ length: 10 }, () => open(opening)));
    expect(new Set(together.map(({ status }) => status))).toEqual(new Set([200]));
    await done(service, "POST", "/share/get-public-secret", null, { body: openingOf(share) });
    later(claimMinutes - 1);
    expect((await open(opening)).status).toBe(200);
    expect(await viewsOf(share)).toBe(2);
    later(2);
    expect(plain(await open(opening))).toEqual(unavailable);
    await service.app.sweep();
    expect(plain(await open(opening))).toEqual(unavailable);
  });

  it("is one view for each of those who come at once, and no more than there are: forty for five", async () => {
    const { share } = await sharedBySomebody(service, { max_views: 5 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => open(openingOf(share))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 200) expect(plain(answer)).toEqual(unavailable);
    expect(await viewsOf(share)).toBe(5);
  });

  it("is downloaded from for as long as it goes on, in pieces, and no longer than ten minutes after the last", async () => {
    const { share, secret } = await sharedBySomebody(service, { max_views: 1 });
    const { download: token } = claimed(await open(openingOf(share)));
    const pieces: Buffer[] = [];
    for (let start = 0; start < secret.content.length; start += 200) {
      later(claimMinutes - 2);
      await service.app.sweep();
      const { statusCode, rawPayload } = await download(token.token, {
        headers: { range: `bytes=${String(start)}-${String(start + 199)}` },
      });
      expect(statusCode).toBe(206);
      pieces.push(rawPayload);
    }
    expect(Buffer.concat(pieces).equals(secret.content)).toBe(true);
    later(claimMinutes);
    expect((await download(token.token)).statusCode).toBe(404);
    expect(await viewsOf(share)).toBe(1);
  });

  it("ends a day after it was made, however long it is downloaded from and asked for again: then the same claim_id is another view", async () => {
    const { share } = await sharedBySomebody(service, { max_views: 2 });
    const opening = openingOf(share);
    const dayLater = new Date(clock.getTime() + downloadHours * 3_600_000);
    claimed(await open(opening));
    later(downloadHours * 60 - 5);
    await service.app.services.db.execute(
      sql`update share_claims set used_at = ${clock.toISOString()} where share_id = ${share.shareId}`,
    );
    const { download: again } = claimed(await open(opening));
    expect(again.expires_at).toBe(dayLater.toISOString());
    later(4);
    expect((await download(again.token)).statusCode).toBe(200);
    expect(await viewsOf(share)).toBe(1);
    later(1);
    expect((await download(again.token)).statusCode).toBe(404);
    const { download: anew } = claimed(await open(opening));
    expect(await viewsOf(share)).toBe(2);
    expect((await download(anew.token)).statusCode).toBe(200);
    later(claimMinutes);
    expect(plain(await open(opening))).toEqual(unavailable);
  });

  it("holds nothing of the account: it is answered while the owner's row is held", async () => {
    const { share, owner } = await sharedBySomebody(service);
    const holder = await openSaboteur(service.database.url);
    try {
      await holder.query("begin");
      await holder.query(`select 1 from accounts where id = '${owner.userId}' for update`);
      expect((await open(openingOf(share))).status).toBe(200);
    } finally {
      await holder.query("rollback");
      await holder.close();
    }
  });

  it("is one view when the database's connection is lost in the middle of it", async () => {
    const { share } = await sharedBySomebody(service, { audience: "signed_in", max_views: 3 });
    const saboteur = await openSaboteur(service.database.url);
    try {
      await saboteur.hold("share_recipients"); // written last
      const opening = service.call("POST", "/share/get-secret", reader.token, { body: openingOf(share) });
      await saboteur.waiting(1);
      expect(await saboteur.terminate("waiting")).toBe(1);
      await saboteur.release();
      expect((await opening).status).toBe(200);
      expect(await viewsOf(share)).toBe(1);
    } finally {
      await saboteur.close();
    }
  });

  it("of another claim_id of somebody else's view is not theirs: a link for signed-in people downloads for whoever claimed it alone", async () => {
    const { share, secret } = await sharedBySomebody(service, { audience: "signed_in", max_views: 1 });
    const opening = openingOf(share);
    const claim = (person: Person) => service.call("POST", "/share/get-secret", person.token, { body: opening });
    const { download: token } = claimed(await claim(reader));
    const other = await service.signIn();
    expect(plain(await claim(other))).toEqual(unavailable);
    expect((await download(token.token, { as: other })).statusCode).toBe(404);
    expect((await download(token.token)).statusCode).toBe(404);
    expect((await download(token.token, { as: reader })).rawPayload.equals(secret.content)).toBe(true);
  });

  it("gives no content without a token of its own, with an altered one, or after ten minutes", async () => {
    const { share } = await sharedBySomebody(service);
    const { download: token } = claimed(await open(openingOf(share)));
    const [head = "", body = "", signature = ""] = token.token.split(".");
    const altered = Buffer.from(body, "base64url")
      .toString()
      .replace(/"version":1/, '"version":2');
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "relicario-grant+jwt" })).toString("base64url");
    const tokens = [
      "x",
      `${head}.${Buffer.from(altered).toString("base64url")}.${signature}`,
      `${none}.${body}.`,
      reader.token,
    ];
    for (const wrong of tokens)
      expect((await download(wrong)).json()).toMatchObject({ status: 404, code: "share_unavailable" });
    later(claimMinutes);
    expect((await download(token.token)).statusCode).toBe(404);
  });
});

describe("what makes a share unavailable", () => {
  const ways: readonly (readonly [string, (share: BuiltShare, owner: Person, secretId: string) => Promise<Link>])[] = [
    [
      "it is unknown",
      () => Promise.resolve({ shareId: newPublicId(), linkAuth: "A".repeat(43), passAuth: "A".repeat(43) }),
    ],
    ["its link is a wrong one", (share) => Promise.resolve({ ...share, linkAuth: "A".repeat(43) })],
    [
      "it is for signed-in people",
      async (_, owner, secretId) => keepShare(service, owner, secretId, { audience: "signed_in" }),
    ],
    [
      "it is a request",
      async (_, owner) => {
        const id = newPublicId();
        const body = {
          request_id: id,
          document: "a..b.c.d",
          link_auth_sha256: "A".repeat(43),
          expires_at: inDays(1),
          max_size: 1,
          keyring: buildChangeWith(owner, "requests"),
        };
        await done(service, "POST", "/requests", owner.token, { body });
        return { shareId: id, linkAuth: "A".repeat(43), passAuth: "A".repeat(43) };
      },
    ],
    [
      "it expired",
      (share) => {
        later(8 * 24 * 60);
        return Promise.resolve(share);
      },
    ],
    [
      "it was opened as often as allowed",
      async (share) => {
        await done(service, "POST", "/share/get-public-secret", null, { body: openingOf(share) });
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
        await done(service, "DELETE", `/secrets/store/${secretId}`, owner.token);
        return share;
      },
    ],
    [
      "it was closed by wrong passwords",
      async (share) => {
        for (let tries = 0; tries < maxWrongPasswords; tries++)
          await open({ ...openingOf(share), pass_auth: "A".repeat(43) });
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

  it.each(ways)("is not told, by the answer or by the queries behind it: %s", async (_, make) => {
    const { share, owner, secret } = await sharedBySomebody(service, { max_views: 1 });
    const link = await make(share, owner, secret.id);
    const { claim_id: _claim, pass_auth: _pass, ...offer } = openingOf(link);
    expect(plain(await open(openingOf(link)))).toEqual(unavailable);
    expect(plain(await open(offer))).toEqual(unavailable);
    if (link.linkAuth === share.linkAuth || link.shareId !== share.shareId)
      expect(plain(await look(link.shareId))).toEqual(unavailable);
    expect(await queriesOf(() => open(openingOf(link)))).toEqual(
      await queriesOf(() => open(openingOf({ ...link, shareId: newPublicId() }))),
    );
    expect(await queriesOf(() => open(openingOf(link)))).toHaveLength(3);
  });

  /**
   * Texts of the statements that a call makes, without their values, and without those that count
   * for its address some calls at a time.
   */
  async function queriesOf(call: () => Promise<unknown>): Promise<string[]> {
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

  it("of a person's share is being somebody else, and of a link for signed-in people being of another vendor", async () => {
    const { share, owner, secret } = await sharedBySomebody(service, { recipient: reader.userId });
    const link = await keepShare(service, owner, secret.id, { audience: "signed_in" });
    const stranger = await service.signIn(undefined, "second");
    const claim = (body: unknown, person: Person) => service.call("POST", "/share/get-secret", person.token, { body });
    const ofPerson = { share_id: share.shareId, claim_id: newPublicId() };
    for (const other of [owner, stranger, await service.signIn()]) {
      expect(plain(await claim(ofPerson, other))).toEqual(unavailable);
      expect(plain(await service.call("POST", `/share/get-secret/${share.shareId}`, other.token))).toEqual(unavailable);
    }
    expect(plain(await claim(openingOf(link), stranger))).toEqual(unavailable);
    expect((await claim(ofPerson, reader)).status).toBe(200);
    expect((await claim(openingOf(link), reader)).status).toBe(200);
    expect((await service.call("POST", "/share/get-secret", null, { body: ofPerson })).status).toBe(401);
  });
});

describe("a wrong password", () => {
  it("is told after a right link alone, with the tries that are left; ten close the share for the right one, too", async () => {
    const { share } = await sharedBySomebody(service, { password: true, max_views: 3 });
    const wrong = { ...openingOf(share), pass_auth: "A".repeat(43) };
    for (let left = maxWrongPasswords - 1; left >= 0; left--) {
      expect(plain(await open({ ...wrong, link_auth: "A".repeat(43) }))).toEqual(unavailable);
      expect(await open(wrong)).toMatchObject({ status: 403, body: { code: "wrong_password", tries_left: left } });
    }
    expect(plain(await open(wrong))).toEqual(unavailable);
    expect(plain(await open(openingOf(share)))).toEqual(unavailable);
    expect(await viewsOf(share)).toBe(0);
  });

  it("is not guessed by many at once: of forty guesses ten are told, the right one behind them is not", async () => {
    const { share } = await sharedBySomebody(service, { password: true });
    const guesses = await Promise.all(
      Array.from({ length: 40 }, () => open({ ...openingOf(share), pass_auth: "A".repeat(43) })),
    );
    expect(
      guesses
        .filter(({ status }) => status === 403)
        .map(({ body }) => body["tries_left"])
        .sort(),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(plain(await open(openingOf(share)))).toEqual(unavailable);
  });

  it("costs no view, and a call without one costs no try", async () => {
    const { share, owner, secret } = await sharedBySomebody(service, { max_views: 1 });
    await open({ ...openingOf(share), pass_auth: "A".repeat(43) });
    const { pass_auth: _, ...without } = openingOf(share);
    expect(await open(without)).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/pass_auth", reason: "missing" }] },
    });
    expect((await open(openingOf(share))).status).toBe(200);
    expect(await sharesOf(service, owner, secret.id)).toMatchObject([{ views: 1, end: "used_up" }]);
  });
});

describe("openings", () => {
  it("are so many a minute for an address, and for a share, wherever they come from; the next is answered too_many_requests", async () => {
    const strict = await startService({ RATE_LIMITS: JSON.stringify({ visit: 3, open_share: 5 }) });
    try {
      const { share } = await sharedBySomebody(strict);
      const from = async (remoteAddress: string, shareId = share.shareId) =>
        (
          await strict.call("POST", "/share/get-public-secret", null, {
            body: { share_id: shareId, link_auth: share.linkAuth },
            remoteAddress,
          })
        ).status;
      const statuses = async (address: string, count: number): Promise<number[]> => {
        const all: number[] = [];
        for (let call = 0; call < count; call++) all.push(await from(address));
        return all;
      };
      expect(await statuses("192.0.2.1", 4)).toEqual([200, 200, 200, 429]);
      expect(await statuses("192.0.2.2", 3)).toEqual([200, 200, 429]);
      expect(await from("192.0.2.3", newPublicId())).toBe(404);
    } finally {
      await strict.stop();
    }
  });

  it("of a share are not used up by whoever has its id alone", async () => {
    const strict = await startService({ RATE_LIMITS: JSON.stringify({ open_share: 2 }) }, () => clock);
    try {
      const { share, owner, secret } = await sharedBySomebody(strict);
      const [recipient, other] = [await strict.signIn(), await strict.signIn()];
      const { shareId } = await keepShare(strict, owner, secret.id, { recipient: recipient.userId });
      const byLink = async (linkAuth: string) =>
        (
          await strict.call("POST", "/share/get-public-secret", null, {
            body: { share_id: share.shareId, link_auth: linkAuth },
          })
        ).status;
      const byPerson = async ({ token }: Person) =>
        (await strict.call("POST", "/share/get-secret", token, { body: { share_id: shareId } })).status;
      for (let calls = 0; calls < 3; calls++)
        expect([await byLink("A".repeat(43)), await byPerson(other)]).toEqual([404, 404]);
      for (const status of [200, 200, 429])
        expect([await byLink(share.linkAuth), await byPerson(recipient)]).toEqual([status, status]);
    } finally {
      await strict.stop();
    }
  });
});

describe("what the operator does while it is open", () => {
  it.each([
    ["the owner's account is closed", "locked_at = now()", "locked_at = null"],
    ["the owner's vendor is closed", "vendor_id = 'closed'", "vendor_id = 'relicario'"],
  ])("takes the download away for as long as it lasts: %s", async (_, close, openAgain) => {
    const { share, owner } = await sharedBySomebody(service);
    const { download: token } = claimed(await open(openingOf(share)));
    const set = (what: string) =>
      service.app.services.db.execute(`update accounts set ${what} where id = '${owner.userId}'`);
    await set(close);
    expect((await download(token.token)).json()).toMatchObject({ status: 404, code: "share_unavailable" });
    await set(openAgain);
    expect((await download(token.token)).statusCode).toBe(200);
  });
});

describe("what its owner does while it is open", () => {
  it("takes the download away at once: revoked, or expired by a new time", async () => {
    const { share, owner } = await sharedBySomebody(service);
    const { download: token } = claimed(await open(openingOf(share)));
    const keyring = buildChangeWith(owner, "shares");
    await done(service, "PATCH", `/share/${share.shareId}`, owner.token, {
      body: { expires_at: new Date(clock.getTime() + 60_000).toISOString(), keyring },
    });
    confirm(owner, keyring);
    expect((await download(token.token)).statusCode).toBe(200);
    later(1);
    expect((await download(token.token)).statusCode).toBe(404);

    const second = await sharedBySomebody(service);
    const { download: open2 } = claimed(await open(openingOf(second.share)));
    await service.call("DELETE", `/share/${second.share.shareId}`, second.owner.token);
    expect((await download(open2.token)).json()).toMatchObject({ code: "share_unavailable" });
    expect((await open(openingOf(second.share))).status).toBe(404);
  });

  it("leaves the content of an earlier claim as it was, and gives the updated one to whoever asks again", async () => {
    const { share, owner, secret } = await sharedBySomebody(service, { max_views: 1 });
    const opening = openingOf(share);
    const before = claimed(await open(opening));
    const next = await keepSecret(service, owner, { id: secret.id, base: 1 });
    const keyring = buildChangeWith(owner, "shares");
    const ticket = Buffer.alloc(1_000, 3).toString("base64url");
    await done(service, "PATCH", `/share/${share.shareId}`, owner.token, { body: { version: 2, ticket, keyring } });
    expect((await download(before.download.token)).rawPayload.equals(secret.content)).toBe(true);
    const after = claimed(await open(opening));
    expect(after.ticket).toBe(ticket);
    expect((await download(after.download.token)).rawPayload.equals(next.content)).toBe(true);
  });
});
