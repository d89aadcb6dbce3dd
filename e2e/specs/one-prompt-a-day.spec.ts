import type { Locator, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { makeCode, makePasskey, openOpeners, presentCode, presentPasskey, submitPicture } from "../pages/openers.ts";
import { choosePicture, pictureField, pressButton } from "../pages/picture-field.ts";
import {
  answerDeviceQuestion,
  askEveryTime,
  chooseAction,
  openList,
  openRecovery,
  protect,
  revealSecret,
  row,
} from "../pages/secrets.ts";
import { addVirtualPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

test.describe.configure({ mode: "parallel" });

type Present = (scope: Page | Locator) => Promise<void>;

/** Adds a way to open next to the first picture. Returns how to present it. */
const ways: Readonly<Record<string, (page: Page) => Promise<Present>>> = {
  "a passkey": async (page) => {
    await addVirtualPasskeys(page);
    await makePasskey(page);
    return presentPasskey;
  },
  "a recovery code": async (page) => {
    const code = await makeCode(page);
    return (scope) => presentCode(scope, code);
  },
  "a picture": () => Promise.resolve((scope) => choosePicture(scope, photographs.small)),
};

const image = { file: photographs.small, passphrase: null };
const router = { title: "Router", text: "admin and its word" };
const locker = { title: "Locker", text: "four digits" };
const alarm = { title: "Alarm", text: "a date" };

async function lock(page: Page): Promise<void> {
  await openList(page);
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked")).toBeVisible();
}

async function unlock(page: Page, present: Present): Promise<void> {
  await present(page);
  await pressButton(page, "Unlock");
  await expect(row(page, locker.title)).toBeVisible({ timeout: 60_000 });
}

/** Opens a secret without presenting a way to open. */
async function openWithKept(page: Page, { title, text }: typeof locker): Promise<void> {
  await openRecovery(page, title);
  await expect(page.getByText("you can leave this empty")).toBeVisible();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  expect(await revealSecret(page)).toBe(text);
}

for (const [name, addWay] of Object.entries(ways))
  test(`a usual day asks once for ${name}; deleting and replacing keys ask again`, async ({ page }) => {
    let promptCount = 0;
    let present: Present = () => Promise.reject(new Error("no way to open was made"));

    await test.step(`two secrets are protected, the second one with ${name} too`, async () => {
      await signUp(page, newAccount());
      await protect(page, { ...router, tags: [], image });
      await answerDeviceQuestion(page, "My own device");
      const presentWay = await addWay(page);
      present = async (scope) => {
        promptCount += 1;
        await presentWay(scope);
      };
      await protect(page, { ...locker, tags: [], image: null });
    });

    await test.step("unlock, add one, open two, share one, edit one: one prompt", async () => {
      await lock(page);
      await page.getByRole("link", { name: "Unlock with your picture" }).click();
      await unlock(page, present);
      await protect(page, { ...alarm, tags: [], image: null });
      await openList(page);
      await expect(row(page, alarm.title)).toBeVisible(); // a row that comes later moves an open menu
      await openWithKept(page, locker);
      await openWithKept(page, alarm);
      await openList(page);
      await chooseAction(page, alarm.title, "Share");
      await expect(page.getByText("you can leave this empty")).toBeVisible();
      await page.getByRole("button", { name: "Create link" }).click();
      await expect(page.getByRole("heading", { name: "Your link is ready" })).toBeVisible({ timeout: 90_000 });
      await openList(page);
      await chooseAction(page, alarm.title, "Edit");
      await page.getByRole("button", { name: "Open and change" }).click();
      const content = page.getByLabel("Your secret");
      await expect(content).toHaveValue(alarm.text, { timeout: 60_000 });
      await content.fill("another date");
      await page.getByRole("button", { name: "Save changes" }).click();
      await expect(page).toHaveURL(/\/secrets$/, { timeout: 60_000 });
      expect(promptCount).toBe(1);
    });

    await test.step("after a reload the trash asks once before it deletes, and then no more", async () => {
      await page.reload();
      await chooseAction(page, alarm.title, "Move to trash");
      await page.getByRole("alertdialog").getByRole("button", { name: "Move to trash" }).click();
      await page.getByRole("button", { name: "Delete in 30 days" }).click();
      const prompt = page.getByRole("group", { name: /^Show one way to open/ });
      await present(prompt);
      await pressButton(prompt, "Continue");
      await expect(page.getByText("Delete this secret from the trash?")).toBeHidden({ timeout: 60_000 });
      await page.getByRole("button", { name: "Trash (1)" }).click();
      await chooseAction(page, alarm.title, "Delete for good");
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete for good" }).click();
      await expect(page.getByText("Deleted for good.").first()).toBeVisible({ timeout: 60_000 });
    });

    await test.step("the keys are replaced, and it opens with the new ones", async () => {
      await openOpeners(page);
      await page.getByRole("button", { name: "I lost a device" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await present(page);
      await pressButton(page, "Use this one");
      const replaceButton = page.getByRole("button", { name: "Replace my keys" });
      const needsPicture = page.getByText(/Use a picture too/);
      await expect(replaceButton.or(needsPicture)).toBeVisible({ timeout: 60_000 });
      if (await needsPicture.isVisible()) await submitPicture(page, "Use this one");
      await replaceButton.click({ timeout: 60_000 });
      await expect(page.getByText("Your keys are replaced")).toBeVisible({ timeout: 120_000 });
      await page.getByRole("button", { name: "Done" }).click();
      await lock(page);
      await page.getByRole("link", { name: "Unlock with your picture" }).click();
      await expect(page.getByText("Your secrets were locked since you last showed a way to open.")).toBeVisible();
      await unlock(page, present);
      await openWithKept(page, locker);
    });
  });

test("the first prompt explains the mark; a person who wants to be asked every time is", async ({ page }) => {
  await signUp(page, newAccount());
  await protect(page, { ...locker, tags: [], image });
  await answerDeviceQuestion(page, "My own device");
  const mark = await test.step("the first prompt explains the mark, and the next shows it alone", async () => {
    await openRecovery(page, locker.title);
    const field = pictureField(page);
    await expect(field.getByText(/Use no picture, passphrase or code in a field without them/)).toBeVisible();
    await field.getByRole("button", { name: "I will look for it" }).click();
    await expect(field.getByText(/Use no picture/)).toBeHidden();
    return field.getByRole("img", { name: /^Your mark: / }).getAttribute("aria-label");
  });
  await test.step("the locked device shows the mark", async () => {
    await lock(page);
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await expect(pictureField(page).getByRole("img", { name: mark ?? "" })).toBeVisible();
    await submitPicture(page, "Unlock");
    await expect(row(page, locker.title)).toBeVisible({ timeout: 60_000 });
  });
  await test.step("each opening asks, once the person chose so", async () => {
    await openWithKept(page, locker);
    await askEveryTime(page);
    for (let opening = 0; opening < 2; opening++) {
      await openRecovery(page, locker.title);
      await expect(page.getByText("you can leave this empty")).toBeHidden();
      await expect(page.getByText("You changed how long a way to open stays.")).toBeVisible({ visible: opening === 0 });
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await expect(page.getByText("Choose a picture, a recovery code or a passkey first.")).toBeVisible();
      await submitPicture(page, "Open");
      expect(await revealSecret(page)).toBe(locker.text);
    }
  });
});
