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
 * Makes every call as every kind of caller. "The table of calls" fails when a call is missing here.
 */

let service: TestService;
/**
 * An owner's data. The secret exists from the start; everything else is created when a case first
 * asks for it.
 */
interface Scenario {
  readonly owner: Person;
  readonly secretId: string;
  /** An upload under way, with its content of one part. */
  readonly upload: () => Promise<{ readonly id: string; readonly largeContent: LargeContent }>;
  readonly publicLink: () => Promise<LinkCredentials>;
  /** A share with {@link recipient}. */
  readonly personLink: () => Promise<LinkCredentials>;
  /** Download token of the public link, opened anonymously. */
  readonly getDownloadToken: () => Promise<string>;
  /**
   * `request` is open; `answer` has all its parts but is not finished; `answeredRequest` is
   * answered.
   */
  readonly request: () => Promise<ReturnType<typeof buildRequest>>;
  readonly answer: () => Promise<StartedAnswer>;
  readonly answeredRequest: () => Promise<ReturnType<typeof buildRequest>>;
  /** `ownMailbox` was written by the owner's session, `mailbox` by `otherSession`. */
  readonly ownMailbox: () => Promise<string>;
  readonly mailbox: () => Promise<string>;
  readonly otherSession: () => Promise<{ readonly id: string; readonly token: string }>;
  /** Token of a mail to the owner. */
  readonly getUnsubscribeToken: () => Promise<string>;
}
const sealedMessage = buildJwe({ typ: "relicario-link-device" });
let otherUser: Person;
let recipient: Person;
let otherVendor: Person;
/** Only for calls that read. */
let readOnlyScenario: Scenario;
/** Invalid session tokens. */
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
      const largeContent = buildLargeContent({ bytes: 100 });
      const { body: startedUpload } = await service.call(
        "POST",
        "/v2/secrets/secret",
        owner.token,
        await largeContent.buildStartForm(),
      );
      return { id: StartUploadResponse.parse(startedUpload).upload_id, largeContent };
    }),
    publicLink,
    personLink: memoize(() => createShare(service, owner, secretId, { recipient: recipient.userId })),
    getDownloadToken: memoize(
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
    getUnsubscribeToken: memoize(() =>
      service.app.services.grants.issue(
        { for: "unsubscribe", account: owner.userId, about: "share_opened" },
        new Date(Date.now() + 60_000),
      ),
    ),
  };
};

