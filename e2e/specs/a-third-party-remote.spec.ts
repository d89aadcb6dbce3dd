import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";
import { createThirdPartyRemote, type ThirdPartyRemote } from "../support/third-party-remote.ts";

const test = base.extend<object, { readonly thirdParty: ThirdPartyRemote }>({
  thirdParty: [
    async ({}, use) => {
      const thirdParty = await createThirdPartyRemote();
      await use(thirdParty);
      await thirdParty.remove();
    },
    { scope: "worker", timeout: 240_000 },
  ],
  // A separate portal with the built host, and the third party's remote next to the portal's own.
  portal: [
    async ({ thirdParty }, use) => {
      const [types, build] = [await thirdParty.checkTypes(), await thirdParty.runBuild()];
      expect(types, types.output).toMatchObject({ ok: true });
      expect(build, build.output).toMatchObject({ ok: true });
      const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-e2e-"));
      const portal = await startPortal({ port: 0, dataDir, remoteFolders: [thirdParty.folder] });
      await use(portal);
      await portal.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

const hostPage = path.join(import.meta.dirname, "../../host/dist/index.html");
const Surface = z.record(z.string(), z.object({ exports: z.array(z.string()) }));

test("a remote that the guide's command made is built, tried, released and promoted by the guide's commands", async ({
  page,
  portal,
  thirdParty,
}) => {
  test.slow();
  const { checkInHost, runCommand, findStableRelease, readRecord } = createReleaseTools(portal);
  await signUp(page, newAccount());
  await page.getByRole("navigation", { name: "Main navigation" }).getByRole("link", { name: "Garden" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Garden" })).toBeVisible();
  await expect(page.locator(".garden-greeting")).toHaveCSS("font-style", "italic"); // the template's style file
  await page.getByRole("button", { name: "Greet" }).click();
  await expect(page.getByText("The portal says hello.")).toBeVisible();

  await thirdParty.editFile("src/locales/en/garden.json", (text) =>
    text.replace('"title": "Garden"', '"title": "Kitchen garden"'),
  );
  for (const result of [await thirdParty.runBuild(), await thirdParty.runTests()])
    expect(result.ok, result.output).toBe(true);
  const previousRelease = await findStableRelease("garden");
  const releaseResult = await runCommand("release", thirdParty.folder);
  expect(releaseResult.ok, releaseResult.output).toBe(true);
  const release = releaseResult.output.trim();
  expect(release).not.toBe(previousRelease);
  expect(Object.keys((await readRecord(release)).files)).toContain("sbom.cdx.json");
  expect(await checkInHost(release)).toMatchObject({ ok: true });
  expect(await runCommand("promote", release)).toMatchObject({
    ok: true,
    output: expect.stringContaining("signed as number"),
  });
  expect(await findStableRelease("garden")).toBe(release);
  await page.goto("/garden");
  await expect(page.getByRole("heading", { level: 1, name: "Kitchen garden" })).toBeVisible();
});

test("a remote of an unknown team, built only against the packed contract, runs in the unchanged host", async ({
  page,
  browser,
  portal,
  thirdParty,
}) => {
  test.slow();
  const account = newAccount();
  const hostBuiltAt = (await stat(hostPage)).mtimeMs;
  await thirdParty.replacePagesWithFixture();
  for (const result of [await thirdParty.checkTypes(), await thirdParty.runBuild()])
    expect(result.ok, result.output).toBe(true);
  await portal.publish();
  await signUp(page, account);
  await page.goto("/garden");

  await test.step("the remote uses parts of the shared packages that no page of the portal uses", async () => {
    await expect(page.getByRole("heading", { level: 1, name: "Garden" })).toBeVisible();
    // Trans, an i18next formatter, nesting
    await expect(page.getByTestId("trans")).toHaveText("1,234.5 beds in Garden");
    await expect(page.getByTestId("trans").locator("strong")).toHaveText("1,234.5");
    await expect(page.getByTestId("beds")).toHaveText("1 2"); // useInfiniteQuery
    await page.getByRole("button", { name: "More beds" }).click();
    await expect(page.getByTestId("beds")).toHaveText("1 2 2 3");
    await expect(page.getByTestId("leaf")).toHaveText("name rows"); // toJSONSchema
    await expect(page.getByTestId("leaf")).toHaveCSS("color", "rgb(0, 100, 0)"); // ThemeProvider
    await expect(page.getByRole("img", { name: "Flower" })).toHaveCSS("opacity", "0.75"); // motion.div
    await page.getByLabel("Garden").fill("  ");
    await expect(page.getByText("This is not a valid name for a bed.")).toBeVisible(); // trim().nonempty()
  });

  await test.step("every listed name is there", async () => {
    const surface = Surface.parse(
      JSON.parse(await readFile(path.join(import.meta.dirname, "../../shared/src/webpack/surface.json"), "utf8")),
    );
    const exportedNames = z
      .record(z.string(), z.array(z.string()))
      .parse(JSON.parse((await page.getByTestId("given").textContent()) ?? ""));
    expect(Object.keys(exportedNames).length).toBeGreaterThan(8);
    for (const [module, names] of Object.entries(exportedNames)) {
      const missing = surface[module]?.exports.filter((name) => !names.includes(name));
      expect([module, missing]).toEqual([module, missing?.filter((name) => name === "default")]);
    }
  });

  await test.step("the remote's stylesheet is applied, but not with one byte more", async () => {
    await expect(page.getByTestId("trans")).toHaveCSS("letter-spacing", "3px");
    const releases = createReleaseTools(portal);
    const release = await releases.findStableRelease("garden");
    const stylesheet =
      Object.keys((await releases.readRecord(release)).files).find((file) => file.endsWith(".css")) ?? "";
    const restore = await releases.appendByte(release, stylesheet);
    const otherPage = await (await browser.newContext({ baseURL: portal.origin })).newPage();
    await signIn(otherPage, account, { path: "/garden" });
    await expect(otherPage.getByRole("main").getByRole("alert")).toContainText("not available right now", {
      timeout: 60_000,
    });
    const applied = await otherPage.evaluate(
      (file) => [...document.styleSheets].some(({ href }) => href?.endsWith(file)),
      stylesheet,
    );
    expect(applied).toBe(false);
    const withoutHash = await otherPage.evaluate(async (address) => {
      const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
      const outcome = new Promise((resolve) => {
        for (const kind of ["load", "error"]) link.addEventListener(kind, resolve, { once: true });
      }).then((event) => (event as Event).type);
      document.head.append(link);
      return outcome.finally(() => {
        link.remove();
      });
    }, `/r/garden/${release}/${stylesheet}`);
    expect(withoutHash).toBe("error");
    await restore();
    await otherPage.getByRole("main").getByRole("button", { name: "Try again" }).click();
    await expect(otherPage.getByTestId("trans")).toHaveCSS("letter-spacing", "3px", { timeout: 60_000 });
    await otherPage.context().close();
  });

  await test.step("its stylesheet hides nothing of the frame", async () => {
    await expect(page.getByRole("navigation").first()).toBeVisible();
    await expect(page.getByRole("main")).toBeVisible();
    await expect(page.locator("body")).toHaveCSS("display", "block");
  });

  await page.evaluate(() => {
    document.body.classList.add("garden");
    document.documentElement.style.overflow = "hidden";
  });
  await test.step("useLeaveGuard asks before its page is left", async () => {
    await page.getByLabel("Garden").fill("Herbs");
    await page.getByRole("main").getByRole("link", { name: "Home" }).click();
    await page.getByRole("dialog", { name: "Garden" }).getByRole("button", { name: "Cancel" }).click();
    await expect(page).toHaveURL(/\/garden$/);
    await page.getByRole("main").getByRole("link", { name: "Home" }).click();
    await page.getByRole("dialog", { name: "Garden" }).getByRole("button", { name: "Yes" }).click();
    await expect(page).toHaveURL(/\/home$/);
  });

  await test.step("what it did to the page ended with it", async () => {
    await expect(page.locator("body")).not.toHaveClass(/garden/);
    await expect(page.locator("html")).not.toHaveAttribute("style", /overflow/);
  });

  await test.step("a page that the remote adds is shown without a new host", async () => {
    await thirdParty.editFile("manifest.json", (text) =>
      text.replace(
        '"routes": [',
        '"routes": [{ "path": "/shed", "titleKey": "garden:second.title", "access": "signed_in", "shell": true }, ',
      ),
    );
    await thirdParty.editFile("src/remote.tsx", (text) =>
      text.replace("routes: {", 'routes: { "/shed": () => import("./garden/ShedPage.tsx"),'),
    );
    await thirdParty.editFile(
      "src/garden/ShedPage.tsx",
      () =>
        `import { Page } from "@relicario/shared/ui";\nimport { useTranslation } from "react-i18next";\nexport default function ShedPage() {\n  const { t } = useTranslation("garden");\n  return <Page title={t("second.title")} />;\n}\n`,
    );
    const buildResult = await thirdParty.runBuild();
    expect(buildResult, buildResult.output).toMatchObject({ ok: true });
    await portal.publish();
    await page.goto("/shed");
    await expect(page.getByRole("heading", { level: 1, name: "Shed" })).toBeVisible();
    await expect(page).toHaveTitle(/^Shed/);
  });
  expect((await stat(hostPage)).mtimeMs).toBe(hostBuiltAt);
});

test("the remote passes the conformance kit that comes with the contract", async ({ thirdParty }) => {
  test.slow();
  const { ok, output } = await thirdParty.runTests();
  expect(ok, output).toBe(true);
  expect(output).toContain("shows a screen that is accessible (es, dark)");
});

test("a remote that imports what the host does not provide fails at its own build", async ({ thirdParty }) => {
  test.slow();
  const pageFile = "src/garden/GardenPage.tsx";
  const original = await readFile(path.join(thirdParty.folder, pageFile), "utf8");
  await thirdParty.editFile(
    pageFile,
    (text) =>
      `import { renderToString } from "react-dom/server";\nimport { useTelepathy } from "react";\nconsole.log(renderToString, useTelepathy);\n${text}`,
  );
  const { ok, output } = await thirdParty.runBuild();
  await thirdParty.editFile(pageFile, () => original);
  expect(ok).toBe(false);
  expect(output).toContain("react-dom/server is not given by the host");
  expect(output).toContain("useTelepathy of react is not given by the host");
});
