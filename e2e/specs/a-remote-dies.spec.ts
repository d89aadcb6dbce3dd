import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

test("when one remote's process is killed its area shows an error, the others work, and trying again loads it", async ({
  page,
  portal,
}) => {
  await signUp(page, newAccount());
  await portal.processes.kill("settings");

  const navigation = page.getByRole("navigation").first();
  await navigation.getByRole("link", { name: "Settings" }).click();
  const mainArea = page.getByRole("main");
  await expect(mainArea.getByRole("alert")).toContainText("Settings: not available right now", { timeout: 60_000 });
  await expect(mainArea.getByRole("alert")).toContainText("This part of the portal could not be loaded");
  await expect(mainArea.getByRole("button", { name: "Try again" })).toBeVisible();

  await test.step("navigation, theme, language and sign-out stay alive", async () => {
    await navigation.getByRole("link", { name: "Secrets", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await navigation.getByRole("link", { name: "Shared with me" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("button", { name: /^Sign out/ }).first()).toBeEnabled();
  });

  await portal.processes.start("settings");
  await navigation.getByRole("link", { name: "Settings" }).click();
  const retryButton = mainArea.getByRole("button", { name: "Try again" });
  const profileHeading = page.getByRole("heading", { name: "Profile" }).first();
  await expect(retryButton.or(profileHeading)).toBeVisible();
  if (await retryButton.isVisible()) await retryButton.click();
  await expect(profileHeading).toBeVisible({ timeout: 60_000 });
});
