import { buildSecondVendor, type AdditionalVendor } from "@relicario/tooling/second-vendor";
import { startPortal } from "@relicario/tooling/portal";
import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { expectAccessible } from "../support/appearance.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

// A separate portal, with a second vendor whose settings are built outside this workspace.
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

/** Records the releases from which a page loads code or texts. */
function recordLoadedReleases(page: Page): ReadonlySet<string> {
  const loadedReleases = new Set<string>();
  page.on("request", (request) => {
    const [, release] = /\/r\/[a-z]+\/([a-z]+-[0-9.]+-[0-9a-f]{12})\//.exec(new URL(request.url()).pathname) ?? [];
    if (release !== undefined) loadedReleases.add(release);
  });
  return loadedReleases;
}

const filterSettingsReleases = (loadedReleases: ReadonlySet<string>): readonly string[] =>
  [...loadedReleases].filter((release) => release.startsWith("settings-"));
const waitForTokenExchange = (page: Page): Promise<string | null> =>
  page
    .waitForRequest((request) => request.url().includes("/auth/token?"))
    .then((request) => new URL(request.url()).searchParams.get("app_vendor_id"));

test.describe("a second vendor, on its own origin", () => {
  const account = newAccount();

  test("has its branding, its own settings of a team elsewhere, and one feature less", async ({ browser, portal }) => {
    const context = await browser.newContext({ baseURL: portal.secondOrigin ?? "" });
    const page = await context.newPage();
    const loadedReleases = recordLoadedReleases(page);
    const exchangedVendor = waitForTokenExchange(page);
    await signUp(page, account);
    expect(await exchangedVendor).toBe("arcon");
    expect(new URL(page.url()).origin).toBe(portal.secondOrigin);
    await expect(page.getByRole("banner")).toContainText("Arcón");
    await expect(page.getByTestId("vendor-layout")).toHaveCSS("background-color", "rgb(46, 33, 23)");

    await test.step("the vendor's settings work, with parts that no page of the portal uses", async () => {
      await page.getByRole("link", { name: "Settings" }).first().click();
      await expect(page.getByRole("heading", { level: 1, name: "Your Arcón" })).toBeVisible();
      await expect(
        page.getByText(`Signed in as ${account.userName}.`).getByText(account.userName, { exact: true }),
      ).toHaveCSS("font-weight", "700"); // Trans
      const address = page.getByLabel("Contact e-mail");
      await address.fill("nobody");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByText("Enter a valid e-mail address.")).toBeVisible();
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
      const events = page.getByRole("list", { name: "Recent activity" }).getByRole("listitem");
      await expect(events).toHaveText([
        /Contact e-mail changed$/,
        /Contact e-mail changed$/,
        /Contact e-mail changed$/,
      ]);
      await page.getByRole("button", { name: "Show more" }).click(); // useInfiniteQuery
      await expect(events).toHaveText([
        /Contact e-mail changed$/,
        /Contact e-mail changed$/,
        /Contact e-mail changed$/,
        /Someone signed in$/,
      ]);
      await expect(page.getByRole("button", { name: "Show more" })).toHaveCount(0);
      await expect(events.last()).toHaveCSS("border-left-color", "rgb(154, 106, 63)"); // ThemeProvider
      await expect(events.last()).toHaveCSS("opacity", "1"); // motion.li
      await expectAccessible(page, "the settings of another vendor");
    });

    await test.step("requests for a secret are missing: there is no entry and no page", async () => {
      await page.getByRole("link", { name: "Shared with me" }).first().click();
      await expect(page.getByRole("heading", { level: 1, name: "Shared with me" })).toBeVisible();
      await expect(page.getByRole("link", { name: "People" })).toBeVisible();
      await expect(page.getByRole("link", { name: "Requests" })).toHaveCount(0);
      await page.goto("/ask-for-secret");
      await expect(page).toHaveURL(/\/home$/);
    });

    const { findStableRelease } = createReleaseTools(portal, "arcon");
    expect(filterSettingsReleases(loadedReleases)).toEqual([await findStableRelease("settings")]);
    await context.close();
  });

  test("changes nothing for the default vendor", async ({ page, portal }) => {
    const loadedReleases = recordLoadedReleases(page);
    await signIn(page, account); // the same account of the identity provider
    await expect(page.getByRole("banner")).toContainText("Relicario");
    await expect(page.getByTestId("vendor-layout")).toHaveCount(0);
    await page.goto("/settings/profile");
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await page.goto("/recived");
    await expect(page.getByRole("link", { name: "Requests" })).toBeVisible();
    await page.goto("/ask-for-secret");
    await expect(page.getByRole("heading", { level: 1, name: "Request a secret" })).toBeVisible();
    expect(filterSettingsReleases(loadedReleases)).toEqual([
      await createReleaseTools(portal).findStableRelease("settings"),
    ]);
  });

  test("named in a link, it changes the token exchange and the layout, never whose code runs", async ({
    page,
    portal,
  }) => {
    const loadedReleases = recordLoadedReleases(page);
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
    await expect(page.getByRole("heading", { level: 1, name: "Request a secret" })).toBeVisible();
    const { readDeployment } = createReleaseTools(portal);
    const portalReleases = Object.values((await readDeployment()).releases).map(({ stable }) => stable);
    expect(portalReleases).toEqual(expect.arrayContaining([...loadedReleases]));
    expect(filterSettingsReleases(loadedReleases)).toHaveLength(1);
  });
});
