import { logOut, newAccount, signUp } from "../pages/account.ts";
import { expect } from "../support/portal-test.ts";
import { observeTokenTraffic, readStoredUser, test } from "../support/short-lived-tokens.ts";

test.use({ lifetimes: { accessToken: 30, sessionToken: 10 } });

test("a page left open stays signed in for two minutes, ten seconds of them without the provider @long", async ({
  page,
  portal,
  lifetimes,
}) => {
  const traffic = observeTokenTraffic(page);
  await signUp(page, newAccount());
  const startedAt = Date.now() / 1000;
  await page.getByRole("navigation").first().getByRole("link", { name: "Add secret" }).click();
  await page.getByLabel("Title").fill("typed at the beginning");
  const secondsLeft = async () => ((await readStoredUser(page))?.expires_at ?? 0) - Date.now() / 1000;

  await test.step("the page renews its tokens", async () => {
    await expect.poll(() => traffic.redeemedCount(), { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
    expect(traffic.exchangedVendors().length).toBeGreaterThanOrEqual(4);
  });

  await test.step("the provider goes away for ten seconds, just when a renewal is due", async () => {
    await expect.poll(secondsLeft, { timeout: 60_000, intervals: [200] }).toBeLessThan(lifetimes.accessToken * 0.2 + 2);
    await portal.processes.stop("identity");
    const stoppedAt = Date.now();
    await expect
      .poll(() => Date.now() - stoppedAt, { timeout: 20_000, intervals: [500] })
      .toBeGreaterThanOrEqual(10_000);
    await portal.processes.start("identity");
    await expect.poll(secondsLeft, { timeout: 60_000 }).toBeGreaterThan(lifetimes.accessToken * 0.5);
  });

  await test.step("two minutes after the beginning the last renewal still holds, and nothing typed is lost", async () => {
    await expect
      .poll(async () => ((await readStoredUser(page))?.expires_at ?? 0) - startedAt, { timeout: 150_000 })
      .toBeGreaterThan(120 + lifetimes.accessToken);
    expect(traffic.exchangedVendors().length).toBeGreaterThanOrEqual(12);
    await expect(page.getByText("Your sign-in has ended", { exact: true })).toBeHidden();
    await expect(page.getByLabel("Title")).toHaveValue("typed at the beginning");
  });

  await test.step("the page signs out cleanly", async () => {
    await logOut(page);
    await expect(page.getByLabel("User name or e-mail")).toBeVisible();
  });
});
