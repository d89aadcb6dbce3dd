import { newAccount, signIn, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { expect, test } from "../support/portal-test.ts";

test("a sign-in that another browser revokes is refused at once, until the user signs in again", async ({
  browser,
  page,
  portal,
}) => {
  const account = newAccount();
  await signUp(page, account);
  const otherPage = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();
  await signIn(otherPage, account);
  const readToken = () => otherPage.evaluate(() => sessionStorage.getItem("sessionToken"));
  const requestStatus = async (token: string | null) =>
    (await otherPage.request.get("/api/user/me", { headers: { authorization: `Bearer ${token ?? ""}` } })).status();
  const token = await readToken();
  expect(await requestStatus(token)).toBe(200);

  await test.step("the first browser marks itself, and revokes the other sign-in", async () => {
    await navigateInApp(page, "/settings/security");
    const signInItems = page.getByRole("region", { name: "Signed-in devices" }).getByRole("listitem");
    await expect(signInItems).toHaveCount(2);
    await expect(signInItems.first()).toContainText("This browser");
    await signInItems
      .nth(1)
      .getByRole("button", { name: /^Sign out:/ })
      .click();
    await page.getByRole("alertdialog").or(page.getByRole("dialog")).getByRole("button", { name: "Sign out" }).click();
    await expect(signInItems).toHaveCount(1);
  });

  await test.step("the other browser's next call is refused, and a renewed token does not help", async () => {
    expect(await requestStatus(token)).toBe(401);
    await otherPage.goto("/settings/profile");
    await expect(otherPage.getByText("Your sign-in has ended", { exact: true })).toBeVisible();
    expect(await requestStatus(await readToken())).toBe(401);
  });

  await test.step("the other browser continues after a new sign-in, and the activity shows what happened", async () => {
    const [signInPopup] = await Promise.all([
      otherPage.waitForEvent("popup"),
      otherPage.getByRole("button", { name: "Sign in again" }).click(),
    ]);
    await signInPopup.getByLabel("Password").fill(account.password);
    await signInPopup.getByRole("button", { name: "Sign in" }).click();
    await expect(otherPage.getByRole("textbox", { name: "Name others see" })).toHaveValue(account.userName);
    await page.goto("/settings/activity");
    await expect(page.getByText("A device was signed out from another one.")).toBeVisible();
  });
  await otherPage.context().close();
});
