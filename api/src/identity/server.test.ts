import { createHash } from "node:crypto";

import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { Client } from "pg";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import {
  clientId,
  requireCode,
  demoAccount,
  createEnvironment,
  findFreePort,
  portalOrigin,
  SignInRequest,
  startProcess,
  Visitor,
  getVisibleText,
  type Environment,
  type VisitedPage,
  type RunningProcess,
} from "./test-support.ts";

let database: TestDatabase;
let environment: Environment;
let issuer: string;
let identityProcess: RunningProcess;
const metricsToken = "m".repeat(32);
/** Values that neither log nor metrics may contain. */
const sentinels = new Set<string>();

beforeAll(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  const port = await findFreePort();
  environment = { ...(await createEnvironment(database.url, port)), METRICS_TOKEN: metricsToken };
  issuer = environment["IDENTITY_ISSUER"] ?? "";
  identityProcess = await startProcess(environment);
});

afterAll(async () => {
  await identityProcess.stop();
  await database.drop();
});

const query = async (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
};

let personCount = 0;
const buildPerson = () => {
  const username = `person${String(++personCount)}`;
  return {
    username,
    email: `${username}@example.org`,
    password: `phrase of ${username} ${Math.random().toString(36).slice(2)}`,
  };
};

const findLinkUrl = (page: VisitedPage): URL =>
  new URL(/<a class="link" href="([^"]+)"/.exec(page.text)?.[1] ?? "", page.url);

const signUp = async (visitor: Visitor, person = buildPerson()) => {
  const request = new SignInRequest(issuer);
  const signInPage = await visitor.get(request.buildUrl());
  const finalPage = await visitor.submit(await visitor.get(findLinkUrl(signInPage)), person);
  sentinels.add(person.password).add(person.username).add(person.email).add(requireCode(finalPage));
  return { request, person, finalPage };
};

const signIn = async (
  visitor: Visitor,
  { name, password }: { name: string; password: string },
  parameterOverrides: Record<string, string> = {},
) => {
  const request = new SignInRequest(issuer);
  const finalPage = await visitor.submit(await visitor.get(request.buildUrl(parameterOverrides)), { name, password });
  return { request, finalPage };
};

const redeemTokens = async (request: SignInRequest, page: VisitedPage) => {
  const response = await request.redeem(requireCode(page));
  expect(response.status).toBe(200);
  const tokens = (await response.json()) as {
    access_token: string;
    id_token: string;
    expires_in: number;
    refresh_token?: string;
  };
  sentinels.add(tokens.access_token).add(tokens.id_token);
  return tokens;
};

const createIssuerKeySet = () => createRemoteJWKSet(new URL(`${issuer}/jwks`));

