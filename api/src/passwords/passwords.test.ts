import { randomBytes } from "node:crypto";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";

import {
  requireCode,
  createEnvironment,
  findFreePort,
  SignInRequest,
  startProcess,
  Visitor,
  getVisibleText,
  type RunningProcess,
} from "../identity/test-support.ts";
import { readMails } from "../testing/outbox.ts";
import { startService, type TestService } from "../testing/service.ts";

/** The real embedded provider as a process, and the service that calls it. */
let database: TestDatabase;
let identityProcess: RunningProcess;
let issuer: string;
let service: TestService;
beforeAll(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  const token = randomBytes(32).toString("base64url");
  const environment = await createEnvironment(database.url, await findFreePort());
  issuer = environment["IDENTITY_ISSUER"] ?? "";
  identityProcess = await startProcess({ ...environment, IDENTITY_ADMIN_TOKEN: token });
  service = await startService({
    IDP_AUTHORITY: issuer,
    IDP_ADMIN: JSON.stringify({ kind: "embedded", url: issuer, token }),
  });
});
afterAll(async () => {
  await service.stop();
  await identityProcess.stop();
  await database.drop();
});

interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}
const buildUser = (): NewUser => {
  const username = `p${randomBytes(4).toString("hex")}`;
  return { username, email: `${username}@example.org`, password: `old phrase ${randomBytes(6).toString("hex")}` };
};
const createPassword = () => `new phrase ${randomBytes(6).toString("hex")}`;

/** A browser with cookies at the provider and a session here. */
async function signIn({ username, email, password }: NewUser, mode: "sign-up" | "sign-in", vendorId = "relicario") {
  const browser = new Visitor();
  const request = new SignInRequest(issuer);
  const page = await browser.get(request.buildUrl());
  const link = /<a class="link" href="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const finalPage =
    mode === "sign-up"
      ? await browser.submit(await browser.get(new URL(link, page.url)), { username, email, password })
      : await browser.submit(page, { name: username, password });
  const tokens = (await (await request.redeem(requireCode(finalPage))).json()) as { access_token: string };
  return { browser, ...(await exchange(tokens.access_token, vendorId)), accessToken: tokens.access_token };
}
async function exchange(accessToken: string, vendorId = "relicario") {
  const { status, body } = await service.call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, {
    body: { token: accessToken },
  });
  return { status, token: String(body["token"]) };
}
/**
 * Whether the provider renews this browser's token silently, as an open portal needs every few
 * minutes.
 */
async function canRenew(browser: Visitor): Promise<boolean> {
  const finalPage = await browser.get(new SignInRequest(issuer).buildUrl({ prompt: "none" }));
  return finalPage.url.searchParams.has("code");
}
const changePassword = (token: string, oldPassword: string, newPasswordValue: string) =>
  service.call("POST", "/user/change-password", token, {
    body: { old_password: oldPassword, new_password: newPasswordValue },
  });
const readMeStatus = async (token: string) => (await service.call("GET", "/user/me", token)).status;

