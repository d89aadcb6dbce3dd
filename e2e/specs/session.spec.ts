import { randomUUID, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

import type { Locator, Page } from "@playwright/test";
import { z } from "zod";

import { requestLogOut, logOut, newAccount, signUp } from "../pages/account.ts";
import { expect } from "../support/portal-test.ts";
import {
  listStoredNames,
  observeTokenTraffic,
  readSessionClaims,
  readSigningKeyId,
  readStoredUser,
  test,
} from "../support/short-lived-tokens.ts";

/** Presses all buttons at the same moment, which separate calls would not. */
async function pressAtOnce(buttons: readonly Locator[]): Promise<void> {
  const moment = Date.now() + 1_000;
  const press = (button: SVGElement | HTMLElement, timestamp: number) => {
    setTimeout(() => button.dispatchEvent(new MouseEvent("click", { bubbles: true })), timestamp - Date.now());
  };
  await Promise.all(buttons.map((button) => button.evaluate(press, moment)));
}

const signedOutHeading = (page: Page) => page.getByRole("heading", { name: "You are signed out" });
const signInForm = (page: Page) => page.getByLabel("User name or e-mail");

/** Expects no data of the user in this tab: no user, no token, no link's contents. */
async function expectNothingStored(page: Page, portal: { readonly origin: string }): Promise<void> {
  // same storage, without the portal
  if (new URL(page.url()).origin !== portal.origin) await page.goto(`${portal.origin}/silent-renew.html`);
  const names = await listStoredNames(page);
  expect(
    names.filter(
      (name) =>
        name.startsWith("oidc.user:") || ["sessionToken", "linkSecret", "id", "recoverId", "vendorId"].includes(name),
    ),
  ).toEqual([]);
}

test("a page left open renews both tokens, also with new session keys, and the provider's session check continues", async ({
  page,
  portal,
  environments,
}) => {
  const traffic = observeTokenTraffic(page);
  await signUp(page, newAccount());
  expect(traffic.userInfoCount()).toBe(1);
  const userBefore = await readStoredUser(page);
  const firstKeyId = await readSigningKeyId(page);

  await test.step("the service signs with another key, and the page needs no reload", async () => {
    const { SESSION_KEYS } = z
      .looseObject({ SESSION_KEYS: z.object({ keys: z.array(z.looseObject({ kid: z.string() })) }) })
      .parse(JSON.parse(readFileSync(path.join(portal.dataDir, "keys/service.json"), "utf8")));
    const { privateKey } = generateKeyPairSync("ed25519");
    const newKey = { ...privateKey.export({ format: "jwk" }), kid: randomUUID() };
    environments.service["SESSION_KEYS"] = JSON.stringify({ keys: [newKey, ...SESSION_KEYS.keys.slice(0, 1)] });
    await portal.processes.stop("service");
    await portal.processes.start("service");
    await expect.poll(() => readSigningKeyId(page), { timeout: 30_000 }).toBe(newKey.kid);
    expect(firstKeyId).toBe(SESSION_KEYS.keys[0]?.kid);
  });

  await expect
    .poll(async () => (await readStoredUser(page))?.expires_at, { timeout: 40_000 })
    .toBeGreaterThan(userBefore?.expires_at ?? Infinity);
  await expect.poll(() => traffic.exchangedVendors().length, { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
  const userAfter = await readStoredUser(page);
  expect(userAfter?.profile).toMatchObject({ sub: userBefore?.profile.sub, auth_time: userBefore?.profile.auth_time });
  await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
});

test("signing out in two tabs at once is clean in both, revokes every session, and reaches all tabs", async ({
  context,
  page,
  portal,
}) => {
  const [firstTab, secondTab, thirdTab] = [page, await context.newPage(), await context.newPage()];
  const tabs = [firstTab, secondTab, thirdTab];
  const traffic = [observeTokenTraffic(firstTab), observeTokenTraffic(secondTab)];
  await signUp(page, newAccount());
  for (const tab of tabs.slice(1)) {
    await tab.goto("/");
    await expect(tab.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
  }
  const tokens = await Promise.all(tabs.map((tab) => tab.evaluate(() => sessionStorage.getItem("sessionToken"))));
  await firstTab.evaluate(() => {
    sessionStorage.setItem("linkSecret", "left over");
  });
  await pressAtOnce([await requestLogOut(firstTab), await requestLogOut(secondTab)]);

  for (const tab of tabs) await expect(signedOutHeading(tab).or(signInForm(tab))).toBeVisible();
  expect(await signedOutHeading(thirdTab).isVisible()).toBe(true);
  expect(traffic.reduce((sum, { revokedCount }) => sum + revokedCount(), 0)).toBe(1);
  expect(traffic.reduce((sum, { endedSessionCount }) => sum + endedSessionCount(), 0)).toBe(1);
  for (const token of tokens) {
    const { status } = await page.request
      .get("/api/user/me", { headers: { authorization: `Bearer ${token ?? ""}` } })
      .then((response) => ({ status: response.status() }));
    expect(status).toBe(401);
  }
  for (const tab of tabs) await expectNothingStored(tab, portal);
  await page.goto("/");
  await expect(signInForm(page)).toBeVisible(); // the provider asks again
});

test("signing out at the provider itself is detected within seconds, by every page", async ({
  context,
  page,
  portal,
}) => {
  await signUp(page, newAccount());
  const providerPage = await context.newPage();
  await providerPage.goto(`${portal.identityOrigin}/realms/relicario/session/end`);
  await providerPage.getByRole("button", { name: "Sign out" }).click();
  await expect(signedOutHeading(page)).toBeVisible();
  await expectNothingStored(page, portal);
});

test("another vendor in a link clears the session token and exchanges it again, and an empty one resets it", async ({
  page,
}) => {
  const traffic = observeTokenTraffic(page);
  await signUp(page, newAccount());
  expect(new Set(traffic.exchangedVendors())).toEqual(new Set(["relicario"]));
  const expectVendor = (vendor: string) =>
    expect(async () => {
      expect((await readSessionClaims(page))?.vid).toBe(vendor);
    }).toPass({ timeout: 20_000 }); // the page reloads meanwhile

  await page.goto("/home#vendorId=acme");
  await expectVendor("acme");
  expect(new URL(page.url()).hash).toBe("");
  expect(traffic.exchangedVendors().at(-1)).toBe("acme");
  await page.goto("/home#vendorId=");
  await expectVendor("relicario");

  await page.goto("/home#vendorId=nobody");
  await expect(
    page.getByText("The address names an organisation that the service does not know, so it was ignored."),
  ).toBeVisible();
  await expectVendor("relicario");
});

test("going back after signing out shows no user", async ({ page }) => {
  await signUp(page, newAccount());
  await logOut(page);
  await expect(signInForm(page)).toBeVisible();
  await page.goBack();
  await expect(signInForm(page).or(signedOutHeading(page))).toBeVisible();
  expect(await readStoredUser(page).catch(() => null)).toBeNull();
});
