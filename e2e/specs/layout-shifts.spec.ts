import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { routes } from "../support/routes.ts";
import { expectNoShift } from "../support/layout-shifts.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}
const wide: Size = { width: 1280, height: 900 };
const narrow: Size = { width: 360, height: 740 };
const bothSizes: readonly Size[] = [wide, narrow];
/** Screens that differ while the account is empty and while the device is locked. */
const stateDependentPaths = ["/home", "/secrets", "/settings/data"];
/** Screens with most parts that load one after another. */
const defaultPaths = [
  ...stateDependentPaths,
  "/edit-secret/:id",
  "/people",
  "/share/:id",
  "/settings/profile",
  "/settings/security",
];
const isCompleteRun = process.env["RELICARIO_TESTS"] === "all";

/**
 * Reloads each screen, because cached data arrives at once. A reload takes a second or two, so only
 * `npm run test:all` reloads all screens.
 */
test("nothing on a screen shifts while it loads", async ({ page }) => {
  test.setTimeout(900_000);
  const checkPaths = async (paths: readonly string[], state: string, sizes: readonly Size[]) => {
    for (const size of sizes) {
      await page.setViewportSize(size);
      for (const path of paths) {
        await test.step(`${path}, ${String(size.width)} px wide, ${state}`, async () => {
          await expectNoShift(page, path);
        });
      }
    }
  };

  await signUp(page, newAccount());
  await checkPaths(stateDependentPaths, "empty", bothSizes);
  await page.setViewportSize(wide);
  await protect(page, {
    text: "a text",
    title: "Kept",
    tags: ["looks"],
    image: { file: photographs.small, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await page.getByRole("button", { name: /More for/ }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await expect(page).toHaveURL(/\/edit-secret\//);
  const secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  await checkPaths(
    (isCompleteRun ? routes : defaultPaths).map((route) => route.replace(":id", secretId)),
    "unlocked",
    isCompleteRun ? bothSizes : [wide],
  );
  if (!isCompleteRun) await checkPaths(stateDependentPaths, "unlocked", [narrow]);

  await page.setViewportSize(wide);
  await openList(page);
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked")).toBeVisible();
  await checkPaths([...stateDependentPaths, "/new-device"], "locked", bothSizes);
});