describe("discovery", () => {
  it("lists every endpoint that the sign-in client uses, only the code flow with S256, and both languages", async () => {
    const response = await fetch(`${issuer}/.well-known/openid-configuration`, { headers: { Origin: portalOrigin } });
    expect(response.headers.get("access-control-allow-origin")).toBe(portalOrigin);
    expect(await response.json()).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/me`,
      revocation_endpoint: `${issuer}/token/revocation`,
      end_session_endpoint: `${issuer}/session/end`,
      jwks_uri: `${issuer}/jwks`,
      check_session_iframe: `${issuer}/session/check`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      ui_locales_supported: ["en", "es"],
    });
  });

  it("publishes no private key", async () => {
    const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: Record<string, unknown>[] };
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  });
});

describe("the code flow", () => {
  it("creates an account and gives tokens that the service can verify", async () => {
    const { request, person, finalPage } = await signUp(new Visitor());
    expect(finalPage.url.searchParams.get("state")).toBe(request.state);
    expect(finalPage.url.searchParams.get("iss")).toBe(issuer);
    const tokens = await redeemTokens(request, finalPage);
    expect(tokens).toMatchObject({ expires_in: 300, token_type: "Bearer" });
    expect(tokens.refresh_token).toBeUndefined();

    const verifiedAccessToken = await jwtVerify(tokens.access_token, createIssuerKeySet(), {
      issuer,
      audience: "relicario-api",
      algorithms: ["RS256"],
      typ: "at+jwt",
    });
    expect(verifiedAccessToken.payload).toMatchObject({
      azp: clientId,
      client_id: clientId,
      preferred_username: person.username,
      email: person.email,
    });
    expect(verifiedAccessToken.payload.sub).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect((verifiedAccessToken.payload.exp ?? 0) - (verifiedAccessToken.payload.iat ?? 0)).toBe(300);

    const id = await jwtVerify(tokens.id_token, createIssuerKeySet(), {
      issuer,
      audience: clientId,
      algorithms: ["RS256"],
    });
    expect(id.payload).toMatchObject({
      sub: verifiedAccessToken.payload.sub,
      nonce: request.nonce,
      preferred_username: person.username,
      email: person.email,
      email_verified: false,
    });
    expect(id.payload["auth_time"]).toEqual(verifiedAccessToken.payload["auth_time"]);
    expect(typeof id.payload["auth_time"]).toBe("number");
    expect(decodeProtectedHeader(tokens.id_token).kid).toBe(decodeProtectedHeader(tokens.access_token).kid);
  });

  it.each([
    ["the user name", demoAccount.username],
    ["the user name in capitals", "DEMO"],
    ["the e-mail", demoAccount.email],
  ])("signs in with %s", async (_case, name) => {
    const { request, finalPage } = await signIn(new Visitor(), { name, password: demoAccount.password });
    const { access_token } = await redeemTokens(request, finalPage);
    const { payload } = await jwtVerify(access_token, createIssuerKeySet());
    expect(payload["preferred_username"]).toBe("demo");
  });

  it("keeps two sign-ins of one browser separate", async () => {
    const visitor = new Visitor();
    const [firstRequest, secondRequest] = [new SignInRequest(issuer), new SignInRequest(issuer)];
    const firstPage = await visitor.get(firstRequest.buildUrl());
    const secondPage = await visitor.get(secondRequest.buildUrl());
    const person = { name: demoAccount.username, password: demoAccount.password };
    await redeemTokens(firstRequest, await visitor.submit(firstPage, person));
    expect((await visitor.submit(secondPage, person)).url.origin).toBe(portalOrigin);
  });

  it("refuses a request without PKCE, or with the plain method", async () => {
    const request = new SignInRequest(issuer);
    const pageWithoutPkce = await new Visitor().get(
      request.buildUrl({ code_challenge: null, code_challenge_method: null }),
    );
    expect([
      pageWithoutPkce.url.origin,
      pageWithoutPkce.url.searchParams.get("error"),
      pageWithoutPkce.url.searchParams.get("code"),
    ]).toEqual([portalOrigin, "invalid_request", null]);
    const pageWithPlainPkce = await new Visitor().get(request.buildUrl({ code_challenge_method: "plain" }));
    expect(pageWithPlainPkce.url.searchParams.get("error")).toBe("invalid_request");
  });

  it.each(["token", "id_token", "code id_token"])("refuses the response type %s", async (response_type) => {
    const page = await new Visitor().get(new SignInRequest(issuer).buildUrl({ response_type }));
    expect(page.url.href).toMatch(/error=(unsupported_response_type|unauthorized_client)/);
  });

  it("refuses a foreign redirect URI without redirecting there", async () => {
    const page = await new Visitor().get(new SignInRequest(issuer).buildUrl({ redirect_uri: "https://evil.example/" }));
    expect(page.status).toBe(400);
    expect(page.url.origin).toBe(new URL(issuer).origin);
    expect(page.headers.get("location")).toBeNull();
    expect(getVisibleText(page)).toContain("You can't sign in this way");
    expect(getVisibleText(page)).toContain("invalid_redirect_uri");
    expect(page.text).not.toContain("evil.example");
  });

  it("redeems a code once, with the right verifier", async () => {
    const { request, finalPage } = await signUp(new Visitor());
    const wrongVerifierResponse = await request.redeem(requireCode(finalPage), { code_verifier: "x".repeat(43) });
    expect([wrongVerifierResponse.status, await wrongVerifierResponse.json()]).toEqual([
      400,
      expect.objectContaining({ error: "invalid_grant" }),
    ]);
    const responses = await Promise.all(Array.from({ length: 6 }, () => request.redeem(requireCode(finalPage))));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it("allows only the portal's pages to call the token endpoint", async () => {
    const allowedSignUp = await signUp(new Visitor());
    const allowedResponse = await allowedSignUp.request.redeem(
      requireCode(allowedSignUp.finalPage),
      {},
      { Origin: portalOrigin },
    );
    expect([allowedResponse.status, allowedResponse.headers.get("access-control-allow-origin")]).toEqual([
      200,
      portalOrigin,
    ]);
    const refusedSignUp = await signUp(new Visitor());
    const refusedResponse = await refusedSignUp.request.redeem(
      requireCode(refusedSignUp.finalPage),
      {},
      { Origin: "https://evil.example" },
    );
    expect([refusedResponse.status, refusedResponse.headers.get("access-control-allow-origin")]).toEqual([400, null]);
  });
});

describe("signing in again", () => {
  const demoPerson = { name: demoAccount.username, password: demoAccount.password };
  const reauthenticate = async (visitor: Visitor, idToken: string) => {
    const request = new SignInRequest(issuer);
    return {
      request,
      page: await visitor.get(
        request.buildUrl({
          prompt: "login",
          max_age: "0",
          id_token_hint: idToken,
          redirect_uri: `${portalOrigin}/silent-renew.html`,
        }),
      ),
    };
  };

  it("asks for the password despite a session, and puts the time of the sign-in into the ID token", async () => {
    const visitor = new Visitor();
    const firstSignIn = await signIn(visitor, demoPerson);
    const tokensBefore = await redeemTokens(firstSignIn.request, firstSignIn.finalPage);
    const { request, page } = await reauthenticate(visitor, tokensBefore.id_token);
    expect(getVisibleText(page)).toContain("Confirm that it is you");
    expect(getVisibleText(page)).not.toContain("Create account");
    expect(page.text).toMatch(/<input id="name"[^>]* value="demo"/);
    const startedAt = Math.floor(Date.now() / 1000);
    const finalPage = await visitor.submit(page, { password: demoAccount.password });
    expect(finalPage.url.pathname).toBe("/silent-renew.html");
    const response = await request.redeem(requireCode(finalPage), {
      redirect_uri: `${portalOrigin}/silent-renew.html`,
    });
    const { id_token, access_token } = (await response.json()) as { id_token: string; access_token: string };
    const [idClaims, accessClaims] = await Promise.all(
      [id_token, access_token].map(async (token) => (await jwtVerify(token, createIssuerKeySet())).payload),
    );
    expect(idClaims?.["auth_time"]).toBeGreaterThanOrEqual(startedAt);
    expect(accessClaims?.["auth_time"]).toBe(idClaims?.["auth_time"]);
  });

  it("accepts no other account, keeps the session, and offers no sign-up", async () => {
    const visitor = new Visitor();
    const first = await signIn(visitor, demoPerson);
    const tokens = await redeemTokens(first.request, first.finalPage);
    const otherSignUp = await signUp(new Visitor());
    const { page } = await reauthenticate(visitor, tokens.id_token);
    const refusedPage = await visitor.submit(page, {
      name: otherSignUp.person.username,
      password: otherSignUp.person.password,
    });
    expect(refusedPage.status).toBe(403);
    expect(getVisibleText(refusedPage)).toContain("That is another account. To continue, sign in as demo.");
    expect(getVisibleText(await visitor.get(`${page.url.href}/sign-up`))).toContain("Confirm that it is you");
    const silentRequest = new SignInRequest(issuer);
    const { id_token } = await redeemTokens(
      silentRequest,
      await visitor.get(silentRequest.buildUrl({ prompt: "none" })),
    );
    expect((await jwtVerify(id_token, createIssuerKeySet())).payload["preferred_username"]).toBe("demo");
  });
});

describe("the session id in an access token", () => {
  it("is the same for every renewal of a sign-in, and differs after a new sign-in", async () => {
    const readSid = async (request: SignInRequest, page: VisitedPage) =>
      (await jwtVerify((await redeemTokens(request, page)).access_token, createIssuerKeySet())).payload["sid"];
    const visitor = new Visitor();
    const first = await signIn(visitor, { name: demoAccount.username, password: demoAccount.password });
    const sid = await readSid(first.request, first.finalPage);
    expect(sid).toEqual(expect.stringMatching(/^[\w-]{21,}$/));
    const silentRequest = new SignInRequest(issuer);
    expect(await readSid(silentRequest, await visitor.get(silentRequest.buildUrl({ prompt: "none" })))).toBe(sid);
    const otherSignIn = await signIn(new Visitor(), { name: demoAccount.username, password: demoAccount.password });
    expect(await readSid(otherSignIn.request, otherSignIn.finalPage)).not.toBe(sid);
  });
});

describe("userinfo and revocation", () => {
  it("answers the holder of an access token, and 401 to anything else", async () => {
    const { request, person, finalPage } = await signUp(new Visitor());
    const { access_token } = await redeemTokens(request, finalPage);
    const response = await fetch(`${issuer}/me`, {
      headers: { Authorization: `Bearer ${access_token}`, Origin: portalOrigin },
    });
    expect(await response.json()).toMatchObject({
      preferred_username: person.username,
      email: person.email,
      email_verified: false,
    });
    expect(response.headers.get("access-control-allow-origin")).toBe(portalOrigin);
    const replacementCharacter = access_token.at(-10) === "A" ? "B" : "A";
    const alteredToken = `${access_token.slice(0, -10)}${replacementCharacter}${access_token.slice(-9)}`;
    expect((await fetch(`${issuer}/me`, { headers: { Authorization: `Bearer ${alteredToken}` } })).status).toBe(401);
    expect((await fetch(`${issuer}/me`)).status).toBe(401);
  });

  it("refuses an ID token in place of an access token", async () => {
    const { request, finalPage } = await signUp(new Visitor());
    const { id_token } = await redeemTokens(request, finalPage);
    expect((await fetch(`${issuer}/me`, { headers: { Authorization: `Bearer ${id_token}` } })).status).toBe(401);
  });

  it("says that a JWT cannot be revoked", async () => {
    const { request, finalPage } = await signUp(new Visitor());
    const { access_token } = await redeemTokens(request, finalPage);
    const response = await fetch(`${issuer}/token/revocation`, {
      method: "POST",
      body: new URLSearchParams({ token: access_token, client_id: clientId }),
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ error: "unsupported_token_type" }),
    ]);
  });
});

describe("the sign-in page", () => {
  it.each([
    ["en", "Wrong user name or password.", "Sign-in for trials. Not for production."],
    ["es", "Nombre de usuario o contraseña incorrectos.", "No usar en producción."],
  ])("keeps the name, and reports a wrong password in %s", async (ui_locales, sentence, footer) => {
    const { finalPage } = await signIn(
      new Visitor({ "Accept-Language": "fr" }),
      { name: "demo", password: "not the phrase" },
      { ui_locales },
    );
    expect(finalPage.status).toBe(401);
    expect(finalPage.text).toContain(`<html lang="${ui_locales}"`);
    expect(getVisibleText(finalPage)).toContain(sentence);
    expect(getVisibleText(finalPage)).toContain(footer);
    expect(finalPage.text).toMatch(/<input id="name"[^>]* value="demo"/);
    expect(finalPage.text).not.toContain("not the phrase");
    expect(finalPage.headers.get("cache-control")).toBe("no-store");
  });

  it("gives the same response for an unknown name as for a wrong password", async () => {
    const knownUserResult = await signIn(new Visitor(), { name: "demo", password: "not the phrase" });
    const unknownUserResult = await signIn(new Visitor(), { name: "omed", password: "not the phrase" });
    const stripNames = (page: VisitedPage) =>
      page.text.replaceAll(/interaction\/[\w-]+/g, "").replaceAll(/demo|omed/g, "");
    expect(stripNames(unknownUserResult.finalPage)).toBe(stripNames(knownUserResult.finalPage));
    expect(unknownUserResult.finalPage.status).toBe(knownUserResult.finalPage.status);
  });

  it("shows markup in a name as text", async () => {
    const name = `"><script>alert(1)</script>'&amp;`;
    const { finalPage } = await signIn(new Visitor(), { name, password: "not the phrase" });
    expect(finalPage.text).not.toContain("<script");
    expect(finalPage.text).toContain(`value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;amp;"`);
  });

  it("says next to each field which input is missing", async () => {
    const { finalPage } = await signIn(new Visitor(), { name: " ", password: "" });
    expect(finalPage.status).toBe(422);
    expect(getVisibleText(finalPage)).toContain("Enter your user name or e-mail.");
    expect(getVisibleText(finalPage)).toContain("Enter a password.");
    expect(finalPage.text).toMatch(/<input id="name"[^>]* aria-describedby="name-problem" aria-invalid="true"/);
  });

  it("uses the browser's language unless the portal names one, and the portal's theme", async () => {
    const page = await new Visitor({ "Accept-Language": "es-MX,es;q=0.9,en;q=0.8" }).get(
      new SignInRequest(issuer).buildUrl({ theme: "dark" }),
    );
    expect(page.text).toContain('<html lang="es" data-theme="dark">');
    const pageWithOddHint = await new Visitor().get(
      new SignInRequest(issuer).buildUrl({ theme: '"><script>', ui_locales: "xx fr" }),
    );
    expect(pageWithOddHint.text).toContain('<html lang="en">');
  });

  it("fills in the portal's login hint", async () => {
    const page = await new Visitor().get(new SignInRequest(issuer).buildUrl({ login_hint: "ana@example.org" }));
    expect(page.text).toMatch(/<input id="name"[^>]* value="ana@example.org"/);
    expect((await new Visitor().get(findLinkUrl(page))).status).toBe(400); // another browser
  });

  it("cannot be framed, runs no script, and submits only to itself and the portal", async () => {
    const page = await new Visitor().get(new SignInRequest(issuer).buildUrl());
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain(`form-action 'self' ${portalOrigin};`);
    expect(policy).not.toMatch(/unsafe|sha256/);
    expect(page.text).not.toMatch(/<script|<style| style=| on\w+=/);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    for (const [, address = ""] of page.text.matchAll(/<link[^>]* href="([^"]+)"/g)) {
      const asset = await fetch(new URL(address, page.url));
      expect([asset.status, asset.headers.get("cache-control")]).toEqual([200, "public, max-age=3600"]);
    }
  });

  it("refuses a form from another site", async () => {
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { Origin: "https://evil.example" },
      { Origin: "null" },
    ]) {
      const visitor = new Visitor();
      const page = await visitor.get(new SignInRequest(issuer).buildUrl());
      const finalPage = await visitor.submit(
        page,
        { name: demoAccount.username, password: demoAccount.password },
        headers,
      );
      expect(finalPage.status).toBe(403);
      expect(visitor.cookie("relicario_session")).toBeUndefined();
    }
  });

  it("refuses bodies that are not forms, and forms that are too large", async () => {
    const visitor = new Visitor();
    const page = await visitor.get(new SignInRequest(issuer).buildUrl());
    expect((await visitor.submit(page, {}, { "Content-Type": "application/json" })).status).toBe(415);
    expect((await visitor.submit(page, { name: "x".repeat(20_000) })).status).toBe(413);
    const pageAfterNul = await visitor.submit(page, { name: "de\0mo", password: "not the phrase" });
    expect(pageAfterNul.status).toBe(401);
  });

  it("has expired for another browser, and links back to the portal", async () => {
    const page = await new Visitor().get(new SignInRequest(issuer).buildUrl());
    const other = await new Visitor({ "Accept-Language": "es" }).submit(page, {
      name: demoAccount.username,
      password: demoAccount.password,
    });
    expect(other.status).toBe(400);
    expect(getVisibleText(other)).toContain("Esta página ha caducado");
    expect(other.text).toContain(`href="${portalOrigin}/"`);
  });
});

