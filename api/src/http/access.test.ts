import { answerPath, ShareClaimed, uploadPath, UploadStarted } from "@relicario/shared/api";
import Fastify, { type FastifyInstance } from "fastify";
import { decodeJwt } from "jose";
import { v7 as uuidv7 } from "uuid";

import { buildBatch, buildChange, buildJwe, buildSecret, confirm, type Person } from "../testing/person.ts";
import { buildFinish, buildLarge, type LargeContent, type SentForm } from "../testing/upload.ts";
import { startService, type Method, type TestService } from "../testing/service.ts";
import { answerRequest, beginAnswer, buildChangeWith, buildRequest, buildShare, done, keepRequest, keepShare, newPublicId, openingOf, sendParts, type BuiltAnswer, type Link } from "../testing/sharing.ts";
import { guardRoutes } from "./access.ts";
import { answerErrors } from "./on-error.ts";

/*
 * Every call × everybody who may try it. A call that is missing here fails the last test; a status that changes, the others.
 */

let service: TestService;
/** Of each call its own, so that none sees what another did. */
interface Scene {
  readonly owner: Person;
  readonly secretId: string;
  /** An upload that is under way, and its content of one part. */
  readonly uploadId: string;
  readonly large: LargeContent;
  /** Shares of the secret, by who may open them; `person` is for {@link recipient}. */
  readonly links: Readonly<Record<"public" | "signed_in" | "person", Link>>;
  /** Opened by nobody who is signed in. */
  readonly download: string;
  /** One that waits and has an answer under way, whole but not finished, and one that was answered. */
  readonly request: ReturnType<typeof buildRequest>;
  readonly answer: BuiltAnswer;
  readonly answered: ReturnType<typeof buildRequest>;
  /** Mailboxes that the owner's session filled, and another session of the owner. */
  readonly ownMailbox: string;
  /** That other session, and the token of a mail that the owner got. */
  readonly ownSession: string;
  readonly unsubscribe: string;
  readonly mailbox: string;
}
const mailboxLetter = buildJwe({ typ: "relicario-link-device" });
let other: Person;
let recipient: Person;
let otherVendor: Person;

const makeScene = async (): Promise<Scene> => {
  const owner = await service.signIn();
  const { body } = buildSecret(owner);
  await service.call("POST", "/secrets/store", owner.token, { body });
  confirm(owner, body.keyring);
  const large = buildLarge({ bytes: 100 });
  const started = await service.call("POST", "/v2/secrets/secret", owner.token, await large.start());
  const secretId = body.secret_db_id;
  const links = {
    public: await keepShare(service, owner, secretId),
    signed_in: await keepShare(service, owner, secretId, { audience: "signed_in" }),
    person: await keepShare(service, owner, secretId, { recipient: recipient.userId }),
  };
  const opened = await done(service, "POST", "/share/get-public-secret", null, { body: openingOf(links.public) });
  const request = await keepRequest(service, owner);
  const answer = await beginAnswer(service, request, 500);
  await sendParts(service, answer);
  const answered = await keepRequest(service, owner);
  await answerRequest(service, answered, 500);
  const { token: download } = ShareClaimed.parse(opened.body).download;
  const [ownMailbox, mailbox] = [newPublicId(), newPublicId()];
  await done(service, "PUT", `/device-links/${ownMailbox}`, owner.token, { body: { message: mailboxLetter } });
  const { token: otherSession } = await service.signIn(owner.subject);
  await done(service, "PUT", `/device-links/${mailbox}`, otherSession, { body: { message: mailboxLetter } });
  const unsubscribe = await service.app.services.grants.give({ for: "unsubscribe", account: owner.userId, about: "share_opened" }, new Date(Date.now() + 60_000));
  return { ownSession: String(decodeJwt(otherSession)["sid"]), unsubscribe, ownMailbox, mailbox, owner, secretId, uploadId: UploadStarted.parse(started.body).upload_id, large, links, download, request, answer, answered };
};

