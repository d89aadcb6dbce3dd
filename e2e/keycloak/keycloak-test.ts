import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { test as base, expect, type Page } from "@playwright/test";
import { createChild } from "@relicario/tooling/child";
import { startKeycloak, type Keycloak } from "@relicario/tooling/keycloak";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { expectHome } from "../pages/account.ts";
import { disableTours } from "../support/onboarding.ts";

/** The realm's addresses are exact, so the ports are fixed. */
const portalPort = 33_170;
const keycloakPort = portalPort + 1;
const vaultPort = portalPort + 4;

export interface KeycloakUser {
  readonly id: string;
  readonly userName: string;
  readonly password: string;
}

export interface KeycloakFixtures {
  readonly folder: string;
  readonly keycloak: Keycloak;
  readonly portal: RunningPortal;
  /** Address of a second process of the service, on the same database. */
  readonly otherService: string;
}

/** A portal that signs in at a real Keycloak; both start once for all tests. */
export const test = base.extend<object, KeycloakFixtures>({
  folder: [
    async ({}, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), "relicario-keycloak-"));
      await use(folder);
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],
  keycloak: [
    async ({ folder }, use) => {
      const keycloak = await startKeycloak({
        port: keycloakPort,
        portalOrigin: `http://localhost:${String(portalPort)}`,
        vaultOrigin: `http://localhost:${String(vaultPort)}`,
        logFile: path.join(folder, "keycloak.log"),
      });
      await use(keycloak);
      await keycloak.stop();
    },
    { scope: "worker", timeout: 1_000_000 },
  ],
  portal: [
    async ({ folder, keycloak }, use) => {
      process.env["IDP_AUTHORITY"] = keycloak.authority;
      const portal = await startPortal({
        port: portalPort,
        dataDir: path.join(folder, "data"),
        environment: { service: { IDP_ADMIN: keycloak.adminSetting, IDP_EMAIL: "adopt" } },
      });
      await use(portal);
      await portal.stop();
    },
    { scope: "worker", timeout: 600_000 },
  ],
  otherService: [
    async ({ folder, keycloak, portal }, use) => {
      const { SESSION_KEYS, RECORD_KEY } = ServiceKeys.parse(
        JSON.parse(await readFile(path.join(portal.dataDir, "keys/service.json"), "utf8")),
      );
      const service = createChild({
        name: "other-service",
        script: "api/src/main.ts",
        logFile: path.join(folder, "other-service.log"),
        onUnexpectedExit: (name, reason) => {
          throw new Error(`${name} has ended: ${reason}`);
        },
        buildEnvironment: (port) => ({
          API_PORT: String(port),
          API_BASE_URL: `${portal.origin}/api`,
          PUBLIC_ORIGIN: portal.origin,
          DATABASE_URL: portal.getDatabaseUrl("relicario"),
          OBJECTS_URL: path.join(portal.dataDir, "objects"),
          MAIL_URL: path.join(portal.dataDir, "outbox"),
          IDP_CLIENT_ID: "relicario-portal",
          IDP_ADMIN: keycloak.adminSetting,
          SESSION_KEYS: JSON.stringify(SESSION_KEYS),
          RECORD_KEY,
        }),
      });
      await service.start();
      await use(`http://127.0.0.1:${String(service.getPort())}`);
      await service.stop();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ portal }, use) => {
    await use(portal.origin);
  },
});

export { expect } from "@playwright/test";

const ServiceKeys = z.looseObject({ SESSION_KEYS: z.unknown(), RECORD_KEY: z.string() });
const Users = z.array(z.looseObject({ id: z.string() }));

/** Creates a person with a verified address, as an administrator does. */
export async function createUser(keycloak: Pick<Keycloak, "call">, { temporary = false } = {}): Promise<KeycloakUser> {
  const suffix = randomBytes(4).toString("hex");
  const [userName, password] = [`ana-${suffix}`, `correct horse ${suffix}`];
  await keycloak.call("POST", "/users", {
    username: userName,
    email: `${userName}@example.org`,
    emailVerified: true,
    enabled: true,
    firstName: "Ana",
    lastName: "Alba",
    credentials: [{ type: "password", value: password, temporary }],
  });
  const [user] = Users.parse(await keycloak.call("GET", `/users?exact=true&username=${userName}`));
  if (user === undefined) throw new Error("Keycloak has not created the user");
  return { id: user.id, userName, password };
}

/** Merges members into the portal's client, or its attributes. */
export async function changePortalClient(
  keycloak: Keycloak,
  members: Readonly<Record<string, unknown>>,
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [client] = z
    .array(z.looseObject({ id: z.string(), attributes: z.record(z.string(), z.string()) }))
    .parse(await keycloak.call("GET", "/clients?clientId=relicario-portal"));
  if (client === undefined) throw new Error("the realm has no portal");
  await keycloak.call("PUT", `/clients/${client.id}`, {
    ...client,
    ...members,
    attributes: { ...client.attributes, ...attributes },
  });
}

/** Sends Keycloak's form. The caller waits for the page that follows. */
export async function sendSignInForm(page: Page, { userName, password }: KeycloakUser): Promise<void> {
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  const name = page.getByLabel("Username or email");
  if ((await name.count()) > 0) await name.fill(userName); // a new sign-in has the name, and no field for it
  await page.getByRole("button", { name: "Sign In" }).click();
}

/** Opens the portal, which goes to Keycloak, and sends the form. */
export async function startSignIn(page: Page, user: KeycloakUser, origin = ""): Promise<void> {
  await disableTours(page);
  await page.goto(`${origin}/home`);
  await sendSignInForm(page, user);
}

/** @param origin of the portal, when it is not the test's base address */
export async function signIn(page: Page, user: KeycloakUser, origin = ""): Promise<void> {
  await startSignIn(page, user, origin);
  await expectHome(page);
}

/** The session token of this tab. */
export async function readSessionToken(page: Page): Promise<string> {
  await expect.poll(() => page.evaluate(() => sessionStorage.getItem("sessionToken"))).not.toBeNull();
  return z.string().parse(await page.evaluate(() => sessionStorage.getItem("sessionToken")));
}

/** Status of a call with a session token, past the page. */
export async function callWithToken(service: string, token: string): Promise<number> {
  return (await fetch(`${service}/user/me`, { headers: { authorization: `Bearer ${token}` } })).status;
}

/** Codes that a page redeems at Keycloak: its sign-in and its renewals. */
export function countRenewals(page: Page): () => number {
  let count = 0;
  page.on("response", (response) => {
    if (response.request().method() === "POST" && response.ok() && response.url().endsWith("/openid-connect/token"))
      count += 1;
  });
  return () => count;
}
