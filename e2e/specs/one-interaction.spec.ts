import type { Locator } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, askEveryTime, chooseAction, openList, protect, showPicture } from "../pages/secrets.ts";
import { choosePicture, pressButton } from "../pages/picture-field.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

/** Expects what every screen that asks for a way to open shows. */
async function expectAsking(prompt: Locator, label: string): Promise<void> {
  await expect(prompt.getByRole("button", { name: label, exact: true })).not.toHaveAttribute("aria-busy", /.*/);
  await expect(prompt.getByRole("progressbar")).toHaveCount(0);
}

test("one interaction: an operation that is cancelled, superseded, fails or is locked away ends alike everywhere", async ({
  page,
  context,
}) => {
  const secret = { title: `Deed ${createSentinel()}`, text: `a text ${createSentinel()}` };
  const openPrompts = {
    "the content, to be changed": {
      label: "Open",
      show: async () => {
        await openList(page);
        await chooseAction(page, secret.title, "Edit");
        await page.getByRole("button", { name: "Open and change" }).click();
        return page.getByRole("group", { name: "Show one way to open the content." });
      },
    },
    "a new account key": {
      label: "Use this one",
      show: async () => {
        await navigateInApp(page, "/openers");
        await page.getByRole("button", { name: "I lost a device" }).click();
        await page.getByRole("button", { name: "Continue", exact: true }).click();
        return page.getByRole("region", { name: "I lost a device" });
      },
    },
    "a share": {
      label: "Create link",
      show: async () => {
        await openList(page);
        await chooseAction(page, secret.title, "Share");
        return page.getByRole("region", { name: "Share with" });
      },
    },
  } as const;

  await test.step("a picture that is chosen while another is being checked replaces it", async () => {
    await signUp(page, newAccount());
    await navigateInApp(page, "/add-secret");
    await choosePicture(page, photographs.tooPlain);
    await protect(page, { ...secret, tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDeviceQuestion(page, "My own device");
    await askEveryTime(page);
  });

  for (const [name, { label, show }] of Object.entries(openPrompts)) {
    await test.step(`${name}: says what is missing, stops, and says that a picture does not open it`, async () => {
      const prompt = await show();
      const button = prompt.getByRole("button", { name: label, exact: true });
      await button.click();
      await expect(prompt.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
      await choosePicture(prompt, photographs.friends);
      await expect(prompt.getByRole("alert")).toHaveCount(0);
      await button.click();
      await prompt.getByRole("progressbar").waitFor();
      await prompt.getByRole("button", { name: "Cancel" }).click();
      await expectAsking(prompt, label);
      await expect(prompt.getByRole("alert")).toHaveCount(0);
      await button.click();
      await expect(prompt.getByRole("alert")).toContainText("This picture does not open it.", { timeout: 120_000 });
      await expectAsking(prompt, label);
    });

    await test.step(`${name}: a lock takes it away, and nothing of it comes back`, async () => {
      const otherTab = await context.newPage();
      await otherTab.goto("/secrets");
      const lockButton = otherTab.getByRole("button", { name: "Lock", exact: true });
      await expect(lockButton).toBeVisible();
      await page.getByRole("button", { name: label, exact: true }).click();
      await page.getByRole("progressbar").first().waitFor();
      await lockButton.click();
      await expect(page.getByText(/^(This device is|Your secrets are) locked/)).toBeVisible();
      await expect(page.getByRole("alert")).toHaveCount(0);
      await otherTab.close();
      await page.getByRole("link", { name: /^Unlock/ }).click();
      await showPicture(page, photographs.small);
      await expect(page).not.toHaveURL(/recovery/, { timeout: 90_000 });
    });
  }

  await test.step("the picture that opens the secret ends the operation with success", async () => {
    const prompt = await openPrompts["the content, to be changed"].show();
    await choosePicture(prompt, photographs.small);
    await pressButton(prompt, "Open");
    await expect(page.getByLabel("Your secret")).toHaveValue(secret.text, { timeout: 90_000 });
  });
});
