import { newAccount } from "../pages/account.ts";
import { copyRemote, startDevelopment } from "../support/development.ts";
import { disableTours } from "../support/onboarding.ts";
import { expect, test } from "../support/portal-test.ts";

test("@long beside a running portal, one remote runs from its sources: a change appears in the open page, which keeps what was typed", async ({
  page,
  portal,
}) => {
  const remote = await copyRemote("secrets");
  await remote.write("src/add/lead.css", ".lead { letter-spacing: 3px; }");
  await remote.change("src/add/AddSecretPage.tsx", (text) => `import "./lead.css";\n${text}`);
  try {
    const development = await startDevelopment(portal, remote.folder);
    try {
      await disableTours(page);
      await page.goto(development.origin);
      const { userName, email, password } = newAccount();
      await page.getByRole("link", { name: "Create account" }).click();
      await page.getByLabel("User name").fill(userName);
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.waitForURL(`${development.origin}/**`);
      const navigation = page.getByRole("navigation").first();
      await navigation.getByRole("link", { name: "Add secret" }).click();
      await page.getByLabel("Your secret").fill("typed before the change");

      await remote.change("src/add/AddSecretPage.tsx", (text) =>
        text.replace('lead={t("page.lead_body")}', 'lead={<span className="lead">Changed in the sources</span>}'),
      );
      await expect(page.getByText("Changed in the sources")).toBeVisible();
      await expect(page.getByLabel("Your secret")).toHaveValue("typed before the change");
      await expect(page.getByText("Changed in the sources")).toHaveCSS("letter-spacing", "3px");
      await remote.change("src/add/lead.css", (text) => text.replace("3px", "5px"));
      await expect(page.getByText("Changed in the sources")).toHaveCSS("letter-spacing", "5px");
      await expect(page.getByLabel("Your secret")).toHaveValue("typed before the change");

      await page.getByLabel("Your secret").fill("");
      await navigation.getByRole("link", { name: "Settings" }).click(); // as released
      await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();

      await remote.change("package.json", (text) => text.replace(/"version": "[^"]+"/, '"version": "9.9.9"'));
      await expect(() => {
        expect(development.readOutput().split("secrets from its sources")).toHaveLength(3);
      }).toPass({ timeout: 120_000 });
      await page.reload();
      await navigation.getByRole("link", { name: "Add secret" }).click();
      await expect(page.getByText("Changed in the sources")).toBeVisible();
      await remote.change("manifest.json", (text) => text.replace('"name": "secrets"', '"name": 1'));
      await expect.poll(development.readOutput).toContain("has no manifest.json with a name");
    } finally {
      await development.stop();
    }
  } finally {
    await remote.remove();
  }
});
