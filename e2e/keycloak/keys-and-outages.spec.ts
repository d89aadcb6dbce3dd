import {
  callWithToken,
  changePortalClient,
  countRenewals,
  createUser,
  expect,
  readSessionToken,
  signIn,
  test,
} from "./keycloak-test.ts";

const endedTitle = "Your sign-in has ended";

test("the realm's keys are rotated while people are signed in", async ({ page, keycloak, portal }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "30" });
  const renewals = countRenewals(page);
  await signIn(page, await createUser(keycloak));
  const readKeyIds = async (address: string): Promise<string[]> =>
    ((await (await fetch(address)).json()) as { keys: { kid: string; use?: string }[] }).keys
      .filter(({ use }) => use !== "enc")
      .map(({ kid }) => kid)
      .toSorted();
  const trusted = `${portal.origin}/api/auth/certs`;
  const published = `${keycloak.authority}/protocol/openid-connect/certs`;
  await keycloak.call("POST", "/components", {
    name: "rotated",
    providerId: "rsa-generated",
    providerType: "org.keycloak.keys.KeyProvider",
    config: { priority: ["1000"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
  });
  const rotated = await readKeyIds(published);
  await expect
    .poll(async () => (await readKeyIds(trusted)).filter((kid) => rotated.includes(kid)), { timeout: 15_000 })
    .toEqual(rotated);
  const before = renewals();
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThanOrEqual(before + 2);
  expect(await callWithToken(`${portal.origin}/api`, await readSessionToken(page))).toBe(200);
  await expect(page.getByText(endedTitle, { exact: true })).toBeHidden();
});

test("Keycloak goes away for 77 seconds and comes back", async ({ page, keycloak, portal }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "60" });
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  const renewals = countRenewals(page);
  await signIn(page, await createUser(keycloak));
  const token = await readSessionToken(page);
  await keycloak.stop();
  const stoppedAt = Date.now();
  const before = messages.length;
  await expect
    .poll(() => Date.now() - stoppedAt, { timeout: 120_000, intervals: [1_000] })
    .toBeGreaterThanOrEqual(77_000);
  expect(messages.slice(before).length, messages.slice(before).join("\n")).toBeLessThan(77 / 5 + 5);
  expect(await callWithToken(`${portal.origin}/api`, token)).toBe(200);
  await expect(page.getByText(endedTitle, { exact: true })).toBeHidden();
  await keycloak.start();
  const renewalsBefore = renewals();
  await expect.poll(renewals, { timeout: 60_000 }).toBeGreaterThan(renewalsBefore);
  await expect(page.getByText(endedTitle, { exact: true })).toBeHidden();
});

test("an idle time-out at Keycloak asks for a new sign-in, and nothing typed is lost", async ({ page, keycloak }) => {
  await changePortalClient(keycloak, {}, { "access.token.lifespan": "200" });
  const user = await createUser(keycloak);
  try {
    await signIn(page, user);
    await page.getByRole("navigation").first().getByRole("link", { name: "Add secret" }).click();
    await page.getByLabel("Title").fill("typed before");
    const otherTab = await page.context().newPage();
    await otherTab.goto("/add-secret");
    await otherTab.getByLabel("Title").fill("typed in the other tab");
    // Last: a tab that is opened later would be asked to sign in.
    await keycloak.call("PUT", "", { ssoSessionIdleTimeout: 5 });
    await expect(page.getByText(endedTitle, { exact: true })).toBeVisible({ timeout: 300_000 });
    const endedAt = Date.now();
    // The frames that watch Keycloak's session look every two seconds.
    await expect.poll(() => Date.now() - endedAt, { intervals: [1_000] }).toBeGreaterThanOrEqual(5_000);
    await expect(page.getByLabel("Title")).toHaveValue("typed before");
    await expect(otherTab.getByText(endedTitle, { exact: true })).toBeVisible();
    await expect(otherTab.getByLabel("Title")).toHaveValue("typed in the other tab");
  } finally {
    await keycloak.call("PUT", "", { ssoSessionIdleTimeout: 28_800 });
  }
});
