import { newAccount, signIn, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { choosePicture, pictureField, vaultElement } from "../pages/picture-field.ts";
import { protect, showPicture } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

test("script of the page takes the focus of an element, which takes it back and says so", async ({ page }) => {
  await signUp(page, newAccount());
  await navigateInApp(page, "/add-secret");
  await choosePicture(page, photographs.small);
  const element = pictureField(page);
  const field = element.getByRole("textbox", { name: "Passphrase", exact: true });
  const warning = element.getByRole("alert").filter({ hasText: "keyboard away" });

  await test.step("a person who presses something in the page leaves it", async () => {
    await field.fill("one");
    await page.getByLabel("Title").click();
    await page.keyboard.type("A title");
    await expect(page.getByLabel("Title")).toHaveValue("A title");
    await expect(warning).toBeHidden();
  });

  await test.step("and so does one who presses Tab", async () => {
    await field.focus();
    await page.keyboard.type("two");
    while (await element.locator(":focus").count()) await page.keyboard.press("Tab");
    await expect(warning).toBeHidden();
  });

  await test.step("script does not", async () => {
    await field.click();
    await page.keyboard.press("End");
    const before = await field.inputValue();
    await page.keyboard.type("s");
    await page.getByLabel("Title").focus();
    await expect(warning).toBeVisible();
    await page.keyboard.type("t");
    await expect(field).toHaveValue(`${before}st`);
    await expect(page.getByLabel("Title")).toHaveValue("A title");
  });
});

test("no answer about a mark counts while something covers the question", async ({ page, browser }) => {
  const account = newAccount();
  await signUp(page, account);
  const image = { file: photographs.small, passphrase: null };
  await protect(page, { text: "kept", title: "Kept", tags: [], image });
  const otherContext = await browser.newContext();
  const other = await otherContext.newPage();
  await signIn(other, account);
  await navigateInApp(other, "/provide-image-recovery");
  await showPicture(other, photographs.small);
  const yes = vaultElement(other, "mark_question").getByRole("button", { name: "Yes, it is mine" });
  await expect(yes).toBeEnabled({ timeout: 90_000 });
  await other.evaluate(() => {
    const cover = document.createElement("div");
    cover.id = "cover";
    cover.style.cssText = "position: fixed; inset: 0; z-index: 2147483647; pointer-events: none";
    document.querySelector("dialog[open], [role=dialog]")?.append(cover);
  });
  await expect(yes).toBeDisabled();
  await yes.click({ force: true });
  await expect(vaultElement(other, "mark_question").getByText("That press did not count")).toBeVisible();
  await other.evaluate(() => document.querySelector("#cover")?.remove());
  await yes.click();
  await expect(other.getByRole("dialog", { name: "Is this your mark?" })).toBeHidden();
  await otherContext.close();
});
