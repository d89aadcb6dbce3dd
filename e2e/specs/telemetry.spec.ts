import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { choosePicture, pictureField } from "../pages/picture-field.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

test.use({ ownPortal: true });

const waitOptions = { timeout: 60_000 };

/** Records the telemetry that a page sends. */
function recordTelemetry(page: Page): { readonly bodies: unknown[] } {
  const bodies: unknown[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && new URL(request.url()).pathname === "/api/telemetry")
      bodies.push(request.postDataJSON());
  });
  return { bodies };
}

test("loads, failures, web vitals and violations are reported without names, shown by portal status, and not reported for a user who switched that off", async ({
  page,
  browser,
  portal,
}) => {
  test.slow();
  const releases = createReleaseTools(portal);
  const readStatus = async (): Promise<string> => (await releases.runCommand("status")).output;
  /** Without violations, which browsers report independently. */
  const readStatusWithoutViolations = async (): Promise<string> =>
    (await readStatus()).replaceAll(/^.* violated .*\n/gm, "");
  const pageTelemetry = recordTelemetry(page);
  const account = newAccount();
  await signUp(page, account);

  await test.step("a load that fails is counted by remote, release and error, next to loads that went well", async () => {
    await portal.processes.kill("settings");
    await page.getByRole("navigation").first().getByRole("link", { name: "Settings" }).click();
    await expect(page.getByRole("main").getByRole("alert")).toContainText("Settings: not available right now", {
      timeout: 60_000,
    });
    await portal.processes.start("settings");
    await expect
      .poll(readStatus, waitOptions)
      .toContain(`  settings  ${await releases.findStableRelease("settings")}  load  remote_unreachable  1`);
    expect(await readStatus()).toMatch(
      new RegExp(`  secrets  ${await releases.findStableRelease("secrets")}  load  ok  [1-9]`),
    );
  });

  await test.step("an error of a timer and a rejected promise count for their remote, and a release that is refused counts once", async () => {
    const stableRelease = await releases.findStableRelease("settings");
    const failingRelease = await releases.createChangedRelease(
      "settings",
      "remoteEntry.js",
      (text) =>
        `${text}\n;setInterval(() => { if (globalThis.failsNow?.pop()) { void Promise.reject(new Error("later")); throw new Error("now"); } }, 100);`,
    );
    expect(await releases.runCommand("promote", failingRelease)).toMatchObject({ ok: true });
    // not the spec's own context, in which no error may occur
    const context = await browser.newContext({ baseURL: portal.origin });
    const visitor = await context.newPage();
    await signIn(visitor, account);
    await visitor.goto("/settings/profile");
    await visitor.getByRole("heading", { level: 1, name: "Profile" }).waitFor();
    await visitor.evaluate(() => {
      Object.assign(globalThis, { failsNow: [true] });
    });
    await expect.poll(readStatus, waitOptions).toContain(`  settings  ${failingRelease}  run  remote_crashed  2`);

    const restore = await releases.patchDeployment({ disabled: [failingRelease] });
    const refusals: string[] = [];
    visitor.on("console", (message) => {
      if (message.text().includes("refused")) refusals.push(message.text());
    });
    await visitor.reload();
    for (const name of ["Settings", "Secrets", "Settings"])
      await visitor.getByRole("navigation").first().getByRole("link", { name, exact: true }).click();
    await expect(visitor.getByRole("main").getByRole("alert")).toContainText("switched this part off");
    await expect.poll(readStatus, waitOptions).toContain(`  settings  ${failingRelease}  verify  remote_disabled  1`);
    expect(refusals).toEqual([
      `remote settings ${failingRelease} refused, remote_disabled: the deployment document disables it`,
    ]);
    await restore();
    await context.close();
    expect(await releases.runCommand("promote", stableRelease)).toMatchObject({ ok: true });
  });

  await test.step("web vitals are sent when the page is left, by the pattern of the route", async () => {
    await page.goto("/secrets");
    await page.getByRole("heading", { level: 1, name: "Secrets" }).waitFor();
    await page.waitForFunction(() =>
      performance.getEntriesByType("resource").some(({ name }) => /\/static\/.*vitals/.test(name)),
    );
    await page.goto("/help");
    await expect
      .poll(readStatus, waitOptions)
      .toMatch(/ {2}secrets {2}secrets-\S+ {2}\/secrets {2}(LCP|FCP|TTFB) {2}\d+ {2}/);
    const text = JSON.stringify(pageTelemetry.bodies);
    for (const name of [account.userName, account.email, "http"]) expect(text).not.toContain(name);
  });

  await test.step("a violation of the policy is counted for the remote that caused it; a visitor's page reports, unless the browser asks for privacy", async () => {
    const previousRelease = await releases.findStableRelease("sharing");
    const fetchingRelease = await releases.createChangedRelease(
      "sharing",
      "remoteEntry.js",
      (text) => `${text}\n;fetch("https://elsewhere.example/?who=alba").catch(() => null);`,
    );
    expect(await releases.runCommand("promote", fetchingRelease)).toMatchObject({ ok: true });
    for (const privacy of [true, false]) {
      // not the spec's own context, in which nothing may be refused
      const context = await browser.newContext({ baseURL: portal.origin });
      if (privacy)
        await context.addInitScript(() =>
          Object.defineProperty(Navigator.prototype, "globalPrivacyControl", { get: () => true }),
        );
      const visitor = await context.newPage();
      const visitorTelemetry = recordTelemetry(visitor);
      await visitor.clock.install();
      await visitor.goto(`/shared/${"A".repeat(22)}`);
      await visitor.getByRole("heading", { level: 1 }).waitFor();
      await visitor.waitForLoadState("networkidle");
      await visitor.clock.fastForward(15_000); // records are sent after ten seconds
      if (privacy) {
        await visitor.goto("/silent-renew.html"); // or when the page is hidden
        expect(await readStatusWithoutViolations()).not.toContain(`${fetchingRelease}  `);
        expect(visitorTelemetry.bodies).toEqual([]);
      } else {
        await expect
          .poll(() => visitorTelemetry.bodies)
          .toContainEqual(
            expect.objectContaining({
              events: expect.arrayContaining([
                expect.objectContaining({ remote: "sharing", release: fetchingRelease, phase: "load" }),
              ]),
            }),
          );
        await expect
          .poll(readStatus, waitOptions)
          .toMatch(new RegExp(`  sharing  ${fetchingRelease}  violated connect-src  [12]`));
      }
      await context.close();
    }
    expect(await releases.runCommand("rollback", "sharing")).toMatchObject({ ok: true });
    expect(await releases.findStableRelease("sharing")).toBe(previousRelease);
  });

  await test.step("an operation with a picture runs all workers", async () => {
    await page.goto("/add-secret");
    await choosePicture(page, photographs.small);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
  });

  await test.step("a user who switched reports off sends nothing", async () => {
    await page.goto("/settings/data");
    const toggle = page.getByRole("switch", { name: "Allow usage measurements" });
    const savedResponse = page.waitForResponse(
      (response) => response.request().method() === "POST" && response.url().endsWith("/api/user/me"),
    );
    await toggle.click();
    expect((await savedResponse).ok()).toBe(true);
    await expect(toggle).not.toBeChecked();
    const statusBefore = await readStatusWithoutViolations();
    pageTelemetry.bodies.length = 0;
    await page.clock.install();
    for (const path of ["/home", "/secrets", "/recived"]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
    }
    await page.clock.fastForward(15_000);
    await page.goto("/silent-renew.html");
    expect(pageTelemetry.bodies).toEqual([]);
    expect(await readStatusWithoutViolations()).toBe(statusBefore);
    // the portal's own pages and workers violate nothing
    expect(await readStatus()).not.toMatch(/violated (?!connect-src)/);
  });
});