describe("the sign-up page", () => {
  const openSignUp = async (visitor: Visitor, ui_locales = "en") =>
    visitor.get(findLinkUrl(await visitor.get(new SignInRequest(issuer).buildUrl({ ui_locales }))));

  it("shows the rules before any error", async () => {
    const pageText = getVisibleText(await openSignUp(new Visitor()));
    expect(pageText).toContain("At least 10 characters. Not your user name, and not a common password.");
    expect(pageText).toContain("3 to 40 letters and digits");
  });

  it.each([
    ["a short password", { password: "corta" }, "Demasiado corta: usa al menos 10 caracteres."],
    [
      "the user name as password",
      { username: "maria.garcia", password: "Maria.Garcia" },
      "La contraseña no puede ser tu nombre de usuario ni tu correo.",
    ],
    ["a common password", { password: "Contraseña123" }, "Esta contraseña es demasiado común y fácil de adivinar."],
    ["a taken user name", { username: "Demo" }, "Este nombre de usuario ya está en uso."],
    ["a taken e-mail", { email: "Demo@Example.org" }, "Ya hay una cuenta con este correo."],
    ["a malformed user name", { username: "<b>ana</b>" }, "Usa de 3 a 40 letras y números."],
    ["a malformed e-mail", { email: "ana@" }, "Escribe una dirección completa"],
    ["nothing", { username: "", email: "", password: "" }, "Elige un nombre de usuario."],
  ])("explains a refused %s, and keeps what was typed", async (_case, wrong, sentence) => {
    const visitor = new Visitor();
    const submittedFields = { ...buildPerson(), ...wrong };
    const page = await visitor.submit(await openSignUp(visitor, "es"), submittedFields);
    expect(page.status).toBe(422);
    expect(getVisibleText(page)).toContain(sentence);
    const fieldValue = (name: string) =>
      new RegExp(`<input id="${name}"[^>]* value="([^"]*)"`).exec(page.text)?.[1] ?? "";
    expect([fieldValue("username").replaceAll("&lt;", "<").replaceAll("&gt;", ">"), fieldValue("email")]).toEqual([
      submittedFields.username,
      submittedFields.email,
    ]);
    expect(page.text).not.toMatch(/type="password"[^>]* value=/);
    expect(page.text).not.toContain("<b>");
  });

  it("creates one account for concurrent submissions of a form", async () => {
    const person = buildPerson();
    const pages = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const visitor = new Visitor();
        return visitor.submit(await openSignUp(visitor), person);
      }),
    );
    expect(pages.filter((page) => page.url.origin === portalOrigin)).toHaveLength(1);
    expect(pages.filter((page) => page.status === 422)).toHaveLength(3);
  });

  it("stores no password, only an Argon2id hash", async () => {
    const { person } = await signUp(new Visitor());
    const [row] = await query("select * from accounts where username = $1", [person.username]);
    expect(row?.["password_hash"]).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(JSON.stringify(row)).not.toContain(person.password);
  });
});