const sessionOf = async (person: Person, expiresAt: Date): Promise<string> => {
  const { sessionTokens } = service.app.services;
  const issuedAt = new Date(expiresAt.getTime() - 900_000);
  return sessionTokens.sign({ accountId: person.userId, vendorId: "relicario", sessionId: uuidv7(), authTime: null, issuedAt, expiresAt });
};

beforeAll(async () => {
  service = await startService({ RATE_LIMITS: JSON.stringify({ fill_device_link: 10_000, start_answer: 10_000, exchange: 10_000, exchange_person: 10_000 }) });
  recipient = await service.signIn();
  other = (await makeScene()).owner;
  otherVendor = await service.signIn(undefined, "second");
});
afterAll(() => service.stop());

const stageId = uuidv7();

interface Case {
  readonly call: `${Method} ${string}`;
  readonly path?: (scene: Scene) => string;
  readonly body?: (scene: Scene, actor: Person) => unknown;
  readonly form?: (scene: Scene) => Promise<SentForm>;
  /** Its route says so (see "a route for anyone" below). */
  readonly anyone?: true;
  readonly headers?: (scene: Scene) => Readonly<Record<string, string>>;
  /** Status for nobody, a user whose row it is not, the owner, and somebody of another vendor; for whom it is shared with, as for `other` where it is not said. */
  readonly expected: { nobody: number; other: number; owner: number; otherVendor: number; recipient?: number };
}

const forAnybody = { nobody: 200, other: 200, owner: 200, otherVendor: 200 };
const forOwner = { nobody: 401, other: 404, owner: 200, otherVendor: 404 };
/** Calls that only ever show the caller's own: others get theirs, not the owner's. */
const forEach = { nobody: 401, other: 200, owner: 200, otherVendor: 200 };

