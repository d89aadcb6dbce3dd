import { buildSecondVendor, type AdditionalVendor } from "@relicario/tooling/second-vendor";
import { startPortal } from "@relicario/tooling/portal";
import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { expectAccessible } from "../support/appearance.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { releasesOf } from "../support/releases.ts";

// A portal of its own, with a second vendor whose settings are built outside this workspace.
const test = base.extend<object, { readonly secondVendor: AdditionalVendor }>({
  secondVendor: [
    async ({}, use) => {
      await use(await buildSecondVendor());
    },
    { scope: "worker", timeout: 240_000 },
  ],
  portal: [
    async ({ dataFolder, secondVendor }, use) => {
      const portal = await startPortal({ port: 0, dataDir: dataFolder, secondVendor });
      await use(portal);
      await portal.stop();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

/** Addresses of releases that a page loaded code or texts from. */
function loadedReleases(page: Page): ReadonlySet<string> {
  const loaded = new Set<string>();
  page.on("request", (request) => {
    const [, release] = /\/r\/[a-z]+\/([a-z]+-[0-9.]+-[0-9a-f]{12})\//.exec(new URL(request.url()).pathname) ?? [];
    if (release !== undefined) loaded.add(release);
  });
  return loaded;
}

const settingsReleases = (loaded: ReadonlySet<string>): readonly string[] =>
  [...loaded].filter((release) => release.startsWith("settings-"));
const waitForTokenExchange = (page: Page): Promise<string | null> =>
  page
    .waitForRequest((request) => request.url().includes("/auth/token?"))
    .then((request) => new URL(request.url()).searchParams.get("app_vendor_id"));

test.describe("a second vendor, on an origin of its own", () => {
  const account = newAccount();

  test("has its branding, its own settings of a team elsewhere, and one feature less", async ({ browser, portal }) => {
    const context = await browser.newContext({ baseURL: portal.secondOrigin ?? "" });
    const page = await context.newPage();
    const loaded = loadedReleases(page);
    const exchangedVendor = waitForTokenExchange(page);
    await signUp(page, account);
    expect(await exchangedVendor).toBe("arcon");
    expect(new URL(page.url()).origin).toBe(portal.secondOrigin);
    await expect(page.getByRole("banner")).toContainText("Arcón");
    await expect(page.getByTestId("vendor-layout")).toHaveCSS("background-color", "rgb(46, 33, 23)");

    await test.step("its settings work, with what no page of ours uses", async () => {
      await page.getByRole("link", { name: "Settings" }).first().click();
      await expect(page.getByRole("heading", { level: 1, name: "Your Arcón" })).toBeVisible();
      await expect(
        page.getByText(`You are signed in as ${account.userName}.`).getByText(account.userName, { exact: true }),
      ).toHaveCSS("font-weight", "700"); // Trans
      const address = page.getByLabel("Address for notices");
      await address.fill("nobody");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByText("That is no e-mail address.")).toBeVisible();
      for (const [typed, stored] of [
        ["  Ana@Example.ORG ", "ana@example.org"],
        ["bea@example.org", "bea@example.org"],
        ["cleo@example.org", "cleo@example.org"],
      ] as const) {
        await address.fill(typed);
        const savedResponse = page.waitForResponse(
          (response) => response.url().endsWith("/user/me") && response.request().method() === "POST",
        );
        await page.getByRole("button", { name: "Save" }).click();
        // trim, normalize, toLowerCase, pipe
        expect(await (await savedResponse).json()).toMatchObject({ contact_email: stored });
        await expect(address).toHaveValue(stored);
      }
      const events = page.getByRole("list", { name: "What happened last" }).getByRole("listitem");
      await expect(events).toHaveText([/Address changed$/, /Address changed$/, /Address changed$/]);
      await page.getByRole("button", { name: "Show earlier" }).click(); // useInfiniteQuery
      await expect(events).toHaveText([/Address changed$/, /Address changed$/, /Address changed$/, /Signed in$/]);
      await expect(page.getByRole("button", { name: "Show earlier" })).toHaveCount(0);
      await expect(events.last()).toHaveCSS("border-left-color", "rgb(154, 106, 63)"); // ThemeProvider
      await expect(events.last()).toHaveCSS("opacity", "1"); // motion.li
      await expectAccessible(page, "the settings of another vendor");
    });

    await test.step("asking for a secret is not there: neither its entry nor its address", async () => {
      await page.getByRole("link", { name: "Shared with me" }).first().click();
      await expect(page.getByRole("heading", { level: 1, name: "Shared with me" })).toBeVisible();
      await expect(page.getByRole("link", { name: "People" })).toBeVisible();
      await expect(page.getByRole("link", { name: "Asked for" })).toHaveCount(0);
      await page.goto("/ask-for-secret");
      await expect(page).toHaveURL(/\/home$/);
    });

    const { stable } = releasesOf(portal, "arcon");
    expect(settingsReleases(loaded)).toEqual([await stable("settings")]);
    await context.close();
  });

  test("changes nothing for the default vendor", async ({ page, portal }) => {
    const loaded = loadedReleases(page);
    await signIn(page, account); // the same account of the identity provider
    await expect(page.getByRole("banner")).toContainText("Relicario");
    await expect(page.getByTestId("vendor-layout")).toHaveCount(0);
    await page.goto("/settings/profile");
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await page.goto("/recived");
    await expect(page.getByRole("link", { name: "Asked for" })).toBeVisible();
    await page.goto("/ask-for-secret");
    await expect(page.getByRole("heading", { level: 1, name: "Ask for a secret" })).toBeVisible();
    expect(settingsReleases(loaded)).toEqual([await releasesOf(portal).stable("settings")]);
  });

  test("named in a link, it changes the token exchange and the layout, and whose code runs never", async ({
    page,
    portal,
  }) => {
    const loaded = loadedReleases(page);
    await signIn(page, account);
    const exchangedVendor = waitForTokenExchange(page);
    await page.goto("/home#vendorId=arcon");
    expect(await exchangedVendor).toBe("arcon");
    await expect(page.getByTestId("vendor-layout")).toContainText("Arcón");
    expect(await page.evaluate(() => sessionStorage.getItem("vendorId"))).toBe("arcon");
    await page.goto("/settings/profile");
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await expect(page.getByTestId("vendor-layout")).toBeVisible();
    await page.goto("/ask-for-secret");
    await expect(page.getByRole("heading", { level: 1, name: "Ask for a secret" })).toBeVisible();
    const { document } = releasesOf(portal);
    const portalReleases = Object.values((await document()).releases).map(({ stable }) => stable);
    expect(portalReleases).toEqual(expect.arrayContaining([...loaded]));
    expect(settingsReleases(loaded)).toHaveLength(1);
  });
});