describe("the session", () => {
  it("answers prompt=none with a code when signed in, and login_required when not", async () => {
    const visitor = new Visitor();
    const pageAfterSignOut = await visitor.get(new SignInRequest(issuer).buildUrl({ prompt: "none" }));
    expect([pageAfterSignOut.url.origin, pageAfterSignOut.url.searchParams.get("error")]).toEqual([
      portalOrigin,
      "login_required",
    ]);
    await signUp(visitor);
    const request = new SignInRequest(issuer);
    const silentPage = await visitor.get(
      request.buildUrl({ prompt: "none", redirect_uri: `${portalOrigin}/silent-renew.html` }),
    );
    expect(silentPage.url.pathname).toBe("/silent-renew.html");
    expect(
      (await request.redeem(requireCode(silentPage), { redirect_uri: `${portalOrigin}/silent-renew.html` })).status,
    ).toBe(200);
  });

  it("asks again, with the name filled in, for prompt=login and beyond max_age", async () => {
    const visitor = new Visitor();
    const { person, request, finalPage } = await signUp(visitor);
    const claimsBefore = await jwtVerify((await redeemTokens(request, finalPage)).access_token, createIssuerKeySet());
    expect((await visitor.get(new SignInRequest(issuer).buildUrl({ max_age: "600" }))).url.origin).toBe(portalOrigin);
    await query(
      "update provider_records set payload = jsonb_set(payload, '{loginTs}', to_jsonb((payload->>'loginTs')::int - 1000)) where model = 'Session' and payload->>'accountId' = $1",
      [claimsBefore.payload.sub],
    );
    const silentPage = await visitor.get(new SignInRequest(issuer).buildUrl({ max_age: "600", prompt: "none" }));
    expect(silentPage.url.searchParams.get("error")).toBe("login_required");
    for (const changes of [{ max_age: "600" }, { prompt: "login" }]) {
      const repeatedRequest = new SignInRequest(issuer);
      const page = await visitor.get(repeatedRequest.buildUrl(changes));
      expect(page.text).toContain(`value="${person.username}"`);
      const verifiedIdToken = await jwtVerify(
        (await redeemTokens(repeatedRequest, await visitor.submit(page, { password: person.password }))).access_token,
        createIssuerKeySet(),
      );
      expect(verifiedIdToken.payload.sub).toBe(claimsBefore.payload.sub);
      expect(Number(verifiedIdToken.payload["auth_time"])).toBeGreaterThanOrEqual(
        Number(claimsBefore.payload["auth_time"]),
      );
    }
  });

  it("does not renew silently when the hint names another subject", async () => {
    const other = await signUp(new Visitor());
    const { id_token } = await redeemTokens(other.request, other.finalPage);
    const visitor = new Visitor();
    await signUp(visitor);
    const page = await visitor.get(new SignInRequest(issuer).buildUrl({ prompt: "none", id_token_hint: id_token }));
    expect(page.url.searchParams.get("error")).toBe("login_required");
  });

  it("switches accounts when another person signs in", async () => {
    const visitor = new Visitor();
    await signUp(visitor);
    const request = new SignInRequest(issuer);
    const nextPage = await visitor.submit(await visitor.get(request.buildUrl({ prompt: "login" })), {
      name: demoAccount.username,
      password: demoAccount.password,
    });
    // the library signs the former account out first
    const finalPage = nextPage.url.origin === portalOrigin ? nextPage : await visitor.submit(nextPage);
    const { payload } = await jwtVerify((await redeemTokens(request, finalPage)).access_token, createIssuerKeySet());
    expect(payload["preferred_username"]).toBe("demo");
  });

  it("gives a session_state that matches the readable cookie, and a page that compares them", async () => {
    const visitor = new Visitor();
    const { finalPage } = await signUp(visitor);
    const state = finalPage.url.searchParams.get("session_state") ?? "";
    const salt = state.split(".")[1] ?? "";
    const cookie = visitor.cookie("relicario_browser_state") ?? "";
    expect(state).toBe(
      `${createHash("sha256").update(`${clientId} ${portalOrigin} ${cookie} ${salt}`).digest("base64url")}.${salt}`,
    );
    const page = await visitor.get(`${issuer}/session/check`);
    expect(page.headers.get("content-security-policy")).toContain(`frame-ancestors ${portalOrigin}`);
    expect(page.headers.get("x-frame-options")).toBeNull();
    const script = /<script>([\s\S]*)<\/script>/.exec(page.text)?.[1] ?? "";
    expect(page.headers.get("content-security-policy")).toContain(
      `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    );
    await visitor.get(new SignInRequest(issuer).buildUrl({ prompt: "none" }));
    expect(visitor.cookie("relicario_browser_state")).toBe(cookie); // a renewal does not change it
  });

  it("survives a restart of the process", async () => {
    const visitor = new Visitor();
    const { request, finalPage, person } = await signUp(visitor);
    const { id_token } = await redeemTokens(request, finalPage);
    const pendingRequest = new SignInRequest(issuer);
    const otherVisitor = new Visitor();
    const page = await otherVisitor.get(pendingRequest.buildUrl());
    expect(await identityProcess.stop()).toBe(0);
    sentinels.forEach((sentinel) => {
      expect(identityProcess.output()).not.toContain(sentinel);
    });
    identityProcess = await startProcess(environment);
    const renewalRequest = new SignInRequest(issuer);
    const tokens = await redeemTokens(
      renewalRequest,
      await visitor.get(renewalRequest.buildUrl({ prompt: "none", id_token_hint: id_token })),
    );
    await jwtVerify(tokens.access_token, createIssuerKeySet(), { audience: "relicario-api" });
    await redeemTokens(
      pendingRequest,
      await otherVisitor.submit(page, { name: person.username, password: person.password }),
    );
  });
});

describe("signing out", () => {
  it("needs no confirmation when the portal proves who is signed in, and returns to the portal", async () => {
    const visitor = new Visitor();
    const { request, finalPage } = await signUp(visitor);
    const { id_token } = await redeemTokens(request, finalPage);
    const address = new URL(`${issuer}/session/end`);
    address.search = new URLSearchParams({
      id_token_hint: id_token,
      post_logout_redirect_uri: `${portalOrigin}/`,
      state: "bye",
      ui_locales: "es",
    }).toString();
    const page = await visitor.get(address);
    expect(getVisibleText(page)).toContain("Cerrando tu sesión");
    const script = /<script>([\s\S]*)<\/script>/.exec(page.text)?.[1] ?? "";
    expect(script).toContain("click()");
    expect(page.headers.get("content-security-policy")).toContain(
      `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    );
    const nextPage = await visitor.submit(page);
    expect(nextPage.url.href).toBe(`${portalOrigin}/?state=bye`);
    expect(visitor.cookie("relicario_session")).toBeUndefined();
    expect(visitor.cookie("relicario_browser_state")).toBeUndefined();
    const silentPage = await visitor.get(new SignInRequest(issuer).buildUrl({ prompt: "none" }));
    expect(silentPage.url.searchParams.get("error")).toBe("login_required");
  });

  it("asks for confirmation when the portal does not prove who is signed in", async () => {
    const visitor = new Visitor();
    await signUp(visitor);
    const page = await visitor.get(`${issuer}/session/end?client_id=${clientId}`);
    expect(getVisibleText(page)).toContain("Do you want to sign out of Relicario in this browser?");
    expect(page.text).not.toContain("<script");
    expect(page.text).toContain(`href="${portalOrigin}/"`);
    expect(
      (await visitor.get(new SignInRequest(issuer).buildUrl({ prompt: "none" }))).url.searchParams.has("code"),
    ).toBe(true);
  });

  it("does not redirect to a foreign URL", async () => {
    const visitor = new Visitor();
    await signUp(visitor);
    const page = await visitor.get(
      `${issuer}/session/end?client_id=${clientId}&post_logout_redirect_uri=${encodeURIComponent("https://evil.example/")}`,
    );
    expect(page.status).toBe(400);
    expect(page.text).not.toContain("evil.example");
  });
});

