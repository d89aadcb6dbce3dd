import type { Page } from "@playwright/test";
import type { RunningPortal } from "@relicario/tooling/portal";

import { newAccount, signUp } from "../pages/account.ts";
import { expectAccessible } from "../support/appearance.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

const navigationOf = {
  sharing: [
    { route: "/people", titleKey: "beta-share:people.title", icon: "heart", order: 10 },
    { route: "/asked-for", titleKey: "beta-share:asked.title", icon: "mail", order: 50, feature: "requests" },
  ],
  settings: [
    { route: "/settings/activity", titleKey: "settings:activity.title", icon: "clock", order: 20 },
    { route: "/settings/data", titleKey: "settings:data.title", icon: "archive", order: 30 },
    { route: "/settings/security", titleKey: "settings:security.title", icon: "shield", order: 40 },
  ],
} as const;

/**
 * Deploys the same releases with entries in their signed manifests. Returns a function that undoes
 * it.
 */
async function deployEntries(
  portal: RunningPortal,
  navigation: Readonly<Partial<Record<string, readonly object[]>>>,
  features: Readonly<Record<string, boolean>> = {},
): Promise<() => Promise<void>> {
  const { readDeployment, patchDeployment, readRecord, signRecord, findStableRelease } = createReleaseTools(portal);
  const changedRecords = await Promise.all(
    Object.entries(navigation).map(async ([remote, entries]) => {
      const record = await readRecord(await findStableRelease(remote));
      const manifest = { ...record.manifest, contract: "^3.1", navigation: entries };
      return [record.release, await signRecord(remote, { ...record, manifest })] as const;
    }),
  );
  const { release_records: records } = await readDeployment();
  return patchDeployment({ features, release_records: { ...records, ...Object.fromEntries(changedRecords) } });
}

const entryCount = Object.values(navigationOf).flat().length;
const listLinks = (page: Page) => page.getByRole("navigation", { name: "Navegación principal" }).getByRole("link");

test.describe("entries that remotes add to the navigation", () => {
  test("follow the destinations in Spanish; what does not fit is under More", async ({ page, portal }) => {
    const restore = await deployEntries(portal, navigationOf);
    try {
      await page.setViewportSize({ width: 1280, height: 2000 });
      await signUp(page, newAccount());
      await page.getByRole("button", { name: "English. Cambiar a español" }).click();
      await expect(listLinks(page).filter({ hasText: "Personas" })).toBeVisible();
      const links = await listLinks(page).allTextContents();
      expect(links.slice(0, 5)).toEqual(["Inicio", "Secretos", "Compartido conmigo", "Añadir secreto", "Ajustes"]);
      expect(links.slice(5)).toHaveLength(entryCount);
      await expectAccessible(page, "entries of remotes");

      await page.setViewportSize({ width: 1280, height: 760 });
      const more = page.getByRole("button", { name: "Más", exact: true });
      await expect(more).toBeVisible();
      const isCut = () =>
        page.getByRole("banner").evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight);
      expect(await isCut()).toBe(false);
      await more.click();
      await expect(listLinks(page)).toHaveCount(5 + entryCount);
      await expectAccessible(page, "entries under More");
      await listLinks(page).last().click();
      await expect(page).toHaveURL(/\/asked-for$/);
      await expect(listLinks(page).last()).toHaveAttribute("aria-current", "page");
    } finally {
      await restore();
    }
  });

  test("are in the menu of a phone, below the destinations", async ({ page, portal }) => {
    const restore = await deployEntries(portal, navigationOf);
    try {
      await page.setViewportSize({ width: 360, height: 740 });
      await signUp(page, newAccount());
      await expect(page.getByRole("navigation").getByRole("link")).toHaveText([
        "Home",
        "Secrets",
        "Add secret",
        "Shared with me",
      ]);
      await page.getByRole("button", { name: "Open the menu" }).click();
      const menu = page.getByRole("dialog", { name: "Menu" });
      await menu.getByRole("button", { name: "English. Cambiar a español" }).click();
      const spanishMenu = page.getByRole("dialog", { name: "Menú" });
      await spanishMenu.getByRole("button", { name: "Más", exact: true }).click();
      await expect(spanishMenu.getByRole("link")).toHaveCount(7 + entryCount);
      await expectAccessible(page, "the menu of a phone with entries of remotes");
      await spanishMenu.getByRole("link", { name: "Personas" }).click();
      await expect(page.getByRole("heading", { level: 1, name: "Personas" })).toBeVisible();
    } finally {
      await restore();
    }
  });

  test("are absent if their feature is off, or if their manifest is refused", async ({ page, portal }) => {
    const restore = await deployEntries(
      portal,
      { sharing: navigationOf.sharing, settings: [{ ...navigationOf.settings[0], route: "/nowhere" }] },
      { requests: false },
    );
    try {
      await page.setViewportSize({ width: 1280, height: 2000 });
      await signUp(page, newAccount());
      await expect(
        page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "People" }),
      ).toBeVisible();
      await expect(page.getByRole("navigation", { name: "Main navigation" }).getByRole("link")).toHaveCount(6);
    } finally {
      await restore();
    }
  });
});
