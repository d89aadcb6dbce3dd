import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { AxeBuilder } from "@axe-core/playwright";

import { newAccount, signUp } from "../pages/account.ts";
import { readKitText, makeKit, openKit, type SavedKit } from "../pages/kit.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, protect, protectFile, row } from "../pages/secrets.ts";
import { choosePicture, fillInField, pressButton } from "../pages/picture-field.ts";
import { hasGo, openKitWithAge } from "../support/age.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { runRelicarioOpen } from "../support/relicario-open.ts";
import { createSentinel } from "../support/sentinel.ts";

test("kit: secrets open from a file on the disk, without network, portal or account", async ({ page, browser }) => {
  const passphrase = `four words and ${createSentinel()}`;
  const seedPhrase = `legal winner ${createSentinel()} thank year`;
  const hostileSecret = {
    title: `</script><img src=x onerror="document.title='owned'"> ${createSentinel()}`,
    text: `<script>document.title = "owned"</script> ${createSentinel()}`,
  };
  const file = {
    title: `Deed ${createSentinel()}`,
    name: `../<img src=x onerror="document.title='owned'">\u202egpj.exe`,
    safeName: "__img src=x onerror=_document.title='owned'___gpj.exe",
    content: Buffer.from(`<script>alert(1)</script> ${createSentinel()}`),
  };
  const pictureCopy = await messengerCopies["1280 pixels, quality 75"](photographs.mountains);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-kit-"));
  let kit: SavedKit = { file: "", sha256: "" };
  let commands = "";
  const observed: string[] = [];
  const openOffline = async (language: string, colorScheme: "light" | "dark", width: number) => {
    const context = await browser.newContext({
      offline: true,
      locale: language,
      colorScheme,
      viewport: { width, height: 900 },
    });
    context.on("request", (request) => observed.push(request.url()));
    context.on("dialog", () => observed.push("a dialog"));
    const kitPage = await context.newPage();
    await kitPage.goto(pathToFileURL(kit.file).href);
    return kitPage;
  };

  await test.step("a person makes a kit of all secrets on Safeguard", async () => {
    await signUp(page, newAccount());
    await protect(page, {
      text: seedPhrase,
      title: "Wallet",
      tags: ["paper"],
      image: { file: photographs.mountains, passphrase },
    });
    await answerDeviceQuestion(page, "My own device");
    await protect(page, { text: hostileSecret.text, title: hostileSecret.title, tags: [], image: null });
    await protectFile(page, file);
    kit = await makeKit(page, folder, photographs.mountains, passphrase);
    const bytes = await readFile(kit.file);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(kit.sha256);
    expect(bytes.length).toBeLessThan(3_000_000);
    await expect(page.getByRole("region", { name: "Kits you have made" }).getByText("Up to date")).toBeVisible({
      timeout: 60_000,
    });
  });

  await test.step("the kit's sheet fits one page of A4, and of Letter", async () => {
    await page.evaluate(() => {
      window.print = () => undefined;
    }); // without the print dialog, whose end removes the sheet
    for (const format of ["A4", "Letter"]) {
      await page.getByRole("button", { name: "Print the sheet" }).click();
      await expect(page.locator("[data-print]")).toContainText(kit.sha256.slice(0, 8));
      expect(countPages(await page.pdf({ format }))).toBe(1);
      await expect(page.locator("[data-print]")).toHaveCount(0); // removed
    }
  });

  await test.step("the kit opens from the disk with a messenger's copy, and sends nothing", async () => {
    const kitPage = await openOffline("en-GB", "light", 1280);
    await openKit(kitPage, photographs.sunset, passphrase);
    await expect(kitPage.getByRole("alert")).toContainText("Wrong picture or wrong passphrase", {
      timeout: 90_000,
    });
    await openKit(kitPage, pictureCopy, passphrase);
    expect(await readKitText(kitPage, "Wallet")).toBe(seedPhrase);
    expect(await readKitText(kitPage, hostileSecret.title)).toBe(hostileSecret.text);
    await expect(kitPage).toHaveTitle("Recovery kit");
    const [textDownload] = await Promise.all([
      kitPage.waitForEvent("download"),
      kitPage.getByRole("article").first().getByRole("button", { name: "Save as a file" }).click(),
    ]);
    expect(await readFile(await textDownload.path(), "utf8")).toBe(seedPhrase);
    const deedArticle = kitPage
      .getByRole("article")
      .filter({ has: kitPage.getByRole("heading", { name: file.title }) });
    await expect(deedArticle.getByText(file.name, { exact: true })).toBeVisible();
    const [fileDownload] = await Promise.all([
      kitPage.waitForEvent("download"),
      deedArticle.getByRole("button", { name: "Save as a file" }).click(),
    ]);
    expect([fileDownload.suggestedFilename(), await readFile(await fileDownload.path())]).toEqual([
      file.safeName,
      file.content,
    ]);
    await kitPage.getByRole("heading", { name: "Without this page" }).click();
    commands = (await kitPage.locator("details pre").nth(1).textContent()) ?? "";
    expect((await new AxeBuilder({ page: kitPage }).setLegacyMode().analyze()).violations).toEqual([]);
    await kitPage.getByRole("button", { name: "Close" }).click();
    await expect(kitPage.getByText(seedPhrase)).toHaveCount(0);
    await kitPage.context().close();
  });

  await test.step("in Spanish, dark, on a small phone, by keyboard only", async () => {
    const kitPage = await openOffline("es-ES", "dark", 320);
    await expect(kitPage.getByRole("heading", { level: 1, name: "Kit de recuperación" })).toBeVisible();
    expect((await new AxeBuilder({ page: kitPage }).setLegacyMode().analyze()).violations).toEqual([]);
    expect(await kitPage.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await kitPage.getByLabel("Imagen", { exact: true }).setInputFiles(pictureCopy);
    await kitPage.getByLabel("Imagen", { exact: true }).focus();
    await kitPage.keyboard.press("Tab");
    await kitPage.keyboard.type(passphrase);
    await kitPage.keyboard.press("Enter");
    await expect(kitPage.getByRole("heading", { name: "3 secretos abiertos" })).toBeFocused({ timeout: 90_000 });
    await kitPage.keyboard.press("Tab");
    await kitPage.keyboard.press("Enter");
    await expect(kitPage.locator("pre", { hasText: seedPhrase })).toBeVisible();
    await kitPage.getByRole("button", { name: "English" }).click();
    await expect(kitPage.getByRole("button", { name: "Hide" })).toBeVisible();
    expect(await kitPage.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await kitPage.context().close();
    expect(observed.filter((address) => !address.startsWith("file:") && !address.startsWith("blob:"))).toEqual([]);
  });

  await test.step("the kit opens by the command line, and with age itself", async () => {
    await writeFile(path.join(folder, "copy.jpg"), pictureCopy.buffer);
    const result = await runRelicarioOpen(["kit.html", "copy.jpg", "--passphrase-stdin"], {
      folder,
      input: `${passphrase}\n`,
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("“Wallet”: secret.txt");
    expect(await readFile(path.join(folder, "secret.txt"), "utf8")).toBe(seedPhrase);
    expect(await readFile(path.join(folder, "secret (2).txt"), "utf8")).toBe(hostileSecret.text);
    expect(await readFile(path.join(folder, file.safeName))).toEqual(file.content);
    const { stdout: identity } = await runRelicarioOpen(["kit.html", "copy.jpg", "--passphrase-stdin", "--identity"], {
      folder,
      input: passphrase,
    });
    const { plain, tool } = await openKitWithAge(kit.file, identity, commands, 1);
    expect(tool).toBe((await hasGo()) ? "age" : "typage");
    expect(plain.toString("utf8")).toBe(seedPhrase);
    const wrongPassphrase = await runRelicarioOpen(["kit.html", "copy.jpg", "--passphrase-stdin", "--out", folder], {
      folder,
      input: "another",
    });
    expect(wrongPassphrase).toEqual({
      code: 1,
      stdout: "",
      stderr: "This is not the picture of this kit, or not its passphrase.\n",
    });
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  await test.step("after an edit the portal says that the kit is out of date", async () => {
    await page.goto("/secrets"); // the list is read again: making the kit changed its labels
    await row(page, "Wallet")
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Open and change" }).click();
    await choosePicture(page, photographs.mountains);
    await fillInField(page, "Passphrase, if the picture has one", passphrase);
    await pressButton(page, "Open");
    await page.getByRole("textbox", { name: "Your secret" }).fill("another phrase", { timeout: 90_000 });
    await pressButton(page, "Save changes");
    await expect(page).not.toHaveURL(/edit/, { timeout: 60_000 });
    await navigateInApp(page, "/safeguard");
    await expect(
      page.getByRole("region", { name: "Kits you have made" }).getByText("Changed since then: Wallet."),
    ).toBeVisible({ timeout: 60_000 });
  });
  await rm(folder, { recursive: true, force: true });
});

/** Pages of a PDF as Chromium writes it: its page objects are uncompressed. */
function countPages(pdf: Buffer): number {
  return pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
}
