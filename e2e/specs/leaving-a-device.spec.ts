import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect, row, showPicture } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { evaluateAtVault } from "../support/vault-origin.ts";
import { removeEd25519 } from "../support/without-ed25519.ts";

/** Number of records in each store of both origins' databases, without empty ones. */
async function countRecords(page: Page, vaultOrigin: string): Promise<Readonly<Record<string, number>>> {
  return { ...(await page.evaluate(countAll)), ...(await evaluateAtVault(page, vaultOrigin, countAll, undefined)) };
}

/** Runs in the page, so it can use nothing from outside. */
async function countAll(): Promise<Readonly<Record<string, number>>> {
  const resolveRequest = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => {
        resolve(request.result);
      };
      request.onerror = () => {
        reject(request.error ?? new Error("failed"));
      };
    });
  const counts: Record<string, number> = {};
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await resolveRequest(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const count = await resolveRequest(database.transaction(store).objectStore(store).count());
      if (count > 0) counts[`${name}/${store}`] = count;
    }
    database.close();
  }
  return counts;
}

test("the user's own device locks at sign-out and opens with the next sign-in; once forgotten, it knows no one", async ({
  page,
  portal,
}) => {
  const account = newAccount();
  const consoleErrors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") consoleErrors.push(message.text());
  });

  await test.step("a new account has no keyring, which is no error in the console", async () => {
    await signUp(page, account);
    await page.goto("/secrets");
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await expect(page.getByText("This device is locked")).toBeHidden();
    expect(consoleErrors.filter((text) => text.includes("404"))).toEqual([]);
  });

  await protect(page, { text: "kept", title: "Kept", tags: [], image: { file: photographs.small, passphrase: null } });
  await answerDeviceQuestion(page, "My own device");

  await test.step("titles are shown again after signing in, without another step", async () => {
    await signOut(page);
    await signIn(page, account, { path: "/secrets" });
    await expect(row(page, "Kept")).toBeVisible();
  });

  await test.step("forgetting deletes everything, on a screen that never used the vault", async () => {
    await page.goto("/help");
    expect(Object.keys(await countRecords(page, portal.vaultOrigin))).toEqual(
      expect.arrayContaining(["relicario-vault/accounts", "relicario-host/people"]),
    );
    await page
      .getByRole("button", { name: /^Sign out/ })
      .first()
      .click();
    await page.getByRole("dialog", { name: "Sign out?" }).getByRole("button", { name: "Forget this device" }).click();
    await page
      .getByRole("dialog", { name: "Forget this device?" })
      .getByRole("button", { name: "Forget this device" })
      .click();
    await expect(page.getByLabel("User name or e-mail")).toBeVisible();
    await signIn(page, account);
    await page.goto("/help");
    expect(Object.keys(await countRecords(page, portal.vaultOrigin))).toEqual(["relicario-host/people"]); // of this sign-in
    await page.goto("/secrets");
    await expect(page.getByText("This device is locked")).toBeVisible();
  });
});

test("a browser without Ed25519 says that it cannot remember the device; everything works, and the picture unlocks the next visit", async ({
  page,
}) => {
  const account = newAccount();
  const countWorkers = removeEd25519(page);
  await signUp(page, account);
  await protect(page, { text: "kept", title: "Kept", tags: [], image: { file: photographs.small, passphrase: null } });
  await answerDeviceQuestion(page, "My own device");
  await expect(page.getByText("so you will need your picture each time")).toBeVisible();
  expect(countWorkers()).toBeGreaterThan(0);
  await page.getByRole("link", { name: "Go to your secrets" }).click();
  await expect(row(page, "Kept")).toBeVisible();
  await page.reload();
  await expect(page.getByText("This device is locked")).toBeVisible();
  await page.getByRole("link", { name: "Unlock with your picture" }).click();
  await showPicture(page, photographs.small);
  await expect(row(page, "Kept")).toBeVisible({ timeout: 90_000 });
});
