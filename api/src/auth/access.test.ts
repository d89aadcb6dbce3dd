import { answerPath, ShareClaim, uploadPath, StartUploadResponse } from "@relicario/shared/api";
import Fastify, { type FastifyInstance } from "fastify";
import { decodeJwt } from "jose";
import { v7 as uuidv7 } from "uuid";

import { handleErrors } from "../http/on-error.ts";
import { buildBatch, buildChange, buildJwe, buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type Method, type TestService } from "../testing/service.ts";
import {
  answerRequest,
  startAnswer,
  buildChangeWithDocument,
  buildRequest,
  buildShare,
  callOk,
  createRequest,
  createShare,
  createPublicId,
  buildOpening,
  sendParts,
  type StartedAnswer,
  type LinkCredentials,
} from "../testing/sharing.ts";
import { buildFinish, buildLargeContent, type LargeContent, type EncodedForm } from "../testing/upload.ts";
import { guardRoutes } from "./access.ts";

/*
 * Every call × everybody who may try it. A call that is missing here fails the last test; a status
 * that changes, the others.
 */

let service: TestService;
/**
 * What one owner has. The secret is there from the start, each other part once a call asks for it.
 */
interface Scenario {
  readonly owner: Person;
  readonly secretId: string;
  /** An upload that is under way, and its content of one part. */
  readonly upload: () => Promise<{ readonly id: string; readonly large: LargeContent }>;
  readonly publicLink: () => Promise<LinkCredentials>;
  /** For {@link recipient}. */
  readonly personLink: () => Promise<LinkCredentials>;
  /** Token for the content of the public link, opened by nobody who is signed in. */
  readonly download: () => Promise<string>;
  /**
   * One that waits, the answer that it has under way, whole but not finished, and one that was
   * answered.
   */
  readonly request: () => Promise<ReturnType<typeof buildRequest>>;
  readonly answer: () => Promise<StartedAnswer>;
  readonly answeredRequest: () => Promise<ReturnType<typeof buildRequest>>;
  /** Mailboxes that the owner's session filled, and another session of the owner. */
  readonly ownMailbox: () => Promise<string>;
  readonly mailbox: () => Promise<string>;
  readonly otherSession: () => Promise<{ readonly id: string; readonly token: string }>;
  /** Token of a mail that the owner got. */
  readonly unsubscribe: () => Promise<string>;
}
const sealedMessage = buildJwe({ typ: "relicario-link-device" });
let otherUser: Person;
let recipient: Person;
let otherVendor: Person;
/** Nothing that is read changes it. */
let readOnlyScenario: Scenario;
/** Sessions that are over. */
let expiredToken: string;
let revokedToken: string;
let unstoredToken: string;

function memoize<T>(create: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= create());
}

const fillMailbox = async (token: string): Promise<string> => {
  const id = createPublicId();
  await callOk(service, "PUT", `/device-links/${id}`, token, { body: { message: sealedMessage } });
  return id;
};

const createScenario = async (): Promise<Scenario> => {
  const owner = await service.signIn();
  const { body } = buildSecret(owner);
  await service.call("POST", "/secrets/store", owner.token, { body });
  confirmChange(owner, body.keyring);
  const secretId = body.secret_db_id;
  const publicLink = memoize(() => createShare(service, owner, secretId));
  const request = memoize(() => createRequest(service, owner));
  const otherSession = memoize(async () => {
    const { token } = await service.signIn(owner.subject);
    return { id: String(decodeJwt(token)["sid"]), token };
  });
  return {
    owner,
    secretId,
    upload: memoize(async () => {
      const large = buildLargeContent({ bytes: 100 });
      const { body: startedUpload } = await service.call(
        "POST",
        "/v2/secrets/secret",
        owner.token,
        await large.start(),
      );
      return { id: StartUploadResponse.parse(startedUpload).upload_id, large };
    }),
    publicLink,
    personLink: memoize(() => createShare(service, owner, secretId, { recipient: recipient.userId })),
    download: memoize(
      async () =>
        ShareClaim.parse(
          (await callOk(service, "POST", "/share/get-public-secret", null, { body: buildOpening(await publicLink()) }))
            .body,
        ).download.token,
    ),
    request,
    answer: memoize(async () => {
      const answer = await startAnswer(service, await request(), 500);
      await sendParts(service, answer);
      return answer;
    }),
    answeredRequest: memoize(async () => {
      const answered = await createRequest(service, owner);
      await answerRequest(service, answered, 500);
      return answered;
    }),
    ownMailbox: memoize(() => fillMailbox(owner.token)),
    mailbox: memoize(async () => fillMailbox((await otherSession()).token)),
    otherSession,
    unsubscribe: memoize(() =>
      service.app.services.grants.issue(
        { for: "unsubscribe", account: owner.userId, about: "share_opened" },
        new Date(Date.now() + 60_000),
      ),
    ),
  };
};

