import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { AxeBuilder } from "@axe-core/playwright";
import type { FrameLocator, Locator, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { row } from "../pages/secrets.ts";
import { changeInput, choosePicture, openedContent, pictureField } from "../pages/picture-field.ts";
import { openExport } from "../support/age.ts";
import { expectAccessible, expectNoSidewaysScroll, narrowViewport } from "../support/appearance.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";
import { readTexts } from "../support/texts.ts";

const waitOptions = { timeout: 120_000 };
/** Its first codes are RFC 4226's. */
const seedAddress = "otpauth://hotp/Mail:ana?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=1";
const [firstCode, secondCode] = ["287 082", "359 152"];

for (const language of ["en", "es"] as const)
  test.describe(language, () => {
    const locale = language === "en" ? "en-GB" : "es-ES";
    test.use({ locale });

    test("a record is made by hand, edited, shared, put into a kit, exported and imported", async ({
      page,
      browser,
      portal,
    }) => {
      const t = readTexts(language);
      const folder = await mkdtemp(path.join(tmpdir(), "relicario-record-"));
      const [password, newPassword] = [`pw ${createSentinel()}`, `new ${createSentinel()}`];
      const fieldName = (number: number): string =>
        t("host/common:record.field_title").replace("{{number}}", String(number));
      const getEdited = (number: number): Locator => page.getByRole("group", { name: fieldName(number), exact: true });
      const getShown = (on: Page | FrameLocator, name: string): Locator => on.getByRole("group", { name, exact: true });
      const button = (on: Page | Locator, key: string): Locator =>
        on.getByRole("button", { name: t(key), exact: true });
      const chooseSmallPicture = (on: Page | Locator): Promise<void> =>
        choosePicture(on, photographs.small, t("recovery/provide-image:field.file_aria"));
      const username = t("host/common:record.username_label");
      const passwordLabel = t("host/common:record.password_label");
      const codeLabel = t("host/common:record.kind_one_time_code_label");
      const valueLabel = t("host/common:record.value_label");

      await test.step("the record is made by hand, on a phone", async () => {
        await page.setViewportSize(narrowViewport);
        await signUp(page, newAccount(), { path: "/add-secret" });
        await page.getByRole("radio", { name: t("host/common:kind.record_label"), exact: true }).check();
        await getEdited(1).getByLabel(valueLabel).fill("ana");
        await getEdited(2).getByLabel(valueLabel, { exact: true }).fill(password);
        await button(page, "host/common:record.add_action").click();
        await getEdited(4).getByLabel(t("host/common:record.label_label"), { exact: true }).fill(codeLabel);
        await getEdited(4).getByLabel(t("host/common:record.kind_label"), { exact: true }).selectOption(codeLabel);
        await getEdited(4).getByLabel(valueLabel, { exact: true }).fill("no seed 1");
        await page.getByLabel(t("secrets/beta-add-secret:title.label")).fill("Mail");
        await chooseSmallPicture(page);
        await expect(pictureField(page).getByText(t("recovery/provide-image:verdict.green_title"))).toBeVisible({
          timeout: 60_000,
        });
        await changeInput(page, () =>
          pictureField(page)
            .getByRole("checkbox", { name: t("recovery/provide-image:passphrase.without_label") })
            .check(),
        );
        await page.getByRole("checkbox", { name: t("secrets/beta-add-secret:first.label") }).check();
        await button(page, "secrets/beta-add-secret:save.action").click();
        await expect(page.getByText(t("host/common:record.code_broken_error"))).toBeVisible();
        await expectAccessible(page, "a record with an error");
        await expectNoSidewaysScroll(page, "a record with an error");
        await getEdited(4).getByLabel(valueLabel, { exact: true }).fill(seedAddress);
        await button(page, "secrets/beta-add-secret:save.action").click();
        await button(page, "host/common:device.own_action").click(waitOptions);
        await navigateInApp(page, "/secrets");
        await expect(row(page, "Mail")).toBeVisible(waitOptions);
      });
      const href = (await row(page, "Mail").getByRole("link").first().getAttribute("href")) ?? "";
      const secretId = new URLSearchParams(href.split("?")[1]).get("secret") ?? "";

      const openSecret = async (title: string): Promise<void> => {
        await navigateInApp(page, "/secrets");
        await row(page, title).getByRole("link").first().click();
        await chooseSmallPicture(page);
        await button(page, "recovery/image-recovery:provide.recover_action").click();
        await expect(getShown(openedContent(page), username)).toContainText("ana", waitOptions);
      };
      const expectFields = async (on: Page | FrameLocator, expectedPassword: string): Promise<void> => {
        await expect(getShown(on, username)).toContainText("ana", waitOptions);
        await expect(on.getByText(expectedPassword)).toHaveCount(0);
        await button(getShown(on, passwordLabel), "host/common:reveal.show_action").click();
        await expect(getShown(on, passwordLabel)).toContainText(expectedPassword);
        await button(getShown(on, codeLabel), "host/common:reveal.show_action").click();
        await expect(getShown(on, codeLabel)).toContainText(firstCode);
        await button(getShown(on, codeLabel), "host/common:record.next_code_action").click();
        await expect(getShown(on, codeLabel)).toContainText(secondCode);
      };

      await test.step("the record is shown field by field, with its code", async () => {
        await openSecret("Mail");
        await expectFields(openedContent(page), password);
        await expectAccessible(page, "an opened record");
        await expectNoSidewaysScroll(page, "an opened record");
      });

      await test.step("the record is edited", async () => {
        await page.setViewportSize({ width: 1280, height: 900 });
        await navigateInApp(page, `/edit-secret/${secretId}`);
        await button(page, "secrets/beta-add-secret:edit.open_action").click();
        await getEdited(2).getByLabel(valueLabel, { exact: true }).fill(newPassword, waitOptions);
        await expectAccessible(page, "a record that is edited");
        await button(page, "secrets/beta-add-secret:edit.save_action").click();
        await expect(page.getByText(t("secrets/beta-add-secret:edit.done_status"))).toBeVisible(waitOptions);
        await openSecret("Mail");
        await expectFields(openedContent(page), newPassword);
      });

      await test.step("the record is shared by a link, and has its fields there", async () => {
        await navigateInApp(page, `/share/${secretId}`);
        const form = page.getByRole("region", { name: t("sharing/beta-share:create.title"), exact: true });
        const newShareButton = button(page, "sharing/beta-share:share.new_action");
        await expect(newShareButton.or(form)).toBeVisible();
        if (await newShareButton.isVisible()) await newShareButton.click();
        await form.getByRole("radio", { name: t("sharing/beta-share:create.who_public_label"), exact: true }).check();
        await form
          .getByRole("radio", { name: t("sharing/beta-share:create.password_none_label"), exact: true })
          .check();
        await chooseSmallPicture(form);
        await button(form, "sharing/beta-share:create.link_action").click();
        const linkField = page.getByLabel(t("sharing/beta-share:link.address_aria"), { exact: true });
        await expect(linkField).toBeVisible(waitOptions);
        const context = await browser.newContext({ baseURL: portal.origin, locale });
        const visitor = await context.newPage();
        await visitor.goto((await linkField.textContent()) ?? "");
        await button(visitor, "sharing/beta-recover-share:look.open_action").click();
        await expectFields(openedContent(visitor), newPassword);
        await context.close();
      });

      await test.step("a kit has the record, and opens it offline", async () => {
        await navigateInApp(page, "/safeguard");
        await chooseSmallPicture(page);
        const [download] = await Promise.all([
          page.waitForEvent("download", waitOptions),
          button(page, "recovery/safeguard:kit.make_action").click(),
        ]);
        const kitFile = path.join(folder, "kit.html");
        await download.saveAs(kitFile);
        const context = await browser.newContext({ offline: true, locale, viewport: { width: 320, height: 800 } });
        const kit = await context.newPage();
        await kit.goto(pathToFileURL(kitFile).href);
        const inKit = language === "en" ? { open: "Open", picture: "Picture" } : { open: "Abrir", picture: "Imagen" };
        await kit.getByLabel(inKit.picture, { exact: true }).setInputFiles(photographs.small);
        await kit.getByRole("button", { name: inKit.open, exact: true }).click();
        await button(kit, "host/common:reveal.show_action").click(waitOptions);
        await expectFields(kit, newPassword);
        expect((await new AxeBuilder({ page: kit }).setLegacyMode().analyze()).violations).toEqual([]);
        await expectNoSidewaysScroll(kit, "a record in a kit");
        await context.close();
      });

      await test.step("the record is exported as JSON that anyone can read", async () => {
        await navigateInApp(page, "/settings/data");
        await page.getByRole("link", { name: t("settings/settings-data:export.action") }).click();
        await chooseSmallPicture(page);
        const archive = page.waitForEvent("download", waitOptions);
        await button(page, "secrets/beta-home:export.start_action").click();
        const zip = await readFile(await (await archive).path());
        const identity = page.waitForEvent("download", waitOptions);
        await button(page, "secrets/beta-home:export.identity_action").click(waitOptions);
        const { contents } = await openExport(zip, await readFile(await (await identity).path(), "utf8"));
        expect(JSON.parse(contents.get("Mail")?.toString("utf8") ?? "")).toEqual({
          v: 1,
          fields: [
            { label: username, value: "ana", kind: "text" },
            { label: passwordLabel, value: newPassword, kind: "secret" },
            { label: codeLabel, value: seedAddress, kind: "one_time_code" },
          ],
        });
      });

      await test.step("a login of another program becomes a record", async () => {
        const file = path.join(folder, "bitwarden.json");
        const login = { username: "ana", password, totp: seedAddress, uris: [{ uri: "https://shop.example" }] };
        await writeFile(
          file,
          JSON.stringify({ encrypted: false, items: [{ id: "b1", type: 1, name: "Shop", login }] }),
        );
        await navigateInApp(page, "/settings/data");
        await page.getByLabel(t("settings/settings-data:import.file_label")).setInputFiles(file);
        await expect(page.getByText(t("settings/settings-data:review.seeds_body"))).toBeVisible(waitOptions);
        await chooseSmallPicture(page);
        await page
          .getByRole("button", { name: t("settings/settings-data:review.store_action_one").replace("{{count}}", "1") })
          .click();
        await expect(page.getByRole("heading", { name: t("settings/settings-data:done.title") })).toBeVisible(
          waitOptions,
        );
        await openSecret("Shop");
        const opened = openedContent(page);
        await expect(opened.getByRole("link", { name: "https://shop.example" })).toBeVisible();
        await button(getShown(opened, passwordLabel), "host/common:reveal.show_action").click();
        await expect(getShown(opened, passwordLabel)).toContainText(password);
        await button(getShown(opened, codeLabel), "host/common:reveal.show_action").click();
        await expect(getShown(opened, codeLabel)).toContainText(firstCode);
      });
      await rm(folder, { recursive: true, force: true });
    });
  });
