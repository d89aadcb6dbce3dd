import { createServer, type IncomingMessage, type Server } from "node:http";

import { createKeycloakAdmin } from "../auth/keycloak-admin.ts";
import { createKeycloakPasswordProvider } from "./keycloak.ts";
import type { PasswordProvider } from "./password-provider.ts";

/** A stub of Keycloak's documented API on a socket: these tests cover the adapter, not Keycloak. */
const clientSecret = "a secret of the client";
const subject = "0198f4a0-1111-7000-8000-000000000001";
const realm = {
  passwordPolicy:
    "length(12) and digits(1) and notUsername(undefined) and hashIterations(5) and regexPattern(^[a-z]+$)" as
      | string
      | undefined,
  password: "the old password",
  refuse: null as { status: number; body: unknown } | null,
  sessions: [] as string[],
  serviceAccount: true,
};
const calls: string[] = [];
let server: Server;
let createPasswordProvider: () => PasswordProvider;
let passwordProvider: PasswordProvider;
beforeAll(async () => {
  server = createServer((request, response) => {
    void handleKeycloakCall(request).then(({ status, body }) => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  createPasswordProvider = () =>
    createKeycloakPasswordProvider(
      createKeycloakAdmin({
        kind: "keycloak",
        url: `http://127.0.0.1:${String(address.port)}`,
        realm: "people",
        client_id: "relicario-service",
        client_secret: clientSecret,
      }),
    );
});
afterAll(
  () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => {
        resolve();
      });
    }),
);
beforeEach(() => {
  passwordProvider = createPasswordProvider(); // without the token of the test before
  calls.splice(0);
  Object.assign(realm, {
    password: "the old password",
    refuse: null,
    sessions: ["kept", "other-1", "other-2"],
    serviceAccount: true,
  });
});

async function handleKeycloakCall(request: IncomingMessage): Promise<{ status: number; body?: unknown }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const call = `${request.method ?? ""} ${request.url ?? ""}`;
  calls.push(call);
  if (call === "POST /realms/people/protocol/openid-connect/token") return handleTokenCall(new URLSearchParams(text));
  if (request.headers.authorization !== "Bearer token-of-the-service")
    return { status: 401, body: { error: "HTTP 401 Unauthorized" } };
  const person = `/admin/realms/people/users/${subject}`;
  if (call === "GET /admin/realms/people")
    return { status: 200, body: { realm: "people", passwordPolicy: realm.passwordPolicy } };
  if (call === `GET ${person}`) return { status: 200, body: { id: subject, username: "ana" } };
  if (call === `GET ${person}/sessions`)
    return { status: 200, body: realm.sessions.map((id) => ({ id, username: "ana" })) };
  if (call === `PUT ${person}/reset-password`) {
    if (realm.refuse !== null) return realm.refuse;
    const { type, value, temporary } = JSON.parse(text) as { type: string; value: string; temporary: boolean };
    if (type !== "password" || temporary) return { status: 400, body: {} };
    realm.password = value;
    return { status: 204 };
  }
  const [, session] = /^DELETE \/admin\/realms\/people\/sessions\/([\w-]+)$/.exec(call) ?? [];
  if (session !== undefined) {
    realm.sessions = realm.sessions.filter((id) => id !== session);
    return { status: 204 };
  }
  return { status: 404, body: { error: "User not found" } };
}

function handleTokenCall(form: URLSearchParams): { status: number; body: unknown } {
  if (
    form.get("client_id") !== "relicario-service" ||
    form.get("client_secret") !== clientSecret ||
    !realm.serviceAccount
  )
    return { status: 401, body: { error: "unauthorized_client" } };
  if (form.get("grant_type") === "client_credentials")
    return { status: 200, body: { access_token: "token-of-the-service", expires_in: 300 } };
  if (form.get("username") !== "ana" || form.get("password") !== realm.password)
    return { status: 401, body: { error: "invalid_grant", error_description: "Invalid user credentials" } };
  realm.sessions.push("of-the-question");
  return { status: 200, body: { access_token: "of the person", session_state: "of-the-question" } };
}

const changePassword = (overrides: Partial<Parameters<PasswordProvider["changePassword"]>[0]> = {}) =>
  passwordProvider.changePassword({
    subject,
    oldPassword: "the old password",
    newPassword: "the new password",
    keepSessionId: "kept",
    ...overrides,
  });

describe("a change of password at Keycloak", () => {
  it("verifies the old password, sets the new password, and ends all sessions except the session to keep", async () => {
    expect(await changePassword()).toEqual([]);
    expect(realm.password).toBe("the new password");
    expect(realm.sessions).toEqual(["kept"]);
  });

  it("ends all sessions when there is no session to keep", async () => {
    expect(await changePassword({ keepSessionId: null })).toEqual([]);
    expect(realm.sessions).toEqual([]);
  });

  it("sets nothing when the old password is wrong", async () => {
    expect(await changePassword({ oldPassword: "another" })).toEqual([{ path: "/old_password", reason: "wrong" }]);
    expect([realm.password, realm.sessions]).toEqual(["the old password", ["kept", "other-1", "other-2"]]);
    expect(calls.filter((call) => call.startsWith("PUT"))).toEqual([]);
  });

  it.each([
    [
      { error: "invalidPasswordMinLengthMessage", error_description: "Invalid password: minimum length 12." },
      { reason: "min_length", value: 12, text: "Invalid password: minimum length 12." },
    ],
    [
      {
        error: "invalidPasswordNotUsernameMessage",
        error_description: "Invalid password: must not be equal to the username.",
      },
      { reason: "not_name", text: "Invalid password: must not be equal to the username." },
    ],
    [{ errorMessage: "Password policy not met" }, { reason: "refused", text: "Password policy not met" }],
    [{}, { reason: "refused" }],
  ])("gives its refusal %j", async (body, expectedRejection) => {
    realm.refuse = { status: 400, body };
    expect(await changePassword()).toEqual([{ path: "/new_password", ...expectedRejection }]);
    expect(realm.password).toBe("the old password");
    expect(realm.sessions.slice(0, 3)).toEqual(["kept", "other-1", "other-2"]);
  });

  it("answers not_found for an unknown person", async () => {
    await expect(changePassword({ subject: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  });

  it.each([
    [
      "does not take the service's client",
      () => {
        realm.serviceAccount = false;
      },
    ],
    [
      "lacks the role to set it",
      () => {
        realm.refuse = { status: 403, body: {} };
      },
    ],
    [
      "fails",
      () => {
        realm.refuse = { status: 500, body: {} };
      },
    ],
  ])("is unavailable when Keycloak %s", async (_, arrange) => {
    arrange();
    await expect(changePassword()).rejects.toMatchObject({ code: "service_unavailable" });
    expect(realm.password).toBe("the old password");
  });

  it("passes on Keycloak's 429", async () => {
    realm.refuse = { status: 429, body: {} };
    await expect(changePassword()).rejects.toMatchObject({ code: "too_many_requests" });
  });
});

describe("the rules of a realm", () => {
  it("are parsed from the realm's password policy, without the rules about storage", async () => {
    expect(await passwordProvider.readRules()).toEqual([
      { rule: "min_length", value: 12 },
      { rule: "digits", value: 1 },
      { rule: "not_name" },
      { rule: "other", text: "regexPattern(^[a-z]+$)" },
    ]);
  });

  it("are empty without a policy", async () => {
    realm.passwordPolicy = undefined;
    expect(await passwordProvider.readRules()).toEqual([]);
  });
});
