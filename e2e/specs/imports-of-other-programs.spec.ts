import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion } from "../pages/secrets.ts";
import { changeInput, choosePicture, pictureField, pressButton } from "../pages/picture-field.ts";
import { openExport } from "../support/age.ts";
import { expectAccessible, expectNoSidewaysScroll, narrowViewport } from "../support/appearance.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import {
  buildRealEntries,
  exportFromKeePassXc,
  exportFromPass,
  writeBitwardenExport,
  type RealEntry,
} from "../support/real-exports.ts";

test("the import of a file asks what the file does not say of itself, at the width of a phone", async ({ page }) => {
  await page.setViewportSize(narrowViewport);
  await signUp(page, newAccount());
  await navigateInApp(page, "/settings/data");
  await test.step("an encoding is chosen by three sample values", async () => {
    const cyrillic = Buffer.from([0xcf, 0xee, 0xf7, 0xf2, 0xe0]); // Почта in windows-1251
    const content = Buffer.concat([
      Buffer.from("name,url,username,password,note\n"),
      cyrillic,
      Buffer.from(",https://a.example,ana,pw,\n"),
    ]);
    await page
      .getByLabel("File to import")
      .setInputFiles({ name: "passwords.csv", mimeType: "text/csv", buffer: content });
    await expect(page.getByRole("heading", { name: "Which line looks right?" })).toBeFocused();
    await expectAccessible(page, "the question of an encoding");
    await expectNoSidewaysScroll(page, "the question of an encoding");
    await page.getByRole("radio", { name: "Почта" }).check();
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByText("Fields: User name, Password, Website")).toBeVisible();
    await expectNoSidewaysScroll(page, "the review");
    await page.getByRole("button", { name: "Cancel" }).click();
  });
  await test.step("columns of an unknown table are named by the person", async () => {
    const content = Buffer.from("Where;Who;What\nhttps://a.example;ana;hunter2\n");
    await page.getByLabel("File to import").setInputFiles({ name: "table.csv", mimeType: "text/csv", buffer: content });
    await expect(page.getByRole("heading", { name: "What does each column contain?" })).toBeFocused();
    await page.getByLabel("Column “Where”").selectOption("Website");
    await page.getByLabel("Column “What”").selectOption("Password");
    await expectAccessible(page, "the question of columns");
    await expectNoSidewaysScroll(page, "the question of columns");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByText("Fields: Password, Website, Who")).toBeVisible();
  });
});

