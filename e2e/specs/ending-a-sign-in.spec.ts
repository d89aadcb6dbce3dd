import { newAccount, signIn, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { expect, test } from "../support/portal-test.ts";

test("a sign-in that is ended from another browser is refused at once there, until its person signs in again", async ({
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

  await test.step("the first browser names itself and ends the other", async () => {
    await navigateInApp(page, "/settings/security");
    const list = page.getByRole("region", { name: "Devices and sign-ins" }).getByRole("listitem");
    await expect(list).toHaveCount(2);
    await expect(list.first()).toContainText("This browser");
    await list
      .nth(1)
      .getByRole("button", { name: /^End the sign-in/ })
      .click();
    await page.getByRole("alertdialog").or(page.getByRole("dialog")).getByRole("button", { name: "End" }).click();
    await expect(list).toHaveCount(1);
  });

  await test.step("the other browser's next call is refused, and no token that it gets by itself helps", async () => {
    expect(await requestStatus(token)).toBe(401);
    await otherPage.goto("/settings/profile");
    await expect(otherPage.getByText("Your sign-in has ended")).toBeVisible();
    expect(await requestStatus(await readToken())).toBe(401);
  });

  await test.step("it goes on after a new sign-in, and what happened stands in the activity", async () => {
    const [signInPopup] = await Promise.all([
      otherPage.waitForEvent("popup"),
      otherPage.getByRole("button", { name: "Sign in again" }).click(),
    ]);
    await signInPopup.getByLabel("Password").fill(account.password);
    await signInPopup.getByRole("button", { name: "Sign in" }).click();
    await expect(otherPage.getByRole("textbox", { name: "User name" })).toHaveValue(account.userName);
    await page.goto("/settings/activity");
    await expect(page.getByText("A sign-in was ended from another one.")).toBeVisible();
  });
  await otherPage.context().close();
});
