import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

test("when one remote's process is killed its area says so, the others work, and trying again brings it back", async ({
  page,
  portal,
}) => {
  await signUp(page, newAccount());
  await portal.processes.kill("settings");

  const navigation = page.getByRole("navigation").first();
  await navigation.getByRole("link", { name: "Settings" }).click();
  const area = page.getByRole("main");
  await expect(area.getByRole("alert")).toContainText("Settings: not available right now", { timeout: 60_000 });
  await expect(area.getByRole("alert")).toContainText("This part of the portal could not be fetched");
  await expect(area.getByRole("button", { name: "Try again" })).toBeVisible();

  await test.step("navigation, theme, language and sign-out stay alive", async () => {
    await navigation.getByRole("link", { name: "Secrets", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await navigation.getByRole("link", { name: "Shared with me" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("button", { name: /^Log out/ }).first()).toBeEnabled();
  });

  await portal.processes.start("settings");
  await navigation.getByRole("link", { name: "Settings" }).click();
  const again = area.getByRole("button", { name: "Try again" });
  const profile = page.getByRole("heading", { name: "Profile" }).first();
  await expect(again.or(profile)).toBeVisible();
  if (await again.isVisible()) await again.click();
  await expect(profile).toBeVisible({ timeout: 60_000 });
});