describe("wrong passwords", () => {
  it("never keep the process from starting", async () => {
    for (let startCount = 0; startCount < 2; startCount++) {
      await identityProcess.stop();
      await query("update attempts set count = 1000, ends_at = now() + interval '1 hour'"); // as after many starts
      identityProcess = await startProcess(environment);
    }
    await query("delete from attempts");
  });

  it("slow down that IP address for that account, with an explanation, also after a restart", async () => {
    const { person } = await signUp(new Visitor());
    for (let attempt = 0; attempt < 10; attempt++)
      expect(
        (await signIn(new Visitor(), { name: person.username, password: "not the phrase" })).finalPage.status,
      ).toBe(401);
    await query("update attempts set next_at = now() + interval '50 seconds' where count >= 10"); // restarts take time
    await identityProcess.stop();
    identityProcess = await startProcess(environment);
    const { finalPage } = await signIn(
      new Visitor(),
      { name: person.email, password: person.password },
      { ui_locales: "es" },
    );
    expect(finalPage.status).toBe(429);
    expect(Number(finalPage.headers.get("retry-after"))).toBeGreaterThan(10);
    expect(getVisibleText(finalPage)).toMatch(/Demasiados intentos\. Espera un minuto e inténtalo de nuevo\./);
    expect(finalPage.text).toContain(`value="${person.email}"`);
    expect(
      (await signIn(new Visitor(), { name: demoAccount.username, password: demoAccount.password })).finalPage.url
        .origin,
    ).toBe(portalOrigin);
    await query("update attempts set next_at = now()");
    expect(
      (await signIn(new Visitor(), { name: person.username, password: person.password })).finalPage.url.origin,
    ).toBe(portalOrigin);
  });

  it("do not lock the person out of a known browser; an unknown browser is asked for user name and e-mail", async () => {
    const ownBrowser = new Visitor();
    const { person } = await signUp(ownBrowser);
    for (let attempt = 0; attempt < 20; attempt++) {
      await signIn(new Visitor(), { name: person.username, password: "not the phrase" });
      await query("update attempts set next_at = now()");
    }
    const known = await signIn(ownBrowser, { name: person.username, password: person.password }, { prompt: "login" });
    expect(known.finalPage.url.origin).toBe(portalOrigin);
    const visitor = new Visitor();
    const asked = await signIn(visitor, { name: person.username, password: person.password });
    expect(asked.finalPage.status).toBe(401);
    expect(getVisibleText(asked.finalPage)).toContain("To continue, enter both your user name and your e-mail.");
    expect(asked.finalPage.text).toMatch(/<label for="other_name">E-mail<\/label>/);
    const answered = await visitor.submit(asked.finalPage, { other_name: person.email, password: person.password });
    expect(answered.url.origin).toBe(portalOrigin);
    await query("delete from attempts");
  });
});

