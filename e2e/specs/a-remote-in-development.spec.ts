import { newAccount } from "../pages/account.ts";
import { copyRemote, startDevelopment } from "../support/development.ts";
import { disableTours } from "../support/onboarding.ts";
import { expect, test } from "../support/portal-test.ts";

test("@long beside a running portal, one remote runs from its sources: a change is in the open page, which keeps what was typed", async ({
  page,
  portal,
}) => {
  test.setTimeout(600_000);
  const remote = await copyRemote("secrets");
  try {
    const development = await startDevelopment(portal, remote.folder);
    try {
      await disableTours(page);
      await page.goto(development.origin);
      const { userName, email, password } = newAccount();
      await page.getByRole("link", { name: "Create an account" }).click();
      await page.getByLabel("User name").fill(userName);
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.waitForURL(`${development.origin}/**`);
      const navigation = page.getByRole("navigation").first();
      await navigation.getByRole("link", { name: "Add secret" }).click();
      await page.getByLabel("Your secret").fill("typed before the change");

      await remote.change("src/add/AddSecretPage.tsx", (text) =>
        text.replace('lead={t("page.lead_body")}', 'lead="Changed in the sources"'),
      );
      await expect(page.getByText("Changed in the sources")).toBeVisible();
      await expect(page.getByLabel("Your secret")).toHaveValue("typed before the change");

      await page.getByLabel("Your secret").fill("");
      await navigation.getByRole("link", { name: "Settings" }).click(); // as released
      await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    } finally {
      await development.stop();
    }
  } finally {
    await remote.remove();
  }
});