/** With all that an account can have. */
const createFullScenario = async (): Promise<Scenario> => {
  const scenario = await createScenario();
  // One after the other: each changes the owner's keyring.
  for (const create of [
    scenario.upload,
    scenario.personLink,
    scenario.download,
    scenario.answer,
    scenario.answeredRequest,
    scenario.ownMailbox,
    scenario.mailbox,
    scenario.unsubscribe,
  ])
    await create();
  await createShare(service, scenario.owner, scenario.secretId, { audience: "signed_in" });
  return scenario;
};

const createSessionToken = async (person: Person, expiresAt: Date): Promise<string> => {
  const { sessionTokens } = service.app.services;
  const issuedAt = new Date(expiresAt.getTime() - 900_000);
  return sessionTokens.sign({
    accountId: person.userId,
    vendorId: "relicario",
    sessionId: uuidv7(),
    authTime: null,
    issuedAt,
    expiresAt,
  });
};

beforeAll(async () => {
  service = await startService({
    RATE_LIMITS: JSON.stringify({
      fill_device_link: 10_000,
      start_answer: 10_000,
      exchange: 10_000,
      exchange_person: 10_000,
    }),
  });
  recipient = await service.signIn();
  otherVendor = await service.signIn(undefined, "second");
  otherUser = (await createFullScenario()).owner;
  readOnlyScenario = await createFullScenario();
  expiredToken = await createSessionToken(otherUser, new Date(Date.now() - 1_000));
  unstoredToken = await createSessionToken(otherUser, new Date(Date.now() + 60_000));
  ({ token: revokedToken } = await service.signIn(otherUser.subject));
  await service.call("DELETE", "/auth/token", revokedToken);
});
afterAll(() => service.stop());

const stageId = uuidv7();

interface AccessCase {
  readonly call: `${Method} ${string}`;
  readonly path?: (scenario: Scenario) => string | Promise<string>;
  readonly body?: (scenario: Scenario, actor: Person) => unknown;
  readonly form?: (scenario: Scenario) => Promise<EncodedForm>;
  /** Its route says so (see "a route with an optional session" below). */
  readonly optionalSession?: true;
  readonly headers?: (scenario: Scenario) => Promise<Readonly<Record<string, string>>>;
  /** Comes last, by sessions of its own. */
  readonly endsSessions?: true;
  /**
   * Status for nobody, a user whose row it is not, the owner, and somebody of another vendor; for
   * whom it is shared with, as for `other` where it is not said.
   */
  readonly expected: { anonymous: number; other: number; owner: number; otherVendor: number; recipient?: number };
}

const publicStatuses = { anonymous: 200, other: 200, owner: 200, otherVendor: 200 };
const ownerOnlyStatuses = { anonymous: 401, other: 404, owner: 200, otherVendor: 404 };
/** Calls that only ever show the caller's own: others get theirs, not the owner's. */
const ownRowsStatuses = { anonymous: 401, other: 200, owner: 200, otherVendor: 200 };

const getLinkCredentials = ({ requestId, linkAuth }: ReturnType<typeof buildRequest>) => ({
  request_id: requestId,
  link_auth: linkAuth,
});