describe("limits of an IP address", () => {
  it("answer further requests for a sign-in page with a page that says so, and store no row", async () => {
    const visitor = new Visitor({ "Accept-Language": "es" });
    await query("delete from attempts");
    await visitor.get(new SignInRequest(issuer).buildUrl());
    await query("update attempts set count = 600 where count = 1");
    const [before] = await query("select count(*)::int as count from provider_records");
    const page = await visitor.get(new SignInRequest(issuer).buildUrl());
    expect(page.status).toBe(429);
    expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(getVisibleText(page)).toContain("Esta página está demasiado ocupada");
    expect(await query("select count(*)::int as count from provider_records")).toEqual([before]);
    await query("delete from attempts");
  });

  it("trust X-Forwarded-For only from a trusted proxy", async () => {
    const forwarded = { "X-Forwarded-For": "203.0.113.9" };
    const countAttempts = async () => (await query("select count(*)::int as count from attempts"))[0]?.["count"];
    await query("delete from attempts");
    await new Visitor().get(new SignInRequest(issuer).buildUrl());
    await new Visitor(forwarded).get(new SignInRequest(issuer).buildUrl());
    expect(await countAttempts()).toBe(1);
    await identityProcess.stop();
    identityProcess = await startProcess({ ...environment, TRUSTED_PROXIES: "loopback" });
    await new Visitor(forwarded).get(new SignInRequest(issuer).buildUrl());
    expect(await countAttempts()).toBe(2);
    await identityProcess.stop();
    identityProcess = await startProcess(environment);
    await query("delete from attempts");
  });
});