test("real exports of KeePassXC and pass, and Bitwarden's documented format, are imported and exported without a change @long", async ({
  page,
}) => {
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-real-"));
  const entries = {
    kdbx: buildRealEntries("KDBX"),
    csv: buildRealEntries("CSV"),
    bitwarden: buildRealEntries("Bitwarden"),
    pass: buildRealEntries("pass"),
  };
  const keepass = await exportFromKeePassXc(path.join(folder, "database"), entries.kdbx);
  const { csv } = await exportFromKeePassXc(path.join(folder, "table"), entries.csv);
  const passFolder = await exportFromPass(path.join(folder, "pass"), entries.pass);
  const bitwarden = await writeBitwardenExport(path.join(folder, "bitwarden.json"), entries.bitwarden);
  await signUp(page, newAccount());
  await navigateInApp(page, "/settings/data");

  await test.step("the import of a database asks for its password, and begins the account", async () => {
    await page.getByLabel("File to import").setInputFiles(keepass.database);
    await page.getByLabel("Database password").fill(keepass.password);
    await page.getByRole("button", { name: "Continue" }).click();
    await choosePicture(page, photographs.small);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
    await changeInput(page, () =>
      pictureField(page)
        .getByRole("checkbox", { name: /Continue without a passphrase/ })
        .check(),
    );
    await page.getByLabel("Name of the picture").fill("Hills");
    await storeAll(page, 4);
    await expect(page.getByText("protected only by its password")).toBeVisible();
    await answerDeviceQuestion(page, "My own device");
  });
  await test.step("the same database as XML adds nothing", async () => {
    await importAnother(page, keepass.xml);
    await expect(page.getByText("New: 0. Changed: 0. Already here: 4.")).toBeVisible();
    await page.getByRole("button", { name: "Cancel" }).click();
  });
  await test.step("a table, Bitwarden's file and the folder of pass are imported too", async () => {
    await page.getByLabel("File to import").setInputFiles(csv);
    await choosePicture(page, photographs.small);
    await storeAll(page, 2);
    await importAnother(page, bitwarden);
    await choosePicture(page, photographs.small);
    await storeAll(page, 2);
    await page.getByRole("button", { name: "Import another file" }).click();
    await page.getByLabel("Choose a folder of text files").setInputFiles(passFolder);
    await choosePicture(page, photographs.small);
    await storeAll(page, 2);
  });

  const contents = await test.step("all entries are exported, and open with age", () => exportAll(page, folder));
  const readFields = (title: string): readonly string[] => {
    const { fields } = JSON.parse(contents.get(title) ?? "") as { fields: { label: string; value: string }[] };
    return fields.map(({ label, value }) => `${label}: ${value}`);
  };
  const fieldsOf = (entry: RealEntry): string[] => [
    `User name: ${entry.username}`,
    `Password: ${entry.password}`,
    `Website: ${entry.url}`,
    `Note: ${entry.notes}`,
  ];
  for (const entry of [...entries.kdbx, ...entries.bitwarden]) {
    const fields = readFields(entry.title);
    expect(fields).toEqual(
      expect.arrayContaining([...fieldsOf(entry), `PIN: ${entry.pin}`, `One-time code: ${entry.otp}`]),
    );
    expect(fields).toContainEqual(expect.stringMatching(new RegExp(`\\): ${entry.formerPassword}$`)));
  }
  for (const entry of entries.csv) {
    const fields = readFields(entry.title);
    expect(fields).toEqual(expect.arrayContaining(fieldsOf(entry).slice(0, 2)));
    for (const text of [entry.url, entry.notes]) expect(fields.join("\n")).toContain(text);
    for (const part of ["secret=JBSWY3DPEHPK3PXP", "period=60", "digits=8"])
      expect(fields).toContainEqual(expect.stringMatching(new RegExp(`^One-time code: .*${part}`)));
  }
  for (const { title, attachment } of entries.kdbx) expect(contents.get(`${title}: scan ñ.txt`)).toBe(attachment);
  for (const { title, username, password, notes } of entries.pass)
    expect(contents.get(title)).toBe(`${password}\nlogin: ${username}\n${notes}\n`);
  expect(contents.size).toBe(10);
  await rm(folder, { recursive: true, force: true });
});

async function importAnother(page: Page, file: string): Promise<void> {
  await page.getByRole("button", { name: "Import another file" }).click();
  await page.getByLabel("File to import").setInputFiles(file);
}

async function storeAll(page: Page, count: number): Promise<void> {
  await page.getByRole("button", { name: `Import ${String(count)} entries` }).click();
  await expect(page.getByRole("heading", { name: "Import finished" })).toBeFocused({ timeout: 120_000 });
  await expect(page.getByText(`Added: ${String(count)}. New versions: 0. Already here: 0.`)).toBeVisible();
}

/** Each content of the archive by its title. */
async function exportAll(page: Page, folder: string): Promise<ReadonlyMap<string, string>> {
  const [zip, exitFile] = [path.join(folder, "secrets-export.zip"), path.join(folder, "exit.txt")];
  await page.getByRole("link", { name: "Export everything" }).click();
  await choosePicture(page, photographs.small);
  const archive = page.waitForEvent("download", { timeout: 120_000 });
  await pressButton(page, "Export");
  await (await archive).saveAs(zip);
  const identity = page.waitForEvent("download", { timeout: 120_000 });
  await page.getByRole("button", { name: "Save the key (exit.txt)" }).click();
  await (await identity).saveAs(exitFile);
  const { contents, tools } = await openExport(await readFile(zip), await readFile(exitFile, "utf8"));
  test.info().annotations.push({ type: "opened by", description: tools.join(", ") });
  return new Map([...contents].map(([title, content]) => [title, content.toString("utf8")]));
}
