import { describeSignIn } from "@relicario/tooling/portal";
import { z } from "zod";

import { expectHome, logOut } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, row } from "../pages/secrets.ts";
import { heapStringLimit, takeHeapSnapshot } from "../support/heap.ts";
import { readOriginStorage } from "../support/origin-storage.ts";
import { photographs } from "../support/photographs.ts";
import {
  callWithToken,
  changePortalClient,
  countRenewals,
  createUser,
  expect,
  readSessionToken,
  sendSignInForm,
  signIn,
  startSignIn,
  test,
} from "./keycloak-test.ts";

const IssuedTokens = z.looseObject({ access_token: z.string(), refresh_token: z.string() });
const endedTitle = "Your sign-in has ended";

test("a person signs in, stays signed in in two tabs, and signs out of both", async ({ page, keycloak, portal }) => {
  expect(describeSignIn(portal)).toContain(new URL(keycloak.authority).origin);
  expect(describeSignIn(portal)).not.toContain("Demo");
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "30" });
  const user = await createUser(keycloak);
  const renewals = countRenewals(page);
  await signIn(page, user);
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
  await expect(page.getByText(endedTitle, { exact: true })).toBeHidden();
  const secondTab = await page.context().newPage();
  await secondTab.goto("/home"); // Keycloak's session signs it in
  await expectHome(secondTab);
  const tokens = [await readSessionToken(page), await readSessionToken(secondTab)];
  await logOut(page);
  await expect(page.getByLabel("Username or email")).toBeVisible();
  await expect(secondTab.getByText("You are signed out")).toBeVisible();
  for (const token of tokens) expect(await callWithToken(`${portal.origin}/api`, token)).toBe(401);
});

test("an administrator signs a person out, which ends the session in every process within a second", async ({
  page,
  keycloak,
  portal,
  otherService,
}) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "300" });
  const user = await createUser(keycloak);
  await signIn(page, user);
  const token = await readSessionToken(page);
  const services = [`${portal.origin}/api`, otherService];
  const call = () => Promise.all(services.map((service) => callWithToken(service, token)));
  expect(await call()).toEqual([200, 200]);
  await keycloak.call("POST", `/users/${user.id}/logout`);
  const endedAt = performance.now();
  await expect.poll(call, { intervals: [50], timeout: 5_000 }).toEqual([401, 401]);
  test
    .info()
    .annotations.push({ type: "milliseconds to the end", description: (performance.now() - endedAt).toFixed() });
  await page.getByRole("link", { name: "Settings" }).first().click();
  await expect(page.getByText(endedTitle, { exact: true })).toBeVisible();
});

test("a person signs out at Keycloak itself, which ends the session here", async ({ page, keycloak, portal }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "300" });
  await signIn(page, await createUser(keycloak));
  const token = await readSessionToken(page);
  const providerTab = await page.context().newPage();
  await providerTab.goto(`${keycloak.authority}/protocol/openid-connect/logout`);
  await providerTab.getByRole("button", { name: "Logout" }).click();
  await expect.poll(() => callWithToken(`${portal.origin}/api`, token), { intervals: [100], timeout: 5_000 }).toBe(401);
  await expect(page.getByText("You are signed out")).toBeVisible();
});

test("a refresh token that Keycloak issues is neither stored nor kept in memory nor sent", async ({
  page,
  keycloak,
  portal,
}) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "30", "use.refresh.tokens": "true" });
  try {
    const accessTokens: string[] = [];
    const refreshTokens: string[] = [];
    page.on("response", async (response) => {
      if (response.request().method() !== "POST" || !response.url().endsWith("/openid-connect/token")) return;
      const issued = IssuedTokens.parse(await response.json());
      accessTokens.push(issued.access_token);
      refreshTokens.push(issued.refresh_token);
    });
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
    await signIn(page, await createUser(keycloak));
    await expect.poll(() => refreshTokens.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
    await readSessionToken(page);
    expect(sent.filter((text) => text.includes("grant_type=authorization_code")).length).toBeGreaterThanOrEqual(3);
    const { stored } = await readOriginStorage(page, portal.vaultOrigin, { purposes: [], documents: [] });
    const places = {
      storage: stored.map(({ bytes }) => bytes.toString()).join("\n"),
      cookies: JSON.stringify(await page.context().cookies()),
      requests: sent.join("\n"),
      memory: await takeHeapSnapshot(page),
    };
    // Tokens differ before their end, which a heap snapshot cuts off.
    const isFound = (text: string) => (token: string) => text.includes(token.slice(0, heapStringLimit / 2));
    expect([places.storage, places.memory].map((text) => accessTokens.some(isFound(text)))).toEqual([true, true]);
    for (const [place, text] of Object.entries(places)) expect(refreshTokens.filter(isFound(text)), place).toEqual([]);
    expect(places.requests).not.toContain("grant_type=refresh_token");
  } finally {
    await changePortalClient(keycloak, {}, { "use.refresh.tokens": "false" });
  }
});

test("a temporary password has to be replaced at the first sign-in", async ({ page, keycloak }) => {
  const user = await createUser(keycloak, { temporary: true });
  await startSignIn(page, user);
  await page.getByRole("textbox", { name: "New Password" }).fill(`${user.password} mine`);
  await page.getByRole("textbox", { name: "Confirm password" }).fill(`${user.password} mine`);
  await page.getByRole("button", { name: "Submit" }).click();
  await expectHome(page);
});