const cases: readonly Case[] = [
  { call: "GET /auth/certs", expected: forAnybody },
  { call: "GET /auth/token-certs", expected: forAnybody },
  { call: "POST /auth/token", path: () => "/auth/token?app_vendor_id=relicario", body: () => ({ token: "x" }), expected: { nobody: 401, other: 401, owner: 401, otherVendor: 401 } },
  { call: "GET /vendors/{id}", path: () => "/vendors/relicario", expected: forAnybody },
  { call: "GET /healthz", expected: forAnybody },
  { call: "GET /readyz", expected: forAnybody },
  { call: "GET /user/me", expected: forEach },
  { call: "POST /user/me", body: () => ({}), expected: forEach },
  { call: "GET /secrets/store", expected: forEach },
  {
    call: "POST /secrets/store",
    body: ({ secretId }, actor) => buildSecret(actor, { id: secretId, base: 1 }).body,
    expected: { nobody: 401, other: 404, owner: 200, otherVendor: 404 },
  },
  // The owner's secrets, signed by the owner, sent by somebody else.
  { call: "POST /secrets/store/batch", body: ({ owner }) => buildBatch(owner, 2), expected: { nobody: 401, other: 422, owner: 200, otherVendor: 422 } },
  { call: "DELETE /secrets/store/{secret_db_id}", path: ({ secretId }) => `/secrets/store/${secretId}`, expected: forOwner },
  { call: "GET /secrets/store/{secret_db_id}/versions", path: ({ secretId }) => `/secrets/store/${secretId}/versions`, expected: forOwner },
  { call: "POST /secrets/store/get-secret", body: ({ secretId }) => ({ secret_db_id: secretId }), expected: forOwner },
  { call: "POST /v2/secrets/get-secret", body: ({ secretId }) => ({ secret_db_id: secretId }), expected: forOwner },
  {
    call: "POST /v2/secrets/secret",
    form: ({ secretId }) => buildLarge({ id: secretId, bytes: 100 }).start({ base_version: "1" }),
    expected: forOwner,
  },
  { call: "GET /v2/secrets/secret/upload/{upload_id}", path: ({ uploadId }) => uploadPath(uploadId), expected: forOwner },
  { call: "POST /v2/secrets/secret/upload/{upload_id}", path: ({ uploadId }) => uploadPath(uploadId), form: ({ large }) => large.part(1), expected: forOwner },
  {
    call: "PUT /v2/secrets/secret/upload/{upload_id}",
    path: ({ uploadId }) => uploadPath(uploadId),
    body: ({ large }, actor) => buildFinish(actor, large),
    expected: { nobody: 401, other: 404, owner: 409, otherVendor: 404 }, // its owner may, once its part is there
  },
  { call: "DELETE /v2/secrets/secret/upload/{upload_id}", path: ({ uploadId }) => uploadPath(uploadId), expected: { nobody: 401, other: 404, owner: 204, otherVendor: 404 } },
  { call: "POST /user/validate-username", path: () => "/user/validate-username?username=nobody-has-it", expected: forEach },
  { call: "GET /user/password", expected: forEach },
  // Here no provider is named that would take one; with one: passwords/passwords.test.ts.
  { call: "POST /user/change-password", body: () => ({ old_password: "x", new_password: "y" }), expected: { nobody: 401, other: 404, owner: 404, otherVendor: 404 } },
  { call: "GET /user/billing", expected: forEach },
  { call: "POST /user/feedback", body: () => ({ message: "good", page: "/home", app_version: "0.3.1" }), expected: { nobody: 401, other: 204, owner: 204, otherVendor: 204 } },
  // Nobody of them has an address to ask yet; the answer is about the caller's own account.
  { call: "POST /user/send-validate-email", expected: { nobody: 401, other: 422, owner: 422, otherVendor: 422 } },
  {
    call: "GET /user/validate-contact-email",
    path: () => `/user/validate-contact-email?value=me%40example.org&nonce=${"A".repeat(22)}`,
    expected: { nobody: 401, other: 422, owner: 422, otherVendor: 422 },
  },
  { call: "PATCH /secrets/favorite", body: ({ secretId }) => ({ secret_db_id: secretId, favorite: true }), expected: forOwner },
  { call: "GET /user/keyring", expected: { ...forEach, otherVendor: 404, recipient: 404 } },
  // The owner's change, signed by the owner, sent by somebody else; somebody without a keyring has none to change.
  { call: "PUT /user/keyring", body: ({ owner }) => buildChange(owner), expected: { nobody: 401, other: 422, owner: 200, otherVendor: 404, recipient: 404 } },
  {
    call: "POST /user/keyring/stage",
    body: ({ secretId }) => ({ stage_id: stageId, rows: [{ secret_db_id: secretId, version: 1, label: "e30..AA.AA.AA" }] }),
    expected: { nobody: 401, other: 404, owner: 422, otherVendor: 404, recipient: 404 }, // its owner may, with a label of its own
  },
  { call: "GET /user/keyring/stage/{stage_id}", path: () => `/user/keyring/stage/${stageId}`, expected: { nobody: 401, other: 404, owner: 404, otherVendor: 404 } },
  { call: "GET /user/image-records", expected: forEach },
  { call: "GET /user/start-anew", expected: forEach },
  { call: "POST /user/start-anew", expected: { ...forEach, otherVendor: 404, recipient: 404 } }, // nothing is kept there yet
  { call: "DELETE /user/start-anew", path: () => "/user/start-anew?reason=objected", expected: forEach },
  { call: "GET /users/{user_name}/key", path: ({ owner }) => `/users/${owner.subject}/key`, expected: { nobody: 401, other: 200, owner: 200, otherVendor: 404 } },
  { call: "POST /share", body: ({ secretId }, actor) => buildShare(actor, secretId).body, expected: { nobody: 401, other: 404, owner: 200, otherVendor: 404 } },
  { call: "PATCH /share/{share_id}", path: ({ links }) => `/share/${links.person.shareId}`, body: (_, actor) => ({ max_views: 3, keyring: buildChangeWith(actor, "shares") }), expected: forOwner },
  { call: "DELETE /share/{share_id}", path: ({ links }) => `/share/${links.person.shareId}`, expected: { nobody: 401, other: 404, owner: 204, otherVendor: 404 } },
  { call: "DELETE /share{share_id}", path: ({ links }) => `/share${links.person.shareId}`, expected: { nobody: 401, other: 404, owner: 204, otherVendor: 404 } },
  // Others have no shares of a secret of that id.
  { call: "GET /sharelist/{secret_id}", path: ({ secretId }) => `/sharelist/${secretId}`, expected: forEach },
  { call: "GET /user/share-with-me", expected: forEach },
  { call: "POST /share/get-public-secret/{share_id}", anyone: true, path: ({ links }) => `/share/get-public-secret/${links.public.shareId}`, expected: forAnybody },
  { call: "POST /share/get-public-secret", anyone: true, body: ({ links }) => openingOf(links.public), expected: forAnybody },
  // What is for a person is not there for the others; the owner has the secret itself.
  { call: "POST /share/get-secret/{share_id}", path: ({ links }) => `/share/get-secret/${links.person.shareId}`, expected: { nobody: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 } },
  { call: "POST /share/get-secret", body: ({ links }) => ({ share_id: links.person.shareId, claim_id: newPublicId() }), expected: { nobody: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 } },
  { call: "POST /share/content", anyone: true, body: ({ download }) => ({ token: download }), expected: forAnybody },
  { call: "POST /reports/share", body: ({ links }) => ({ share_id: links.public.shareId, reason: "other" }), expected: { nobody: 204, other: 204, owner: 204, otherVendor: 204 } },
  { call: "POST /reports/csp", body: () => ({ "csp-report": {} }), expected: { nobody: 204, other: 204, owner: 204, otherVendor: 204 } },
  { call: "POST /telemetry", body: () => ({ events: [], vitals: [] }), expected: { nobody: 202, other: 202, owner: 202, otherVendor: 202 } },
  // For the operator alone, by a token that this service does not have.
  { call: "GET /telemetry", expected: { nobody: 404, other: 404, owner: 404, otherVendor: 404 } },
  // Everybody makes their own; somebody without a keyring has none to write it into.
  { call: "POST /requests", body: (_, actor) => buildRequest(actor).body, expected: { nobody: 401, other: 200, owner: 200, otherVendor: 422, recipient: 422 } },
  { call: "GET /requests", expected: forEach },
  { call: "PATCH /requests/{request_id}", path: ({ answered }) => `/requests/${answered.requestId}`, body: (_, actor) => ({ state: "collected", keyring: buildChangeWith(actor, "requests") }), expected: forOwner },
  { call: "DELETE /requests/{request_id}", path: ({ answered }) => `/requests/${answered.requestId}`, body: (_, actor) => ({ keyring: buildChangeWith(actor, "requests") }), expected: forOwner },
  { call: "POST /requests/collect", body: ({ answered }) => ({ request_id: answered.requestId }), expected: forOwner },
  { call: "POST /requests/get", body: ({ request }) => ({ request_id: request.requestId, link_auth: request.linkAuth }), expected: forAnybody },
  { call: "POST /requests/answer", body: ({ request }) => ({ request_id: request.requestId, link_auth: request.linkAuth, size: 100 }), expected: forAnybody },
  { call: "GET /requests/answer/{answer_id}", path: ({ answer }) => answerPath(answer.id), headers: ({ answer }) => answer.headers, expected: forAnybody },
  { call: "POST /requests/answer/{answer_id}", path: ({ answer }) => answerPath(answer.id), form: ({ answer }) => answer.part(1), expected: forAnybody },
  { call: "PUT /requests/answer/{answer_id}", path: ({ answer }) => answerPath(answer.id), headers: ({ answer }) => answer.headers, body: ({ answer }) => answer.finish, expected: forAnybody },
  { call: "PUT /device-links/{id}", path: () => `/device-links/${newPublicId()}`, body: () => ({ message: mailboxLetter }), expected: forEach },
  { call: "GET /device-links/{id}", path: ({ mailbox }) => `/device-links/${mailbox}`, expected: forOwner },
  { call: "PUT /device-links/{id}/answer", path: ({ mailbox }) => `/device-links/${mailbox}/answer`, body: () => ({ answer: mailboxLetter }), expected: forOwner },
  // Another session of the owner is refused: see device-links.test.ts.
  { call: "GET /device-links/{id}/answer", path: ({ ownMailbox }) => `/device-links/${ownMailbox}/answer`, expected: forOwner },
  // Everybody's own account: none can be named.
  { call: "DELETE /user/me", expected: { nobody: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "POST /user/me/restore", expected: { nobody: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "GET /user/activity", expected: forEach },
  { call: "GET /user/sessions", expected: forEach },
  { call: "DELETE /user/sessions/{id}", path: ({ ownSession }) => `/user/sessions/${ownSession}`, expected: { nobody: 401, other: 404, owner: 204, otherVendor: 404 } },
  { call: "DELETE /user/sessions", expected: { nobody: 401, other: 204, owner: 204, otherVendor: 204 } },
  // Whoever has the mail.
  { call: "POST /mails/unsubscribe", path: ({ unsubscribe }) => `/mails/unsubscribe?token=${unsubscribe}`, expected: { nobody: 204, other: 204, owner: 204, otherVendor: 204 } },
  { call: "DELETE /auth/token", expected: { nobody: 401, other: 204, owner: 204, otherVendor: 204 } },
];

describe.each(cases)("$call", ({ call, path, body, form, headers, anyone, expected }) => {
  const method = call.slice(0, call.indexOf(" ")) as Method;
  let scene: Scene;
  beforeAll(async () => {
    scene = await makeScene();
  });
  const send = async (actor: Person, token: string | null) => {
    const payload = body?.(scene, actor);
    const sent = (await form?.(scene)) ?? { ...(payload === undefined ? {} : { body: payload }), ...(headers === undefined ? {} : { headers: headers(scene) }) };
    return service.call(method, path?.(scene) ?? call.slice(call.indexOf(" ") + 1), token, sent);
  };
  const fresh = (person: Person, vendorId = "relicario"): Promise<Person> => service.signIn(person.subject, vendorId).then(({ token }) => ({ ...person, token }));

  it("answers nobody, another user, the recipient of what is shared, the owner and another vendor as the policy says", async () => {
    const got = {
      nobody: (await send(other, null)).status,
      other: (await send(other, (await fresh(other)).token)).status,
      recipient: (await send(recipient, (await fresh(recipient)).token)).status,
      owner: 0,
      otherVendor: (await send(otherVendor, (await fresh(otherVendor, "second")).token)).status,
    };
    got.owner = (await send(scene.owner, scene.owner.token)).status;
    expect(got).toEqual({ recipient: expected.other, ...expected });
  });

  it("refuses an expired and a revoked session, unless it is for anybody", async () => {
    const expired = await sessionOf(scene.owner, new Date(Date.now() - 1_000));
    const { token: revoked } = await fresh(scene.owner);
    await service.call("DELETE", "/auth/token", revoked);
    const neverKept = await sessionOf(scene.owner, new Date(Date.now() + 60_000));
    const answers = [await send(scene.owner, expired), await send(scene.owner, revoked), await send(scene.owner, neverKept)];
    const { nobody } = expected;
    if ((nobody < 300 || call === "GET /telemetry") && anyone === undefined) expect(answers.map(({ status }) => status)).toEqual([nobody, nobody, nobody]);
    else if (call === "POST /auth/token") expect(answers.map(({ body: { code } }) => code)).toEqual(["token_invalid", "token_invalid", "token_invalid"]);
    else expect(answers.map(({ body: { code } }) => code)).toEqual(["token_expired", "token_invalid", "token_invalid"]);
  });
});

describe("the table above", () => {
  it("has every call that the service answers", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, unknown>>;
    const calls = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    expect(cases.map(({ call }) => call).sort()).toEqual(calls.sort());
  });

  it("says of each call for anyone that it is, as the interface's description does", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, { security?: readonly object[] }>>;
    const both = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) => (security?.some((way) => Object.keys(way).length === 0) === true ? [`${method.toUpperCase()} ${path}`] : [])),
    );
    expect(cases.flatMap(({ call, anyone }) => (anyone === undefined ? [] : [call])).sort()).toEqual(both.sort());
  });

  it("would not let a route in that does not say who may call it", async () => {
    const bare = await startService();
    try {
      await expect(async () => {
        const app = Fastify();
        guardRoutes(app, bare.app.services);
        app.get("/open", () => "open");
        await app.ready();
      }).rejects.toThrow("/open does not say who may call it");
    } finally {
      await bare.stop();
    }
  });
});

