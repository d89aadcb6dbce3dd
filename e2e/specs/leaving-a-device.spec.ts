import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect, row, showPicture } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { removeEd25519 } from "../support/without-ed25519.ts";

/**
 * How many records every database of this origin has, but for keys of links that are still good.
 */
function countRecords(page: Page): Promise<Readonly<Record<string, number>>> {
  return page.evaluate(async () => {
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
  });
}

test("a device of one's own is locked at sign-out and opens with the next sign-in; forgotten, it knows nobody", async ({
  page,
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

  await test.step("titles show again after signing in, without another act", async () => {
    await signOut(page);
    await signIn(page, account, { path: "/secrets" });
    await expect(row(page, "Kept")).toBeVisible();
  });

  await test.step("forgetting takes everything, in a page whose screen asked for no vault", async () => {
    await page.goto("/help");
    expect(Object.keys(await countRecords(page))).toEqual(
      expect.arrayContaining(["relicario-vault/accounts", "relicario-host/people"]),
    );
    await page
      .getByRole("button", { name: /^Log out/ })
      .first()
      .click();
    await page.getByRole("dialog", { name: "Log out?" }).getByRole("button", { name: "Forget this device" }).click();
    await page
      .getByRole("dialog", { name: "Forget this device?" })
      .getByRole("button", { name: "Forget this device" })
      .click();
    await expect(page.getByLabel("User name or e-mail")).toBeVisible();
    await signIn(page, account);
    await page.goto("/help");
    expect(Object.keys(await countRecords(page))).toEqual(["relicario-host/people"]); // of this sign-in
    await page.goto("/secrets");
    await expect(page.getByText("This device is locked")).toBeVisible();
  });
});

test("a browser without Ed25519 says that it cannot remember the device; everything works, and the picture unlocks the next visit", async ({
  page,
}) => {
  const account = newAccount();
  const workers = removeEd25519(page);
  await signUp(page, account);
  await protect(page, { text: "kept", title: "Kept", tags: [], image: { file: photographs.small, passphrase: null } });
  await answerDeviceQuestion(page, "My own device");
  await expect(page.getByText("at your next visit you show your picture again")).toBeVisible();
  expect(workers()).toBeGreaterThan(0);
  await page.getByRole("link", { name: "Go to your secrets" }).click();
  await expect(row(page, "Kept")).toBeVisible();
  await page.reload();
  await expect(page.getByText("This device is locked")).toBeVisible();
  await page.getByRole("link", { name: "Unlock with your picture" }).click();
  await showPicture(page, photographs.small);
  await expect(row(page, "Kept")).toBeVisible({ timeout: 90_000 });
});