const cases: readonly AccessCase[] = [
  { call: "GET /auth/certs", expected: publicStatuses },
  { call: "GET /auth/token-certs", expected: publicStatuses },
  {
    call: "POST /auth/token",
    path: () => "/auth/token?app_vendor_id=relicario",
    body: () => ({ token: "x" }),
    expected: { anonymous: 401, other: 401, owner: 401, otherVendor: 401 },
  },
  { call: "GET /vendors/{id}", path: () => "/vendors/relicario", expected: publicStatuses },
  { call: "GET /healthz", expected: publicStatuses },
  { call: "GET /readyz", expected: publicStatuses },
  { call: "GET /user/me", expected: ownRowsStatuses },
  { call: "POST /user/me", body: () => ({}), expected: ownRowsStatuses },
  { call: "GET /secrets/store", expected: ownRowsStatuses },
  {
    call: "POST /secrets/store",
    body: ({ secretId }, actor) => buildSecret(actor, { id: secretId, base: 1 }).body,
    expected: { anonymous: 401, other: 404, owner: 200, otherVendor: 404 },
  },
  // The owner's secrets, signed by the owner, sent by somebody else.
  {
    call: "POST /secrets/store/batch",
    body: ({ owner }) => buildBatch(owner, 2),
    expected: { anonymous: 401, other: 422, owner: 200, otherVendor: 422 },
  },
  {
    call: "DELETE /secrets/store/{secret_db_id}",
    path: ({ secretId }) => `/secrets/store/${secretId}`,
    expected: ownerOnlyStatuses,
  },
  {
    call: "GET /secrets/store/{secret_db_id}/versions",
    path: ({ secretId }) => `/secrets/store/${secretId}/versions`,
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /secrets/store/get-secret",
    body: ({ secretId }) => ({ secret_db_id: secretId }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/get-secret",
    body: ({ secretId }) => ({ secret_db_id: secretId }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/secret",
    form: ({ secretId }) => buildLargeContent({ id: secretId, bytes: 100 }).start({ base_version: "1" }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "GET /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    form: async ({ upload }) => (await upload()).large.part(1),
    expected: ownerOnlyStatuses,
  },
  {
    call: "PUT /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    body: async ({ upload }, actor) => buildFinish(actor, (await upload()).large),
    expected: { anonymous: 401, other: 404, owner: 409, otherVendor: 404 }, // its owner may, once its part is there
  },
  {
    call: "DELETE /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    expected: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  {
    call: "POST /user/validate-username",
    path: () => "/user/validate-username?username=nobody-has-it",
    expected: ownRowsStatuses,
  },
  { call: "GET /user/password", expected: ownRowsStatuses },
  // Here no provider is named that would take one; with one: passwords/passwords.test.ts.
  {
    call: "POST /user/change-password",
    body: () => ({ old_password: "x", new_password: "y" }),
    expected: { anonymous: 401, other: 404, owner: 404, otherVendor: 404 },
  },
  { call: "GET /user/billing", expected: ownRowsStatuses },
  {
    call: "POST /user/feedback",
    body: () => ({ message: "good", page: "/home", app_version: "0.3.1" }),
    expected: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
  // Nobody of them has an address to ask yet; the answer is about the caller's own account.
  { call: "POST /user/send-validate-email", expected: { anonymous: 401, other: 422, owner: 422, otherVendor: 422 } },
  {
    call: "GET /user/validate-contact-email",
    path: () => `/user/validate-contact-email?value=me%40example.org&nonce=${"A".repeat(22)}`,
    expected: { anonymous: 401, other: 422, owner: 422, otherVendor: 422 },
  },
  {
    call: "PATCH /secrets/favorite",
    body: ({ secretId }) => ({ secret_db_id: secretId, favorite: true }),
    expected: ownerOnlyStatuses,
  },
  { call: "GET /user/keyring", expected: { ...ownRowsStatuses, otherVendor: 404, recipient: 404 } },
  // The owner's change, signed by the owner, sent by somebody else as the next of theirs; somebody
  // without a keyring has none to change.
  {
    call: "PUT /user/keyring",
    body: ({ owner }, actor) =>
      buildChange(owner, { state_rev: (actor === otherUser ? otherUser : owner).stateRev + 1 }),
    expected: { anonymous: 401, other: 422, owner: 200, otherVendor: 404, recipient: 404 },
  },
  {
    call: "POST /user/keyring/stage",
    body: ({ secretId }) => ({
      stage_id: stageId,
      rows: [{ secret_db_id: secretId, version: 1, label: "e30..AA.AA.AA" }],
    }),
    // its owner may, with a label of its own
    expected: { anonymous: 401, other: 404, owner: 422, otherVendor: 404, recipient: 404 },
  },
  {
    call: "GET /user/keyring/stage/{stage_id}",
    path: () => `/user/keyring/stage/${stageId}`,
    expected: { anonymous: 401, other: 404, owner: 404, otherVendor: 404 },
  },
  { call: "GET /user/image-records", expected: ownRowsStatuses },
  { call: "GET /user/start-anew", expected: ownRowsStatuses },
  // nothing is kept there yet
  { call: "POST /user/start-anew", expected: { ...ownRowsStatuses, otherVendor: 404, recipient: 404 } },
  { call: "DELETE /user/start-anew", path: () => "/user/start-anew?reason=objected", expected: ownRowsStatuses },
  {
    call: "GET /users/{user_name}/key",
    path: ({ owner }) => `/users/${owner.subject}/key`,
    expected: { anonymous: 401, other: 200, owner: 200, otherVendor: 404 },
  },
  {
    call: "POST /share",
    body: ({ secretId }, actor) => buildShare(actor, secretId).body,
    expected: { anonymous: 401, other: 404, owner: 200, otherVendor: 404 },
  },
  {
    call: "PATCH /share/{share_id}",
    path: async ({ personLink }) => `/share/${(await personLink()).shareId}`,
    body: (_, actor) => ({ max_views: 3, keyring: buildChangeWithDocument(actor, "shares") }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "DELETE /share/{share_id}",
    path: async ({ personLink }) => `/share/${(await personLink()).shareId}`,
    expected: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  {
    call: "DELETE /share{share_id}",
    path: async ({ personLink }) => `/share${(await personLink()).shareId}`,
    expected: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  // Others have no shares of a secret of that id.
  { call: "GET /sharelist/{secret_id}", path: ({ secretId }) => `/sharelist/${secretId}`, expected: ownRowsStatuses },
  { call: "GET /user/share-with-me", expected: ownRowsStatuses },
  {
    call: "POST /share/get-public-secret/{share_id}",
    optionalSession: true,
    path: async ({ publicLink }) => `/share/get-public-secret/${(await publicLink()).shareId}`,
    expected: publicStatuses,
  },
  {
    call: "POST /share/get-public-secret",
    optionalSession: true,
    body: async ({ publicLink }) => buildOpening(await publicLink()),
    expected: publicStatuses,
  },
  // What is for a person is not there for the others; the owner has the secret itself.
  {
    call: "POST /share/get-secret/{share_id}",
    path: async ({ personLink }) => `/share/get-secret/${(await personLink()).shareId}`,
    expected: { anonymous: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 },
  },
  {
    call: "POST /share/get-secret",
    body: async ({ personLink }) => ({ share_id: (await personLink()).shareId, claim_id: createPublicId() }),
    expected: { anonymous: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 },
  },
  {
    call: "POST /share/content",
    optionalSession: true,
    body: async ({ download }) => ({ token: await download() }),
    expected: publicStatuses,
  },
  {
    call: "POST /reports/share",
    body: async ({ publicLink }) => ({ share_id: (await publicLink()).shareId, reason: "other" }),
    expected: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "POST /reports/csp",
    body: () => ({ "csp-report": {} }),
    expected: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "POST /telemetry",
    body: () => ({ events: [], vitals: [] }),
    expected: { anonymous: 202, other: 202, owner: 202, otherVendor: 202 },
  },
  // For the operator alone, by a token that this service does not have.
  { call: "GET /telemetry", expected: { anonymous: 404, other: 404, owner: 404, otherVendor: 404 } },
  // Everybody makes their own; somebody without a keyring has none to write it into.
  {
    call: "POST /requests",
    body: (_, actor) => buildRequest(actor).body,
    expected: { anonymous: 401, other: 200, owner: 200, otherVendor: 422, recipient: 422 },
  },
  { call: "GET /requests", expected: ownRowsStatuses },
  {
    call: "PATCH /requests/{request_id}",
    path: async ({ answeredRequest }) => `/requests/${(await answeredRequest()).requestId}`,
    body: (_, actor) => ({ state: "collected", keyring: buildChangeWithDocument(actor, "requests") }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "DELETE /requests/{request_id}",
    path: async ({ answeredRequest }) => `/requests/${(await answeredRequest()).requestId}`,
    body: (_, actor) => ({ keyring: buildChangeWithDocument(actor, "requests") }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /requests/collect",
    body: async ({ answeredRequest }) => ({ request_id: (await answeredRequest()).requestId }),
    expected: ownerOnlyStatuses,
  },
  {
    call: "POST /requests/get",
    body: async ({ request }) => getLinkCredentials(await request()),
    expected: publicStatuses,
  },
  {
    call: "POST /requests/answer",
    body: async ({ request }) => ({ ...getLinkCredentials(await request()), size: 100 }),
    expected: publicStatuses,
  },
  {
    call: "GET /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    headers: async ({ answer }) => (await answer()).headers,
    expected: publicStatuses,
  },
  {
    call: "POST /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    form: async ({ answer }) => (await answer()).part(1),
    expected: publicStatuses,
  },
  {
    call: "PUT /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    headers: async ({ answer }) => (await answer()).headers,
    body: async ({ answer }) => (await answer()).finish,
    expected: publicStatuses,
  },
  {
    call: "PUT /device-links/{id}",
    path: () => `/device-links/${createPublicId()}`,
    body: () => ({ message: sealedMessage }),
    expected: ownRowsStatuses,
  },
  {
    call: "GET /device-links/{id}",
    path: async ({ mailbox }) => `/device-links/${await mailbox()}`,
    expected: ownerOnlyStatuses,
  },
  {
    call: "PUT /device-links/{id}/answer",
    path: async ({ mailbox }) => `/device-links/${await mailbox()}/answer`,
    body: () => ({ answer: sealedMessage }),
    expected: ownerOnlyStatuses,
  },
  // Another session of the owner is refused: see device-links.test.ts.
  {
    call: "GET /device-links/{id}/answer",
    path: async ({ ownMailbox }) => `/device-links/${await ownMailbox()}/answer`,
    expected: ownerOnlyStatuses,
  },
  // Everybody's own account: none can be named.
  { call: "DELETE /user/me", expected: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "POST /user/me/restore", expected: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "GET /user/activity", expected: ownRowsStatuses },
  { call: "GET /user/sessions", expected: ownRowsStatuses },
  {
    call: "DELETE /user/sessions/{id}",
    path: async ({ otherSession }) => `/user/sessions/${(await otherSession()).id}`,
    expected: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  // Whoever has the mail.
  {
    call: "POST /mails/unsubscribe",
    path: async ({ unsubscribe }) => `/mails/unsubscribe?token=${await unsubscribe()}`,
    expected: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "DELETE /user/sessions",
    endsSessions: true,
    expected: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "DELETE /auth/token",
    endsSessions: true,
    expected: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
];

describe.each(cases)("$call", ({ call, path, body, form, headers, optionalSession, endsSessions, expected }) => {
  const method = call.slice(0, call.indexOf(" ")) as Method;
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = method === "GET" ? readOnlyScenario : await createScenario();
  });
  const sendCall = async (actor: Person, token: string | null) => {
    const requestPath = (await path?.(scenario)) ?? call.slice(call.indexOf(" ") + 1);
    const payload = await body?.(scenario, actor);
    const options = (await form?.(scenario)) ?? {
      ...(payload === undefined ? {} : { body: payload }),
      ...(headers === undefined ? {} : { headers: await headers(scenario) }),
    };
    return service.call(method, requestPath, token, options);
  };
  const sendAs = async (person: Person, vendorId = "relicario") =>
    sendCall(
      person,
      endsSessions === undefined ? person.token : (await service.signIn(person.subject, vendorId)).token,
    );

  it("answers nobody, another user, the recipient of what is shared, the owner and another vendor as the policy says", async () => {
    const statuses = {
      anonymous: (await sendCall(otherUser, null)).status,
      other: (await sendAs(otherUser)).status,
      recipient: (await sendAs(recipient)).status,
      owner: 0,
      otherVendor: (await sendAs(otherVendor, "second")).status,
    };
    statuses.owner = (await sendCall(scenario.owner, scenario.owner.token)).status;
    expect(statuses).toEqual({ recipient: expected.other, ...expected });
  });

  it("refuses an expired and a revoked session, unless it is public", async () => {
    const responses = await Promise.all(
      [expiredToken, revokedToken, unstoredToken].map((token) => sendCall(scenario.owner, token)),
    );
    const { anonymous } = expected;
    if ((anonymous < 300 || call === "GET /telemetry") && optionalSession === undefined)
      expect(responses.map(({ status }) => status)).toEqual([anonymous, anonymous, anonymous]);
    else if (call === "POST /auth/token")
      expect(responses.map(({ body: { code } }) => code)).toEqual(["token_invalid", "token_invalid", "token_invalid"]);
    else
      expect(responses.map(({ body: { code } }) => code)).toEqual(["token_expired", "token_invalid", "token_invalid"]);
  });
});

describe("the table above", () => {
  it("has every call that the service answers", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, unknown>>;
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(cases.map(({ call }) => call).sort()).toEqual(calls.sort());
  });

  it("says of each call with an optional session that it is, as the interface's description does", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, { security?: readonly object[] }>>;
    const optionalSessionCalls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) =>
        security?.some((requirement) => Object.keys(requirement).length === 0) === true
          ? [`${method.toUpperCase()} ${path}`]
          : [],
      ),
    );
    expect(cases.flatMap(({ call, optionalSession }) => (optionalSession === undefined ? [] : [call])).sort()).toEqual(
      optionalSessionCalls.sort(),
    );
  });

  it("would not let a route in that does not say who may call it", async () => {
    const separateService = await startService();
    try {
      await expect(async () => {
        const app = Fastify();
        guardRoutes(app, separateService.app.services);
        app.get("/open", () => "open");
        await app.ready();
      }).rejects.toThrow("/open does not say who may call it");
    } finally {
      await separateService.stop();
    }
  });
});

describe("a route with an optional session", () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = Fastify({ trustProxy: true });
    handleErrors(app);
    guardRoutes(app, service.app.services);
    const testRateLimit = { name: "of_test", calls: 2, windowSeconds: 3_600, per: "account" } as const;
    app.get("/open", { config: { access: "optional_session" } }, (request) => ({
      account: request.actor?.accountId ?? null,
    }));
    app.get("/limited", { config: { access: "optional_session", rates: [testRateLimit] } }, () => "open");
    await app.ready();
  });
  afterAll(() => app.close());

  const callOptionalSession = async (authorization: string | null) => {
    const response = await app.inject({
      method: "GET",
      url: "/open",
      headers: authorization === null ? {} : { authorization },
    });
    return { status: response.statusCode, body: response.json<{ account?: string | null; code?: string }>() };
  };

  it("is answered for nobody, and for whoever has a session as that person", async () => {
    const person = await service.signIn();
    expect(await callOptionalSession(null)).toEqual({ status: 200, body: { account: null } });
    expect(await callOptionalSession(`Bearer ${person.token}`)).toEqual({
      status: 200,
      body: { account: person.userId },
    });
  });

  it("takes nobody for somebody and nobody for nobody: a session that is not good is refused", async () => {
    const person = await service.signIn();
    const expiredToken = await createSessionToken(person, new Date(Date.now() - 1_000));
    const unstoredToken = await createSessionToken(person, new Date(Date.now() + 60_000));
    const { token: revokedToken } = await service.signIn(person.subject);
    await service.call("DELETE", "/auth/token", revokedToken);
    const codes = await Promise.all(
      [`Bearer ${expiredToken}`, `Bearer ${unstoredToken}`, `Bearer ${revokedToken}`, "Bearer x", "Basic YTpi", ""].map(
        async (header) => (await callOptionalSession(header)).body.code,
      ),
    );
    expect(codes).toEqual([
      "token_expired",
      "token_invalid",
      "token_invalid",
      "token_invalid",
      "unauthorized",
      "unauthorized",
    ]);
  });

  it("counts an account's calls by account, and those of nobody by address", async () => {
    const [firstUser, secondUser] = [await service.signIn(), await service.signIn()];
    const call = async (address: string, token: string | null): Promise<number> => {
      const headers = { "x-forwarded-for": address, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
      return (await app.inject({ method: "GET", url: "/limited", headers })).statusCode;
    };
    const [firstAddress, secondAddress] = ["192.0.2.1", "192.0.2.2"];
    for (const token of [null, firstUser.token, secondUser.token])
      expect([
        await call(firstAddress, token),
        await call(firstAddress, token),
        await call(firstAddress, token),
      ]).toEqual([200, 200, 429]);
    expect([await call(secondAddress, null), await call(secondAddress, firstUser.token)]).toEqual([200, 429]);
  });
});

describe("a disabled vendor", () => {
  it("stops sessions that were given before", async () => {
    const { sessionTokens } = service.app.services;
    const issuedAt = new Date();
    const token = await sessionTokens.sign({
      accountId: otherUser.userId,
      vendorId: "closed",
      sessionId: uuidv7(),
      authTime: null,
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + 60_000),
    });
    expect(await service.call("GET", "/user/me", token)).toMatchObject({
      status: 403,
      body: { code: "vendor_disabled" },
    });
  });
});