describe("a route for anyone", () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = Fastify({ trustProxy: true });
    answerErrors(app);
    guardRoutes(app, service.app.services);
    const rate = { name: "of_test", calls: 2, windowSeconds: 3_600, per: "account" } as const;
    app.get("/open", { config: { access: "anyone" } }, (request) => ({ account: request.actor?.accountId ?? null }));
    app.get("/limited", { config: { access: "anyone", rates: [rate] } }, () => "open");
    await app.ready();
  });
  afterAll(() => app.close());

  const open = async (authorization: string | null) => {
    const answer = await app.inject({ method: "GET", url: "/open", headers: authorization === null ? {} : { authorization } });
    return { status: answer.statusCode, body: answer.json<{ account?: string | null; code?: string }>() };
  };

  it("is answered for nobody, and for whoever has a session as that person", async () => {
    const person = await service.signIn();
    expect(await open(null)).toEqual({ status: 200, body: { account: null } });
    expect(await open(`Bearer ${person.token}`)).toEqual({ status: 200, body: { account: person.userId } });
  });

  it("takes nobody for somebody and nobody for nobody: a session that is not good is refused", async () => {
    const person = await service.signIn();
    const expired = await sessionOf(person, new Date(Date.now() - 1_000));
    const neverKept = await sessionOf(person, new Date(Date.now() + 60_000));
    const { token: revoked } = await service.signIn(person.subject);
    await service.call("DELETE", "/auth/token", revoked);
    const codes = await Promise.all([`Bearer ${expired}`, `Bearer ${neverKept}`, `Bearer ${revoked}`, "Bearer x", "Basic YTpi", ""].map(async (header) => (await open(header)).body.code));
    expect(codes).toEqual(["token_expired", "token_invalid", "token_invalid", "token_invalid", "unauthorized", "unauthorized"]);
  });

  it("counts an account's calls by account, and those of nobody by address", async () => {
    const [one, two] = [await service.signIn(), await service.signIn()];
    const call = async (address: string, token: string | null): Promise<number> => {
      const headers = { "x-forwarded-for": address, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
      return (await app.inject({ method: "GET", url: "/limited", headers })).statusCode;
    };
    const [here, there] = ["192.0.2.1", "192.0.2.2"];
    for (const token of [null, one.token, two.token]) expect([await call(here, token), await call(here, token), await call(here, token)]).toEqual([200, 200, 429]);
    expect([await call(there, null), await call(there, one.token)]).toEqual([200, 429]);
  });
});

describe("a disabled vendor", () => {
  it("stops sessions that were given before", async () => {
    const { sessionTokens } = service.app.services;
    const issuedAt = new Date();
    const token = await sessionTokens.sign({
      accountId: other.userId,
      vendorId: "closed",
      sessionId: uuidv7(),
      authTime: null,
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + 60_000),
    });
    expect(await service.call("GET", "/user/me", token)).toMatchObject({ status: 403, body: { code: "vendor_disabled" } });
  });
});