/** Creates a scenario with everything that an account can have. */
const createFullScenario = async (): Promise<Scenario> => {
  const scenario = await createScenario();
  // In sequence: each changes the owner's keyring.
  for (const create of [
    scenario.upload,
    scenario.personLink,
    scenario.getDownloadToken,
    scenario.answer,
    scenario.answeredRequest,
    scenario.ownMailbox,
    scenario.mailbox,
    scenario.getUnsubscribeToken,
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
  /**
   * Whether the call's session is optional, which "the table of calls" compares with the routes.
   */
  readonly optionalSession?: true;
  readonly headers?: (scenario: Scenario) => Promise<Readonly<Record<string, string>>>;
  /** Runs last, with its own sessions. */
  readonly endsSessions?: true;
  /**
   * Statuses for an anonymous caller, another user, the owner, a user of another vendor, and the
   * recipient (by default that of `other`).
   */
  readonly expectedStatuses: {
    anonymous: number;
    other: number;
    owner: number;
    otherVendor: number;
    recipient?: number;
  };
}

const publicStatuses = { anonymous: 200, other: 200, owner: 200, otherVendor: 200 };
const ownerOnlyStatuses = { anonymous: 401, other: 404, owner: 200, otherVendor: 404 };
/** Calls that return only the caller's own data. */
const ownRowsStatuses = { anonymous: 401, other: 200, owner: 200, otherVendor: 200 };

const getLinkCredentials = ({ requestId, linkAuth }: ReturnType<typeof buildRequest>) => ({
  request_id: requestId,
  link_auth: linkAuth,
});

const cases: readonly AccessCase[] = [
  { call: "GET /auth/certs", expectedStatuses: publicStatuses },
  { call: "GET /auth/token-certs", expectedStatuses: publicStatuses },
  {
    call: "POST /auth/token",
    path: () => "/auth/token?app_vendor_id=relicario",
    body: () => ({ token: "x" }),
    expectedStatuses: { anonymous: 401, other: 401, owner: 401, otherVendor: 401 },
  },
  {
    call: "POST /auth/backchannel-logout",
    form: () =>
      Promise.resolve({
        body: Buffer.from("logout_token=x"),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    expectedStatuses: { anonymous: 400, other: 400, owner: 400, otherVendor: 400 },
  },
  { call: "GET /vendors/{id}", path: () => "/vendors/relicario", expectedStatuses: publicStatuses },
  { call: "GET /healthz", expectedStatuses: publicStatuses },
  { call: "GET /readyz", expectedStatuses: publicStatuses },
  { call: "GET /user/me", expectedStatuses: ownRowsStatuses },
  { call: "POST /user/me", body: () => ({}), expectedStatuses: ownRowsStatuses },
  { call: "GET /secrets/store", expectedStatuses: ownRowsStatuses },
  {
    call: "POST /secrets/store",
    body: ({ secretId }, actor) => buildSecret(actor, { id: secretId, base: 1 }).body,
    expectedStatuses: { anonymous: 401, other: 404, owner: 200, otherVendor: 404 },
  },
  // The owner's secrets and signature, sent by another user.
  {
    call: "POST /secrets/store/batch",
    body: ({ owner }) => buildBatch(owner, 2),
    expectedStatuses: { anonymous: 401, other: 422, owner: 200, otherVendor: 422 },
  },
  {
    call: "DELETE /secrets/store/{secret_db_id}",
    path: ({ secretId }) => `/secrets/store/${secretId}`,
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "GET /secrets/store/{secret_db_id}/versions",
    path: ({ secretId }) => `/secrets/store/${secretId}/versions`,
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /secrets/store/get-secret",
    body: ({ secretId }) => ({ secret_db_id: secretId }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/get-secret",
    body: ({ secretId }) => ({ secret_db_id: secretId }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/secret",
    form: ({ secretId }) => buildLargeContent({ id: secretId, bytes: 100 }).buildStartForm({ base_version: "1" }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "GET /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    form: async ({ upload }) => (await upload()).largeContent.buildPartForm(1),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "PUT /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    body: async ({ upload }, actor) => buildFinish(actor, (await upload()).largeContent),
    // accepted from the owner once the part is stored
    expectedStatuses: { anonymous: 401, other: 404, owner: 409, otherVendor: 404 },
  },
  {
    call: "DELETE /v2/secrets/secret/upload/{upload_id}",
    path: async ({ upload }) => uploadPath((await upload()).id),
    expectedStatuses: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  {
    call: "POST /user/validate-username",
    path: () => "/user/validate-username?username=nobody-has-it",
    expectedStatuses: ownRowsStatuses,
  },
  { call: "GET /user/password", expectedStatuses: ownRowsStatuses },
  // No password interface is configured here; see passwords/passwords.test.ts.
  {
    call: "POST /user/change-password",
    body: () => ({ old_password: "x", new_password: "y" }),
    expectedStatuses: { anonymous: 401, other: 404, owner: 404, otherVendor: 404 },
  },
  { call: "GET /user/billing", expectedStatuses: ownRowsStatuses },
  {
    call: "POST /user/feedback",
    body: () => ({ message: "good", page: "/home", app_version: "0.3.1" }),
    expectedStatuses: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
  // None of the callers has a contact address; the response is about the caller's own account.
  {
    call: "POST /user/send-validate-email",
    expectedStatuses: { anonymous: 401, other: 422, owner: 422, otherVendor: 422 },
  },
  {
    call: "GET /user/validate-contact-email",
    path: () => `/user/validate-contact-email?value=me%40example.org&nonce=${"A".repeat(22)}`,
    expectedStatuses: { anonymous: 401, other: 422, owner: 422, otherVendor: 422 },
  },
  {
    call: "PATCH /secrets/favorite",
    body: ({ secretId }) => ({ secret_db_id: secretId, favorite: true }),
    expectedStatuses: ownerOnlyStatuses,
  },
  { call: "GET /user/keyring", expectedStatuses: { ...ownRowsStatuses, otherVendor: 404, recipient: 404 } },
  // The owner's signed change, sent by another user as their next one; an account without a keyring
  // cannot change one.
  {
    call: "PUT /user/keyring",
    body: ({ owner }, actor) =>
      buildChange(owner, { state_rev: (actor === otherUser ? otherUser : owner).stateRev + 1 }),
    expectedStatuses: { anonymous: 401, other: 422, owner: 200, otherVendor: 404, recipient: 404 },
  },
  {
    call: "POST /user/keyring/stage",
    body: ({ secretId }) => ({
      stage_id: stageId,
      rows: [{ secret_db_id: secretId, version: 1, label: "e30..AA.AA.AA" }],
    }),
    // accepted from the owner with a valid label
    expectedStatuses: { anonymous: 401, other: 404, owner: 422, otherVendor: 404, recipient: 404 },
  },
  {
    call: "GET /user/keyring/stage/{stage_id}",
    path: () => `/user/keyring/stage/${stageId}`,
    expectedStatuses: { anonymous: 401, other: 404, owner: 404, otherVendor: 404 },
  },
  { call: "GET /user/image-records", expectedStatuses: ownRowsStatuses },
  { call: "GET /user/start-anew", expectedStatuses: ownRowsStatuses },
  // no keyring yet
  { call: "POST /user/start-anew", expectedStatuses: { ...ownRowsStatuses, otherVendor: 404, recipient: 404 } },
  {
    call: "DELETE /user/start-anew",
    path: () => "/user/start-anew?reason=objected",
    expectedStatuses: ownRowsStatuses,
  },
  {
    call: "GET /users/{user_name}/key",
    path: ({ owner }) => `/users/${owner.subject}/key`,
    expectedStatuses: { anonymous: 401, other: 200, owner: 200, otherVendor: 404 },
  },
  {
    call: "POST /share",
    body: ({ secretId }, actor) => buildShare(actor, secretId).body,
    expectedStatuses: { anonymous: 401, other: 404, owner: 200, otherVendor: 404 },
  },
  {
    call: "PATCH /share/{share_id}",
    path: async ({ personLink }) => `/share/${(await personLink()).shareId}`,
    body: (_, actor) => ({ max_views: 3, keyring: buildChangeWithDocument(actor, "shares") }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "DELETE /share/{share_id}",
    path: async ({ personLink }) => `/share/${(await personLink()).shareId}`,
    expectedStatuses: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  {
    call: "DELETE /share{share_id}",
    path: async ({ personLink }) => `/share${(await personLink()).shareId}`,
    expectedStatuses: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  // Others have no shares of this secret.
  {
    call: "GET /sharelist/{secret_id}",
    path: ({ secretId }) => `/sharelist/${secretId}`,
    expectedStatuses: ownRowsStatuses,
  },
  { call: "GET /user/share-with-me", expectedStatuses: ownRowsStatuses },
  {
    call: "POST /share/get-public-secret/{share_id}",
    optionalSession: true,
    path: async ({ publicLink }) => `/share/get-public-secret/${(await publicLink()).shareId}`,
    expectedStatuses: publicStatuses,
  },
  {
    call: "POST /share/get-public-secret",
    optionalSession: true,
    body: async ({ publicLink }) => buildOpening(await publicLink()),
    expectedStatuses: publicStatuses,
  },
  // Hidden from others; the owner opens the secret itself.
  {
    call: "POST /share/get-secret/{share_id}",
    path: async ({ personLink }) => `/share/get-secret/${(await personLink()).shareId}`,
    expectedStatuses: { anonymous: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 },
  },
  {
    call: "POST /share/get-secret",
    body: async ({ personLink }) => ({ share_id: (await personLink()).shareId, claim_id: createPublicId() }),
    expectedStatuses: { anonymous: 401, other: 404, owner: 404, otherVendor: 404, recipient: 200 },
  },
  {
    call: "POST /share/content",
    optionalSession: true,
    body: async ({ getDownloadToken }) => ({ token: await getDownloadToken() }),
    expectedStatuses: publicStatuses,
  },
  {
    call: "POST /reports/share",
    body: async ({ publicLink }) => ({ share_id: (await publicLink()).shareId, reason: "other" }),
    expectedStatuses: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "POST /reports/csp",
    body: () => ({ "csp-report": {} }),
    expectedStatuses: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "POST /telemetry",
    body: () => ({ events: [], vitals: [] }),
    expectedStatuses: { anonymous: 202, other: 202, owner: 202, otherVendor: 202 },
  },
  // Needs the operator's token, which is not configured here.
  { call: "GET /telemetry", expectedStatuses: { anonymous: 404, other: 404, owner: 404, otherVendor: 404 } },
  // Each caller creates their own, which needs a keyring.
  {
    call: "POST /requests",
    body: (_, actor) => buildRequest(actor).body,
    expectedStatuses: { anonymous: 401, other: 200, owner: 200, otherVendor: 422, recipient: 422 },
  },
  { call: "GET /requests", expectedStatuses: ownRowsStatuses },
  {
    call: "PATCH /requests/{request_id}",
    path: async ({ answeredRequest }) => `/requests/${(await answeredRequest()).requestId}`,
    body: (_, actor) => ({ state: "collected", keyring: buildChangeWithDocument(actor, "requests") }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "DELETE /requests/{request_id}",
    path: async ({ answeredRequest }) => `/requests/${(await answeredRequest()).requestId}`,
    body: (_, actor) => ({ keyring: buildChangeWithDocument(actor, "requests") }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /requests/collect",
    body: async ({ answeredRequest }) => ({ request_id: (await answeredRequest()).requestId }),
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "POST /requests/get",
    body: async ({ request }) => getLinkCredentials(await request()),
    expectedStatuses: publicStatuses,
  },
  {
    call: "POST /requests/answer",
    body: async ({ request }) => ({ ...getLinkCredentials(await request()), size: 100 }),
    expectedStatuses: publicStatuses,
  },
  {
    call: "GET /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    headers: async ({ answer }) => (await answer()).headers,
    expectedStatuses: publicStatuses,
  },
  {
    call: "POST /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    form: async ({ answer }) => (await answer()).buildPartForm(1),
    expectedStatuses: publicStatuses,
  },
  {
    call: "PUT /requests/answer/{answer_id}",
    path: async ({ answer }) => answerPath((await answer()).id),
    headers: async ({ answer }) => (await answer()).headers,
    body: async ({ answer }) => (await answer()).finishBody,
    expectedStatuses: publicStatuses,
  },
  {
    call: "PUT /device-links/{id}",
    path: () => `/device-links/${createPublicId()}`,
    body: () => ({ message: sealedMessage }),
    expectedStatuses: ownRowsStatuses,
  },
  {
    call: "GET /device-links/{id}",
    path: async ({ mailbox }) => `/device-links/${await mailbox()}`,
    expectedStatuses: ownerOnlyStatuses,
  },
  {
    call: "PUT /device-links/{id}/answer",
    path: async ({ mailbox }) => `/device-links/${await mailbox()}/answer`,
    body: () => ({ answer: sealedMessage }),
    expectedStatuses: ownerOnlyStatuses,
  },
  // Another session of the owner is refused: see device-links.test.ts.
  {
    call: "GET /device-links/{id}/answer",
    path: async ({ ownMailbox }) => `/device-links/${await ownMailbox()}/answer`,
    expectedStatuses: ownerOnlyStatuses,
  },
  // Affects only the caller's own account.
  { call: "DELETE /user/me", expectedStatuses: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "POST /user/me/restore", expectedStatuses: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 } },
  { call: "GET /user/activity", expectedStatuses: ownRowsStatuses },
  { call: "GET /user/sessions", expectedStatuses: ownRowsStatuses },
  {
    call: "DELETE /user/sessions/{id}",
    path: async ({ otherSession }) => `/user/sessions/${(await otherSession()).id}`,
    expectedStatuses: { anonymous: 401, other: 404, owner: 204, otherVendor: 404 },
  },
  // Anyone who holds the mail may call it.
  {
    call: "POST /mails/unsubscribe",
    path: async ({ getUnsubscribeToken }) => `/mails/unsubscribe?token=${await getUnsubscribeToken()}`,
    expectedStatuses: { anonymous: 204, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "DELETE /user/sessions",
    endsSessions: true,
    expectedStatuses: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
  {
    call: "DELETE /auth/token",
    endsSessions: true,
    expectedStatuses: { anonymous: 401, other: 204, owner: 204, otherVendor: 204 },
  },
];

describe.each(cases)(
  "$call",
  ({ call, path, body, form, headers, optionalSession, endsSessions, expectedStatuses }) => {
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

    it("answers each kind of caller with the expected status", async () => {
      const statuses = {
        anonymous: (await sendCall(otherUser, null)).status,
        other: (await sendAs(otherUser)).status,
        recipient: (await sendAs(recipient)).status,
        owner: 0,
        otherVendor: (await sendAs(otherVendor, "second")).status,
      };
      statuses.owner = (await sendCall(scenario.owner, scenario.owner.token)).status;
      expect(statuses).toEqual({ recipient: expectedStatuses.other, ...expectedStatuses });
    });

    it("refuses expired and revoked sessions, unless the call is public", async () => {
      const responses = await Promise.all(
        [expiredToken, revokedToken, unstoredToken].map((token) => sendCall(scenario.owner, token)),
      );
      const { anonymous } = expectedStatuses;
      if ((anonymous < 300 || call === "GET /telemetry") && optionalSession === undefined)
        expect(responses.map(({ status }) => status)).toEqual([anonymous, anonymous, anonymous]);
      else if (call === "POST /auth/backchannel-logout")
        expect(responses.map(({ body: { code } }) => code)).toEqual(["bad_request", "bad_request", "bad_request"]);
      else if (call === "POST /auth/token")
        expect(responses.map(({ body: { code } }) => code)).toEqual([
          "token_invalid",
          "token_invalid",
          "token_invalid",
        ]);
      else
        expect(responses.map(({ body: { code } }) => code)).toEqual([
          "token_expired",
          "token_invalid",
          "token_invalid",
        ]);
    });
  },
);

describe("the table of calls", () => {
  it("lists every call of the service", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, unknown>>;
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(cases.map(({ call }) => call).sort()).toEqual(calls.sort());
  });

  it("marks the calls with an optional session, as the OpenAPI description does", async () => {
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

  it("cannot miss a route, since the service refuses one without a declared access", async () => {
    const separateService = await startService();
    try {
      await expect(async () => {
        const app = Fastify();
        guardRoutes(app, separateService.app.services);
        app.get("/open", () => "open");
        await app.ready();
      }).rejects.toThrow("/open does not declare its access");
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
    const testRateLimit = { name: "of_test", maxCalls: 2, windowSeconds: 3_600, per: "account" } as const;
    app.get("/open", { config: { access: "optional_session" } }, (request) => ({
      account: request.actor?.accountId ?? null,
    }));
    app.get("/limited", { config: { access: "optional_session", rateLimits: [testRateLimit] } }, () => "open");
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

  it("accepts anonymous callers, and identifies a caller with a session", async () => {
    const person = await service.signIn();
    expect(await callOptionalSession(null)).toEqual({ status: 200, body: { account: null } });
    expect(await callOptionalSession(`Bearer ${person.token}`)).toEqual({
      status: 200,
      body: { account: person.userId },
    });
  });

  it("refuses an invalid session instead of treating its caller as anonymous", async () => {
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

  it("counts calls by account with a session, by IP address without one", async () => {
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
  it("invalidates sessions that were issued before", async () => {
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
