import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

/** The pages fail on purpose. */
const test = base.extend<{ readonly problems: readonly string[] }>({
  problems: async ({}, use) => {
    await use([]);
  },
});

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const offer = (page: Page) => heading(page, "The portal did not start the last two times");
const openSettings = (page: Page) => page.goto("/settings/profile", { waitUntil: "commit" });

/** Runs a release of Settings with this script in its entry; returns a function that undoes it. */
async function breakSettings(
  releases: ReturnType<typeof createReleaseTools>,
  script: string,
): Promise<() => Promise<void>> {
  const { releases: releaseChoices, release_records: records } = await releases.readDeployment();
  const release = await releases.createChangedRelease("settings", "remoteEntry.js", (text) => `${text}\n;${script}`);
  return releases.patchDeployment({
    releases: { ...releaseChoices, settings: { stable: release } },
    release_records: {
      ...records,
      [release]: await releases.signRecord("settings", await releases.readRecord(release)),
    },
  });
}

test("after two starts with a remote that empties the page, the page starts without it, says so, and loads it again", async ({
  page,
  portal,
}) => {
  const releases = createReleaseTools(portal);
  await signUp(page, newAccount());
  const restore = await breakSettings(releases, "document.body.replaceChildren();");
  try {
    for (let start = 0; start < 2; start++) {
      await openSettings(page);
      await expect(page.locator("#root")).toHaveCount(0);
    }
    await openSettings(page);
    await expect(offer(page)).toBeVisible();
    await expect(page.getByRole("listitem")).toContainText(["Settings"]);
    await page.getByRole("button", { name: "Start without them" }).click();

    await test.step("the area and the frame say what is left out; the others work", async () => {
      await expect(page.getByRole("main").getByRole("alert")).toContainText("You started the portal without this part");
      await expect(page.getByText(/You started without these parts: .*Settings/)).toBeVisible();
      await page.reload();
      await expect(page.getByText(/You started without these parts: .*Settings/)).toBeVisible();
      await page.getByRole("navigation").first().getByRole("link", { name: "Shared with me" }).click();
      await expect(heading(page, "Shared with me")).toBeVisible();
    });
  } finally {
    await restore();
  }
  await page.getByRole("button", { name: "Load them again" }).click();
  await expect(heading(page, "Shared with me")).toBeVisible();
  await expect(page.getByText("You started without these parts")).toBeHidden();
  await page.getByRole("navigation").first().getByRole("link", { name: "Settings" }).click();
  await expect(heading(page, "Profile")).toBeVisible();
});

test("after two tabs that a remote's endless loop froze were closed, a third one offers to start without it", async ({
  page,
  context,
  portal,
}) => {
  test.slow();
  const releases = createReleaseTools(portal);
  await signUp(page, newAccount());
  await page.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("unsettledStart.")));
  await page.close();
  const restore = await breakSettings(releases, "for (;;);");
  try {
    for (let start = 0; start < 2; start++) {
      const frozen = await context.newPage();
      await openSettings(frozen);
      await expect(async () => {
        const answer = await Promise.race([
          frozen.evaluate(() => "answers").catch(() => "answers"),
          new Promise((resolve) => setTimeout(resolve, 2_000, "frozen")),
        ]);
        expect(answer).toBe("frozen");
      }).toPass();
      await frozen.close();
    }
    const next = await context.newPage();
    await next.waitForFunction(() => performance.now() > 8_000); // the others are known to be closed
    await openSettings(next);
    await expect(offer(next)).toBeVisible();
    await next.getByRole("button", { name: "Start without them" }).click();
    await expect(next.getByRole("main").getByRole("alert")).toContainText("You started the portal without this part");
  } finally {
    await restore();
  }
});

test("two starts that went well, or were left early, offer nothing", async ({ page }) => {
  await signUp(page, newAccount());
  for (let start = 0; start < 3; start++) await openSettings(page);
  await expect(heading(page, "Profile")).toBeVisible();
});