describe("POST /user/change-password", () => {
  it("changes the password at the provider: the new password signs in, the old password does not", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    const newPassword = createPassword();
    expect(await changePassword(token, person.password, newPassword)).toMatchObject({ status: 204, text: "" });
    const browser = new Visitor();
    const refusedPage = await browser.submit(await browser.get(new SignInRequest(issuer).buildUrl()), {
      name: person.username,
      password: person.password,
    });
    expect(refusedPage.status).toBe(401);
    expect((await signIn({ ...person, password: newPassword }, "sign-in")).status).toBe(200);
  });

  it("is logged here and at the provider by the id of the request", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    const traceId = randomBytes(16).toString("hex");
    const response = await service.call("POST", "/user/change-password", token, {
      body: { old_password: person.password, new_password: createPassword() },
      headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-00` }, // the gateway's
    });
    expect([response.status, response.headers["x-request-id"]]).toEqual([204, traceId]);
    const idMember = `"request_id":"${traceId}"`;
    expect(service.readLog()).toContain(idMember);
    expect(
      identityProcess
        .output()
        .split("\n")
        .filter((line) => line.includes(idMember))
        .join("\n"),
    ).toMatch(/"msg":"changed a password"[^]*"route":"\/realms\/relicario\/admin\/password"/);
  });

  it("signs out every other session, here and at the provider, and keeps the caller's session", async () => {
    const person = buildUser();
    const firstSignIn = await signIn(person, "sign-up");
    const secondSignIn = await signIn(person, "sign-in");
    const otherVendorSignIn = await signIn(person, "sign-in", "second");
    const sameBrowserToken = await exchange(firstSignIn.accessToken);
    expect(
      await Promise.all(
        [firstSignIn, secondSignIn, otherVendorSignIn, sameBrowserToken].map(({ token }) => readMeStatus(token)),
      ),
    ).toEqual([200, 200, 200, 200]);
    expect((await changePassword(firstSignIn.token, person.password, createPassword())).status).toBe(204);
    expect(await Promise.all([firstSignIn, sameBrowserToken].map(({ token }) => readMeStatus(token)))).toEqual([
      200, 200,
    ]);
    expect(await Promise.all([secondSignIn, otherVendorSignIn].map(({ token }) => readMeStatus(token)))).toEqual([
      401, 401,
    ]);
    expect((await exchange(secondSignIn.accessToken)).status).toBe(401);
    expect([
      await canRenew(firstSignIn.browser),
      await canRenew(secondSignIn.browser),
      await canRenew(otherVendorSignIn.browser),
    ]).toEqual([true, false, false]);
  });

  it("affects no other person", async () => {
    const [firstUser, secondUser] = [buildUser(), buildUser()];
    const [firstSignIn, secondSignIn] = [await signIn(firstUser, "sign-up"), await signIn(secondUser, "sign-up")];
    expect((await changePassword(firstSignIn.token, firstUser.password, createPassword())).status).toBe(204);
    expect([await readMeStatus(secondSignIn.token), await canRenew(secondSignIn.browser)]).toEqual([200, true]);
  });

  it("sends a mail to the verified address", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    await service.call("POST", "/user/me", token, { body: { contact_email: person.email } });
    await service.call("POST", "/user/send-validate-email", token);
    const [, query = ""] = /\/validate-email#(\S+)/.exec((await readMails(service)).at(-1)?.text ?? "") ?? [];
    expect((await service.call("GET", `/user/validate-contact-email?${query}`, token)).status).toBe(200);
    await changePassword(token, person.password, createPassword());
    expect((await readMails(service)).at(-1)).toMatchObject({
      to: person.email,
      subject: "Your Relicario password was changed",
    });
  });

  it("is recorded once in the activity, and not when refused", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    expect((await changePassword(token, "not it at all", createPassword())).status).toBe(422);
    expect((await changePassword(token, person.password, createPassword())).status).toBe(204);
    const { body } = await service.call("GET", "/user/activity?topic=account", token);
    expect((body["entries"] as { kind: string }[]).map(({ kind }) => kind)).toEqual(["password_changed"]);
  });

  it("answers 422 with the provider's refusals, changes nothing and signs out no one", async () => {
    const person = buildUser();
    const firstSignIn = await signIn(person, "sign-up");
    const secondSignIn = await signIn(person, "sign-in");
    const readRefusal = async (oldPassword: string, newPasswordValue: string) => {
      const { status, body } = await changePassword(firstSignIn.token, oldPassword, newPasswordValue);
      return { status, code: body.code, errors: body["errors"] };
    };
    const expectedRefusal = (...errors: unknown[]) => ({ status: 422, code: "validation_error", errors });
    expect(await readRefusal("not it at all", createPassword())).toEqual(
      expectedRefusal({ path: "/old_password", reason: "wrong" }),
    );
    expect(await readRefusal(person.password, "short")).toEqual(
      expectedRefusal({ path: "/new_password", reason: "min_length", value: 10 }),
    );
    expect(await readRefusal(person.password, "x".repeat(257))).toEqual(
      expectedRefusal({ path: "/new_password", reason: "max_length", value: 256 }),
    );
    expect(await readRefusal(person.password, person.email)).toEqual(
      expectedRefusal({ path: "/new_password", reason: "not_name" }),
    );
    expect(await readRefusal(person.password, "aaaaaaaaaaaa")).toEqual(
      expectedRefusal({ path: "/new_password", reason: "not_common" }),
    );
    expect(await readRefusal("not it at all", "short")).toEqual(
      expectedRefusal(
        { path: "/old_password", reason: "wrong" },
        { path: "/new_password", reason: "min_length", value: 10 },
      ),
    );
    expect([await readMeStatus(secondSignIn.token), await canRenew(secondSignIn.browser)]).toEqual([200, true]);
    expect((await signIn(person, "sign-in")).status).toBe(200);
  });

  it("uses passwords exactly as typed", async () => {
    const person = { ...buildUser(), password: "  spaces at both ends  " };
    const { token } = await signIn(person, "sign-up");
    expect((await changePassword(token, person.password.trim(), createPassword())).status).toBe(422);
    expect((await changePassword(token, person.password, createPassword())).status).toBe(204);
  });

  it("is blocked at the provider after ten wrong passwords, even for the right one", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    for (let count = 0; count < 10; count++)
      expect((await changePassword(token, "not it at all", createPassword())).status).toBe(422);
    const limitedResponse = await changePassword(token, person.password, createPassword());
    expect(limitedResponse).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(Number(limitedResponse.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("accepts one of two concurrent changes", async () => {
    const person = buildUser();
    const { token } = await signIn(person, "sign-up");
    const responses = await Promise.all([
      changePassword(token, person.password, createPassword()),
      changePassword(token, person.password, createPassword()),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 422]);
  });

  it.each([
    {},
    { old_password: "x" },
    { old_password: "", new_password: "long enough, this" },
    { old_password: "x", new_password: "y".repeat(1_025) },
    { old_password: "x", new_password: "y", more: 1 },
  ])("refuses %j", async (body) => {
    const { token } = await signIn(buildUser(), "sign-up");
    expect((await service.call("POST", "/user/change-password", token, { body })).status).toBe(422);
  });

  it("leaves no password in a log, on success and on failure", async () => {
    const person = { ...buildUser(), password: "planted sentinel before" };
    const { token } = await signIn(person, "sign-up");
    await changePassword(token, "planted sentinel wrong", "planted sentinel after");
    await changePassword(token, person.password, "planted sentinel after");
    await service.call("POST", "/user/change-password", token, {
      body: '{"old_password":"planted sentinel broken',
      headers: { "content-type": "application/json" },
    });
    expect(service.readLog() + identityProcess.output()).not.toContain("planted sentinel");
    expect(service.readLog()).toContain("/user/change-password");
  });
});

describe("GET /user/password", () => {
  it("returns the provider's rules", async () => {
    const { token } = await signIn(buildUser(), "sign-up");
    expect((await service.call("GET", "/user/password", token)).body).toEqual({
      changeable: true,
      rules: [
        { rule: "min_length", value: 10 },
        { rule: "max_length", value: 256 },
        { rule: "not_name" },
        { rule: "not_email" },
        { rule: "not_common" },
      ],
    });
  });

  it("says that passwords cannot be changed here without a configured interface", async () => {
    const serviceWithoutProvider = await startService();
    try {
      const { token } = await serviceWithoutProvider.signIn();
      expect((await serviceWithoutProvider.call("GET", "/user/password", token)).body).toEqual({
        changeable: false,
        rules: [],
      });
      expect(
        (
          await serviceWithoutProvider.call("POST", "/user/change-password", token, {
            body: { old_password: "x", new_password: "y" },
          })
        ).status,
      ).toBe(404);
    } finally {
      await serviceWithoutProvider.stop();
    }
  });
});

describe("the provider's interface", () => {
  it("requires its token", async () => {
    const person = buildUser();
    await signIn(person, "sign-up");
    const callAdmin = async (authorization?: string) => {
      const headers = { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) };
      return (
        await fetch(`${issuer}/admin/password`, { method: "POST", headers, body: JSON.stringify({ subject: "x" }) })
      ).status;
    };
    expect([await callAdmin(), await callAdmin("Bearer "), await callAdmin(`Bearer ${"x".repeat(43)}`)]).toEqual([
      401, 401, 401,
    ]);
  });

  it("is off without a token, and a service with a wrong token reports it unavailable", async () => {
    const port = await findFreePort();
    const ownDatabase = await createTestDatabase("identity_empty", () => Promise.resolve());
    const identityWithoutToken = await startProcess(await createEnvironment(ownDatabase.url, port));
    try {
      const headers = { authorization: "Bearer undefined" };
      const { status, text } = await new Visitor(headers).get(
        `http://localhost:${String(port)}/realms/relicario/admin/password-rules`,
      );
      expect({ status, words: getVisibleText({ text } as never) }).toMatchObject({ status: 404 });
    } finally {
      await identityWithoutToken.stop();
      await ownDatabase.drop();
    }
    const misconfiguredService = await startService({
      IDP_AUTHORITY: issuer,
      IDP_ADMIN: JSON.stringify({ kind: "embedded", url: issuer, token: "x".repeat(43) }),
    });
    try {
      const { accessToken } = await signIn(buildUser(), "sign-up");
      const { body } = await misconfiguredService.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: { token: accessToken },
      });
      expect(
        await misconfiguredService.call("POST", "/user/change-password", String(body["token"]), {
          body: { old_password: "x", new_password: createPassword() },
        }),
      ).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    } finally {
      await misconfiguredService.stop();
    }
  });
});