describe("the process", () => {
  it("answers only requests for its own host, except for its public keys", async () => {
    const port = new URL(issuer).port;
    const keys = await fetch(`http://127.0.0.1:${port}/realms/relicario/jwks`);
    expect({ status: keys.status, body: await keys.json() }).toEqual({
      status: 200,
      body: await (await fetch(`${issuer}/jwks`)).json(),
    });
    const other = await fetch(`http://127.0.0.1:${port}/realms/relicario/.well-known/openid-configuration`);
    expect(other.status).toBe(421);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  it("shows its metrics under any host, to the bearer of the token", async () => {
    await fetch(`${issuer}/jwks?planted=1`);
    const address = `http://127.0.0.1:${new URL(issuer).port}/metrics`;
    for (const headers of [{}, { authorization: `Bearer ${metricsToken}m` }])
      expect((await fetch(address, { headers })).status).toBe(401);
    const response = await fetch(address, { headers: { authorization: `Bearer ${metricsToken}` } });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toMatch(
      /^http_server_request_duration_seconds_count\{http_request_method="GET",http_route="\/realms\/relicario\/\*",http_response_status_code="200"\} \d/m,
    );
    expect(text).toMatch(/^db_client_connection_count\{state="idle"\} [1-9]/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    expect(text).not.toContain("planted");
  });

  it("logs a request by pattern and an id that a stranger's traceparent does not choose", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    await fetch(`${issuer}/jwks?request=logged`, {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: "planted=state" },
    });
    const lines = identityProcess
      .output()
      .split("\n")
      .filter((line) => line.includes("/jwks"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1)).toEqual({
      level: 30,
      time: expect.any(Number) as number,
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      method: "GET",
      route: "/realms/relicario/jwks",
      status: 200,
      ms: expect.any(Number) as number,
      msg: "answered",
    });
    expect(identityProcess.output()).not.toContain(traceId);
  });

  it("has a page for unknown paths", async () => {
    for (const path of ["/", "/realms/relicario", "/realms/relicario/nothing", "/realms/relicariox/auth"]) {
      const page = await new Visitor().get(new URL(path, issuer));
      expect([page.status, getVisibleText(page)]).toEqual([404, expect.stringContaining("Page not found")]);
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("logs and measures neither names nor passwords, codes, tokens or cookies", async () => {
    const visitor = new Visitor();
    const { request, finalPage } = await signUp(visitor);
    await redeemTokens(request, finalPage);
    await signIn(new Visitor(), { name: "a-name-in-no-log", password: "a-phrase-in-no-log" });
    const metrics = await fetch(new URL("/metrics", issuer), { headers: { authorization: `Bearer ${metricsToken}` } });
    const metricsText = await metrics.text();
    expect(metricsText).toContain('http_route="/realms/relicario/interaction/:uid');
    for (const secret of [
      ...[...sentinels, ...visitor.cookies(), request.state, metricsToken],
      ...["a-name-in-no-log", "a-phrase-in-no-log"],
    ])
      expect([identityProcess.output().includes(secret), metricsText.includes(secret)]).toEqual([false, false]);
    expect(identityProcess.output()).toContain('"msg":"signed up"'); // the log is not empty
    await fetch(`${issuer}/planted-path?planted-query`);
    await fetch(new URL("/planted-path", issuer));
    await fetch(`${issuer}/auth/planted-path`);
    expect(identityProcess.output()).not.toContain("planted");
  });

  it("can start twice at once on an empty database", async () => {
    const emptyDatabase = await createTestDatabase("identity_empty", () => Promise.resolve());
    const processes = await Promise.all(
      [findFreePort(), findFreePort()].map(async (port) =>
        startProcess(await createEnvironment(emptyDatabase.url, await port)),
      ),
    );
    expect(await Promise.all(processes.map((startedProcess) => startedProcess.stop()))).toEqual([0, 0]);
    await emptyDatabase.drop();
  });

  it("reports invalid settings in one line, without their values", async () => {
    const wrong = {
      ...environment,
      IDENTITY_ISSUER: "http://localhost:1",
      IDENTITY_KEYS: "no json of mine",
      COOKIE_KEYS: "",
    };
    const startFailure = await startProcess(wrong).then(
      () => "",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
    expect(startFailure.trim().split("\n")).toHaveLength(1);
    for (const name of ["IDENTITY_ISSUER", "IDENTITY_KEYS", "COOKIE_KEYS"]) expect(startFailure).toContain(name);
    expect(startFailure).not.toContain("no json of mine");
  });

  it("reports a port in use in one line", async () => {
    await expect(startProcess(environment)).rejects.toThrow(
      /^identity provider: port \d+ is in use; stop what uses it or choose another PORT\s*$/,
    );
  });
});
