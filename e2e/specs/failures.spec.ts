import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";
import { readStoredUser } from "../support/short-lived-tokens.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

const signInForm = "User name or e-mail";

test("an unknown response of the provider shows Oops at a clean address; a second one starts signing in again, and a success resets the count", async ({
  page,
}) => {
  const readErrorCount = () => page.evaluate(() => sessionStorage.getItem("authRetry"));
  await page.goto("/secrets?error=consent_required&state=unknown#x");
  await expect(page.getByRole("heading", { level: 1, name: "Oops..." })).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("Login failed");
  expect(new URL(page.url()).href).toBe(new URL("/secrets", page.url()).href);
  expect(await readErrorCount()).toBe("1");

  // the page navigates while it loads
  await page.goto("/secrets?error=consent_required&state=unknown#x").catch(() => undefined);
  await expect(page).toHaveURL(/\/realms\/relicario\//, { timeout: 30_000 });
  await expect(page.getByLabel(signInForm)).toBeVisible();
  await page.getByRole("link", { name: "Create account" }).click();
  const account = newAccount();
  await page.getByLabel("User name").fill(account.userName);
  await page.getByLabel("E-mail").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  expect(await readErrorCount()).toBe("0");
});

test("a session token that was tampered with is reported, dropped and exchanged again", async ({ page }) => {
  const warnings: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "warning") warnings.push(message.text());
  });
  await signUp(page, newAccount());
  const readToken = () => page.evaluate(() => sessionStorage.getItem("sessionToken"));
  await expect.poll(readToken).toMatch(/^ey/);
  const tamperedToken = await page.evaluate(() => {
    const [header = "", payload = "", signature = ""] = (sessionStorage.getItem("sessionToken") ?? "").split(".");
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const alteredPayload = btoa(JSON.stringify({ ...(claims as object), exp: 4_000_000_000 }))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
    const forgedToken = [header, alteredPayload, signature].join(".");
    sessionStorage.setItem("sessionToken", forgedToken);
    return forgedToken;
  });
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
  await expect.poll(readToken).not.toBe(tamperedToken);
  expect(warnings.join("\n")).toContain("Invalid token signature. Check the token source, may be a tampered token.");
  expect(warnings.join("\n")).not.toContain(tamperedToken);
});

test("after an error of the host signing out still works", async ({ page }) => {
  await signUp(page, newAccount());
  await page.evaluate(() => {
    const descriptor = Object.getOwnPropertyDescriptor(Storage.prototype, "getItem");
    const originalGetItem: unknown = descriptor?.value;
    Storage.prototype.getItem = function (this: Storage, key: string) {
      if (key === "landingAlreadyVisited" || typeof originalGetItem !== "function")
        throw new DOMException("no", "SecurityError");
      return String(Reflect.apply(originalGetItem, this, [key]));
    };
  });
  await page.getByRole("link", { name: "Settings" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Something went wrong here" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByLabel(signInForm)).toBeVisible();
  await page.goto("/silent-renew.html"); // same storage, without the portal
  expect(await readStoredUser(page)).toBeNull();
});

test("a lost connection or service is reported next to the screen until it is back", async ({
  page,
  context,
  portal,
}) => {
  await signUp(page, newAccount());

  await test.step("an offline device says so next to the screen, and can continue when it is online", async () => {
    const notice = page.getByText(/You are offline/);
    await context.setOffline(true);
    await expect(notice).toBeVisible();
    await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
    await page.getByRole("link", { name: "Settings" }).click();
    const mainArea = page.getByRole("main");
    await expect(mainArea.getByRole("alert").first()).toBeVisible();
    await expect(page.getByRole("button", { name: /^Sign out/ })).toBeEnabled();
    await context.setOffline(false);
    await expect(notice).toBeHidden();
    // What waited for the connection continues automatically; what had failed before waits for the
    // user.
    const retryButton = mainArea.getByRole("button", { name: "Try again" }).first();
    await expect(retryButton.or(mainArea.getByRole("button", { name: "Save" })).first()).toBeVisible();
    if (await retryButton.isVisible()) await retryButton.click();
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await expect(mainArea.getByRole("alert")).toHaveCount(0);
  });

  await test.step("a service that is down is reported next to the screen until it is back", async () => {
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByLabel("Contact e-mail").fill("ana@example.com");
    await portal.processes.kill("service");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const notice = page.getByText("The service is not responding", { exact: true });
    await expect(notice).toBeVisible({ timeout: 60_000 });
    await expect(page.getByLabel("Contact e-mail")).toHaveValue("ana@example.com");

    await page.getByRole("link", { name: "See what works" }).click();
    await expect(page.getByText(/^Not working: Service/)).toBeVisible({ timeout: 60_000 });
    await portal.processes.start("service");
    await expect(notice).toBeHidden({ timeout: 60_000 });
    await page.getByRole("button", { name: "Check again" }).click();
    await expect(page.getByText("Everything works.")).toBeVisible({ timeout: 60_000 });
  });
});

test("when a part of the host's code does not load, the page says so in both languages, and trying again loads it", async ({
  page,
}) => {
  await signUp(page, newAccount());
  for (const [partName, marker] of [
    ["the host's own code", '"(prefers-reduced-motion)"'],
    ["what the host gives to remotes", 'role:"switch"'],
  ] as const) {
    await test.step(partName, async () => {
      let refusedCount = 0;
      await page.route("**/static/*.js", async (route) => {
        const response = await route.fetch();
        if ((await response.text()).includes(marker)) {
          refusedCount += 1;
          await route.abort();
        } else {
          await route.fulfill({ response });
        }
      });
      await page.goto("/home");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText([
        "The portal did not start",
        "El portal no se ha iniciado",
      ]);
      expect(refusedCount).toBe(1);
      await page.unrouteAll({ behavior: "wait" });
      await page.getByRole("button", { name: "Try again" }).click();
      await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
    });
  }
});