test("a required action is asked for in a window, and nothing typed is lost", async ({ page, keycloak }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "30" });
  const user = await createUser(keycloak);
  await signIn(page, user);
  await page.getByRole("navigation").first().getByRole("link", { name: "Add secret" }).click();
  await page.getByLabel("Title").fill("typed before");
  await keycloak.call("PUT", `/users/${user.id}`, { requiredActions: ["UPDATE_PASSWORD"] });
  await expect(page.getByText(endedTitle, { exact: true })).toBeVisible({ timeout: 60_000 });
  const [popup] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("button", { name: "Sign in again" }).click(),
  ]);
  await sendSignInForm(popup, user);
  await popup.getByRole("textbox", { name: "New Password" }).fill(`${user.password} mine`);
  await popup.getByRole("textbox", { name: "Confirm password" }).fill(`${user.password} mine`);
  await Promise.all([popup.waitForEvent("close"), popup.getByRole("button", { name: "Submit" }).click()]);
  await expect(page.getByText(endedTitle, { exact: true })).toBeHidden();
  await expect(page.getByLabel("Title")).toHaveValue("typed before");
});

test("a disabled person is refused within a minute, whatever tokens they hold", async ({ page, keycloak, portal }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "300" });
  const user = await createUser(keycloak);
  await signIn(page, user);
  const token = await readSessionToken(page);
  await keycloak.call("PUT", `/users/${user.id}`, { enabled: false });
  await expect
    .poll(() => callWithToken(`${portal.origin}/api`, token), { intervals: [1_000], timeout: 60_000 })
    .toBe(401);
  await page.getByRole("link", { name: "Settings" }).first().click();
  await expect(page.getByText(endedTitle, { exact: true })).toBeVisible();
});

test("a renamed person keeps the account, with the new name and the new verified address", async ({
  page,
  keycloak,
  portal,
}) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "300" });
  const user = await createUser(keycloak);
  await signIn(page, user);
  const readProfile = async () =>
    (await (
      await fetch(`${portal.origin}/api/user/me`, {
        headers: { authorization: `Bearer ${await readSessionToken(page)}` },
      })
    ).json()) as { user_id: string; username: string; contact_email: string; contact_email_verified: boolean };
  const before = await readProfile();
  expect(before).toMatchObject({
    username: user.userName,
    contact_email: `${user.userName}@example.org`,
    contact_email_verified: true,
  });
  const [realmBefore, newName] = [{ editUsernameAllowed: true }, `${user.userName}-new`];
  await keycloak.call("PUT", "", realmBefore);
  const newAddress = `${newName}@example.org`;
  await keycloak.call("PUT", `/users/${user.id}`, { username: newName, email: newAddress, emailVerified: true });
  await logOut(page);
  await sendSignInForm(page, { ...user, userName: newName });
  await expectHome(page);
  expect(await readProfile()).toMatchObject({
    user_id: before.user_id,
    username: newName,
    contact_email: newAddress,
    contact_email_verified: true,
  });
});

test("refusing consent ends on a page that says so and offers another attempt", async ({ page, keycloak }) => {
  await changePortalClient(keycloak, { consentRequired: true });
  try {
    const user = await createUser(keycloak);
    await startSignIn(page, user);
    await page.getByRole("button", { name: "No" }).click();
    await expect(page.getByText("Nothing was lost")).toBeVisible();
    await expect(page.getByRole("button", { name: "Sign in again" })).toBeVisible();
    await page.getByRole("button", { name: "Sign in again" }).click();
    await sendSignInForm(page, user);
    await page.getByRole("button", { name: "Yes" }).click();
    await expectHome(page);
  } finally {
    await changePortalClient(keycloak, { consentRequired: false });
  }
});

test("the profile changes the password under the realm's policy and history", async ({ page, keycloak }) => {
  const user = await createUser(keycloak);
  await signIn(page, user);
  await page.goto("/settings/profile");
  const send = async (oldPassword: string, newPassword: string) => {
    await page.getByLabel("Current password").fill(oldPassword);
    await page.getByLabel("New password").fill(newPassword);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await send("not it at all", "another password");
  await expect(page.getByText("Wrong password.")).toBeVisible();
  await send(user.password, "short");
  await expect(page.getByText("At least 12 characters.").last()).toBeVisible();
  await send(user.password, user.password);
  await expect(page.getByText(/not .*(last|recent|used).*password/i).last()).toBeVisible();
  await send(user.password, `${user.password} anew`);
  await expect(page.getByText("Password changed.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
});

test("the user's own locked device opens after a fresh sign-in at Keycloak, in a window", async ({
  page,
  keycloak,
}) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "300" });
  const user = await createUser(keycloak);
  await signIn(page, user);
  await protect(page, {
    text: "behind a fresh sign-in",
    title: "Fresh",
    tags: [],
    image: { file: photographs.small, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked")).toBeVisible();
  const [popup] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("button", { name: "Unlock by signing in again" }).click(),
  ]);
  await Promise.all([popup.waitForEvent("close"), sendSignInForm(popup, user)]);
  await expect(row(page, "Fresh")).toBeVisible();
});
