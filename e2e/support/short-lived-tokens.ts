import type { Page } from "@playwright/test";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { test as base } from "./portal-test.ts";

/**
 * Lifetimes in seconds. Access tokens are renewed at four fifths of theirs, session tokens at nine
 * tenths.
 */
export interface Lifetimes {
  readonly accessToken: number;
  readonly sessionToken: number;
}

/** Read at each start, so that a test may change it. */
export interface Environments {
  identity: Record<string, string>;
  service: Record<string, string>;
}

/** A portal with short-lived tokens; set by `test.use({ lifetimes })` at the top of a file. */
export const test = base.extend<
  object,
  { readonly lifetimes: Lifetimes; readonly environments: Environments; readonly portal: RunningPortal }
>({
  lifetimes: [
    { accessToken: 12, sessionToken: 10 },
    { scope: "worker", option: true },
  ],
  environments: [
    async ({ lifetimes }, use) => {
      const vendors = [
        { vendor_id: "relicario", name: "Relicario" },
        { vendor_id: "acme", name: "Acme" },
      ];
      await use({
        identity: { ACCESS_TOKEN_TTL: String(lifetimes.accessToken) },
        service: { SESSION_TTL_SECONDS: String(lifetimes.sessionToken), VENDORS: JSON.stringify(vendors) },
      });
    },
    { scope: "worker" },
  ],
  portal: [
    async ({ dataFolder, environments }, use) => {
      const portal = await startPortal({ port: 0, dataDir: dataFolder, environment: environments });
      await use(portal);
      await portal.stop();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

/** Counts a page's calls to the provider and to the service's token routes. */
export interface TokenTraffic {
  /** Renewals and sign-ins: codes redeemed. */
  readonly redeemedCount: () => number;
  readonly userInfoCount: () => number;
  readonly revokedCount: () => number;
  /** Vendor of each exchange that was answered with a token. */
  readonly exchangedVendors: () => readonly string[];
  readonly endedSessionCount: () => number;
}

export function observeTokenTraffic(page: Page): TokenTraffic {
  const responses: { readonly method: string; readonly url: URL; readonly ok: boolean }[] = [];
  page.on("response", (response) => {
    responses.push({ method: response.request().method(), url: new URL(response.url()), ok: response.ok() });
  });
  const count = (method: string, pathSuffix: string) =>
    responses.filter((response) => response.method === method && response.url.pathname.endsWith(pathSuffix)).length;
  return {
    redeemedCount: () => count("POST", "/realms/relicario/token"),
    userInfoCount: () => count("GET", "/realms/relicario/me"),
    revokedCount: () => count("POST", "/realms/relicario/token/revocation"),
    exchangedVendors: () =>
      responses
        .filter(({ method, url, ok }) => ok && method === "POST" && url.pathname === "/api/auth/token")
        .map(({ url }) => url.searchParams.get("app_vendor_id") ?? ""),
    endedSessionCount: () => count("DELETE", "/api/auth/token"),
  };
}

const StoredUser = z.looseObject({
  expires_at: z.number(),
  profile: z.looseObject({ sub: z.string(), auth_time: z.number() }),
});
export type StoredUser = z.infer<typeof StoredUser>;

/** User that the sign-in client stores in this tab; `null` when signed out. */
export async function readStoredUser(page: Page): Promise<StoredUser | null> {
  const storedValue = await page.evaluate(() => {
    const key = Object.keys(sessionStorage).find((name) => name.startsWith("oidc.user:"));
    return key === undefined ? null : sessionStorage.getItem(key);
  });
  return storedValue === null ? null : StoredUser.parse(JSON.parse(storedValue));
}

/** Names in the session storage of this tab. */
export const listStoredNames = (page: Page): Promise<string[]> => page.evaluate(() => Object.keys(sessionStorage));

/** Id of the key that signed the session token of this tab; `null` without a token. */
export async function readSigningKeyId(page: Page): Promise<string | null> {
  const header = await readTokenPart(page, 0);
  return header === null ? null : z.object({ kid: z.string() }).parse(header).kid;
}

/** Claims of the session token of this tab; `null` without a token. */
export async function readSessionClaims(page: Page): Promise<{ readonly vid: string } | null> {
  const claims = await readTokenPart(page, 1);
  return claims === null ? null : z.object({ vid: z.string() }).parse(claims);
}

async function readTokenPart(page: Page, index: 0 | 1): Promise<unknown> {
  const token = await page.evaluate(() => sessionStorage.getItem("sessionToken"));
  return token === null ? null : JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString());
}
