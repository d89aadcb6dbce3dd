import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Locator, Page } from "@playwright/test";

import { expectHome, newAccount, signUpByHand } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import {
  answerDeviceQuestion,
  openList,
  openRecovery,
  protect,
  protectFile,
  revealField,
  revealSecret,
  row,
  showPicture,
} from "../pages/secrets.ts";
import { changeInput, choosePicture, pictureField, pressButton } from "../pages/picture-field.ts";
import { openExport } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { expectAccessible } from "../support/appearance.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { openRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { createSentinel } from "../support/sentinel.ts";
import { evaluateAtVault } from "../support/vault-origin.ts";
import { readZip } from "../support/zip.ts";

test("all secrets are exported and imported into another account, then a foreign file, with nothing sent in clear", async ({
  portal,
}) => {
  const sentinels = {
    diary: createSentinel(),
    keys: createSentinel(),
    scan: createSentinel(),
    password: createSentinel(),
    changed: createSentinel(),
    note: createSentinel(),
    seed: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    title: createSentinel(),
    site: createSentinel(),
    folder: createSentinel(),
  };
  const scanContent = Buffer.from(`${sentinels.scan}\n`.repeat(20_000)); // too large for one call
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-import-"));
  const [archivePath, exitIdentityPath] = [path.join(folder, "secrets-export.zip"), path.join(folder, "exit.txt")];
  const proxy = await RecordingProxy.start();
  const foreignOrigins = new Set<string>();
  const [sourceProfile, targetProfile] = [
    await openRecordedProfile(proxy, portal.origin, foreignOrigins),
    await openRecordedProfile(proxy, portal.origin, foreignOrigins),
  ];
  const getFirstPage = async ({ context }: typeof sourceProfile): Promise<Page> =>
    context.pages()[0] ?? (await context.newPage());

  await test.step("the data page exports an archive of every secret, which opens without the portal", async () => {
    const page = await getFirstPage(sourceProfile);
    await signUpByHand(page, newAccount());
    await expectHome(page);
    await protect(page, {
      text: `Dear ${sentinels.diary}`,
      title: `Diary ${sentinels.title}`,
      tags: ["private", "2026"],
      image: { file: photographs.small, passphrase: null },
    });
    await answerDeviceQuestion(page, "My own device");
    await protect(page, { text: sentinels.keys, title: "House keys", tags: [], image: null });
    await protectFile(page, { title: "Scan", name: "scan, “old”.bin", content: scanContent });
    await openList(page);
    await page.getByRole("button", { name: /Favourite: Scan/ }).click();
    await navigateInApp(page, "/settings/data");
    await page.getByRole("link", { name: "Export everything" }).click();
    await choosePicture(page, photographs.small);
    const archiveDownload = page.waitForEvent("download", { timeout: 120_000 });
    await pressButton(page, "Export");
    await expect(page.getByRole("heading", { name: "The archive contains 3 secrets" })).toBeVisible({
      timeout: 90_000,
    });
    await (await archiveDownload).saveAs(archivePath);
    const identityDownload = page.waitForEvent("download", { timeout: 120_000 });
    await page.getByRole("button", { name: "Save the key (exit.txt)" }).click();
    await (await identityDownload).saveAs(exitIdentityPath);
    await page.getByRole("button", { name: "Done", exact: true }).click();

    const bytes = await readFile(archivePath);
    const names = [...readZip(bytes).keys()];
    expect(names).toEqual(expect.arrayContaining(["README.txt", "LEEME.txt", "manifest.json"]));
    expect(names.filter((name) => name.endsWith(".age"))).toHaveLength(6);
    expect(bytes.toString("latin1")).not.toMatch(/AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]/i);
    const { contents, tools } = await openExport(bytes, await readFile(exitIdentityPath, "utf8"));
    test.info().annotations.push({ type: "opened by", description: tools.join(", ") });
    expect(Object.fromEntries([...contents].map(([title, content]) => [title, content.toString("utf8")]))).toEqual({
      [`Diary ${sentinels.title}`]: `Dear ${sentinels.diary}`,
      "House keys": sentinels.keys,
      Scan: scanContent.toString("utf8"),
    });
  });

  const page = await getFirstPage(targetProfile);
  await test.step("another account imports the archive, and has the same list", async () => {
    await signUpByHand(page, newAccount());
    await expectHome(page);
    await navigateInApp(page, "/settings/data");
    await chooseFile(page, archivePath);
    await page.getByLabel("Archive key").fill((await readFile(exitIdentityPath, "utf8")).trim());
    await page.getByRole("button", { name: "Open the archive" }).click();
    await expect(page.getByRole("heading", { name: "3 entries found" })).toBeFocused();
    await choosePicture(page, photographs.small);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
    await changeInput(page, () =>
      pictureField(page)
        .getByRole("checkbox", { name: /Continue without a passphrase/ })
        .check(),
    );
    await page.getByLabel("Name of the picture").fill("Hills");
    await page.getByRole("button", { name: "Import 3 entries" }).click();
    await expectStored(page, "Added: 3. New versions: 0. Already here: 0.");
    await expect(page.getByText("“secrets-export.zip” is encrypted. Keep its key in another place.")).toBeVisible();
    await answerDeviceQuestion(page, "My own device");
    await page.getByRole("link", { name: "Go to your secrets" }).click();
    for (const title of [`Diary ${sentinels.title}`, "House keys", "Scan"])
      await expect(row(page, title)).toBeVisible();
    await expect(row(page, "Diary")).toContainText("private");
    await expect(row(page, "Diary")).toContainText("2026");
    await page.getByRole("searchbox").fill("“old”.bin");
    await expect(row(page, "House keys")).toBeHidden();
    await expect(row(page, "Scan")).toBeVisible();
    await page.getByRole("searchbox").clear();
    await expect(page.getByRole("button", { name: /Favourite: Scan/ })).toHaveAttribute("aria-pressed", "true");
    await expect(page.getByRole("button", { name: /Favourite: Diary/ })).toHaveAttribute("aria-pressed", "false");
    expect(
      await evaluateAtVault(page, portal.vaultOrigin, listOpenedFiles, undefined),
      "opened contents are deleted once they are stored",
    ).toEqual([]);
    await openRecovery(page, "Diary");
    await showPicture(page, photographs.small);
    expect(await revealSecret(page)).toBe(`Dear ${sentinels.diary}`);
  });

  const loginItem = {
    id: "b1",
    folderId: "f1",
    type: 1,
    name: `Mail, “the ""old""” one\r\n${sentinels.title}`,
    notes: `First line\r\nsecond, "quoted" ${sentinels.note}`,
    login: {
      uris: [{ uri: `https://${sentinels.site}.example` }],
      username: "ana",
      password: `p"a,ss\\${sentinels.password}`,
      totp: sentinels.seed,
    },
  };
  const bitwardenExport = {
    encrypted: false,
    folders: [{ id: "f1", name: `Work/${sentinels.folder}` }],
    items: [
      loginItem,
      { id: "b2", folderId: null, type: 2, name: "", notes: `No title 🗝️ ${sentinels.note}` },
      {
        id: "b3",
        folderId: null,
        type: 1,
        name: "Empty one",
        notes: null,
        login: { username: null, password: null, totp: null },
      },
      "not an item",
    ],
  };
  const file = path.join(folder, "bitwarden_export.json");
  const itemList = page.getByRole("list", { name: "Entries in the file" });

  await test.step("a foreign file is shown before it is stored, with its problems", async () => {
    await writeFile(file, JSON.stringify(bitwardenExport));
    await navigateInApp(page, "/settings/data");
    await chooseFile(page, file);
    await expect(page.getByRole("heading", { name: "3 entries found" })).toBeVisible();
    await expect(page.getByText("New: 3. Changed: 0. Already here: 0.")).toBeVisible();
    await expect(page.getByText("Empty one: has only a title and was skipped")).toBeVisible();
    await expect(page.getByText("4: was not understood and is imported as it is; check it")).toBeVisible();
    await expect(page.getByText(/Anyone who opens that record has both the password and the codes/)).toBeVisible();
    await expect(findItem(itemList, "Mail")).toContainText("Fields: User name, Password, Website, One-time code, Note");
    await expect(findItem(itemList, "Untitled")).toContainText("had no title");
    await expectAccessible(page, "the items of a file");
    await choosePicture(page, photographs.small);
    await pressButton(page, "Import 3 entries");
    await expectStored(page, "Added: 3. New versions: 0. Already here: 0.");
    await expect(
      page.getByRole("list", { name: "Some entries were not imported or need checking" }).getByRole("listitem"),
    ).toHaveText([
      "Empty one: has only a title and was skipped",
      "4: was not understood and is imported as it is; check it",
    ]);
    await expect(
      page.getByText(
        /^“bitwarden_export\.json” contains unencrypted secrets\. Keep it until you have saved these entries elsewhere\./,
      ),
    ).toBeVisible();
    await expectAccessible(page, "an import that is done");
    await page.goto("/secrets"); // the list is read again
    await openRecovery(page, "Mail");
    await showPicture(page, photographs.small);
    expect(await revealField(page, "Password")).toContain(sentinels.password);
    expect(await revealField(page, "One-time code")).toMatch(/\d{3} \d{3}/);
  });

  await test.step("the same file again adds nothing", async () => {
    await navigateInApp(page, "/settings/data");
    await chooseFile(page, file);
    await expect(page.getByText("New: 0. Changed: 0. Already here: 3.")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Import \d/ })).toBeHidden();
    await page.goto("/secrets");
    await expect(page.getByRole("searchbox")).toBeVisible();
    await expect(page.getByRole("button", { name: /^More for/ })).toHaveCount(6);
  });

  await test.step("a changed item becomes a new version", async () => {
    await writeFile(
      file,
      JSON.stringify({
        ...bitwardenExport,
        items: [
          { ...loginItem, login: { ...loginItem.login, password: sentinels.changed } },
          ...bitwardenExport.items.slice(1),
        ],
      }),
    );
    await navigateInApp(page, "/settings/data");
    await chooseFile(page, file);
    await expect(page.getByText("New: 0. Changed: 1. Already here: 2.")).toBeVisible();
    await expect(findItem(itemList, "Mail")).toContainText("changed: saved as a new version");
    await choosePicture(page, photographs.small);
    await pressButton(page, "Import 1 entry");
    await expectStored(page, "Added: 0. New versions: 1. Already here: 2.");
    await page.goto("/secrets");
    const mail = page.getByRole("listitem").filter({ hasText: "Mail, “" });
    await mail.getByRole("button", { name: /More for/ }).click();
    await page.getByRole("menuitem", { name: "History" }).click();
    await expect(page.getByRole("heading", { name: "Version 2" })).toBeVisible();
    await page.getByRole("link", { name: "Open version 1" }).click();
    await showPicture(page, photographs.small);
    expect(await revealField(page, "Password")).toContain(sentinels.password);
  });

  await test.step("no secret was in any request, in clear or encoded", async () => {
    const makeTextNeedle = (name: string, value: string): Needle => ({ name, kind: "text", bytes: Buffer.from(value) });
    const needles: Needle[] = [
      ...Object.entries(sentinels).map(([name, value]) => makeTextNeedle(name, value)),
      makeTextNeedle("an age identity", "AGE-SECRET-KEY-"),
      { name: "scan", kind: "runs", bytes: scanContent },
    ];
    const search = new ByteSearch(needles);
    expect(proxy.requestCount).toBeGreaterThan(50);
    expect(search.search(proxy.readSent(), "requests")).toEqual([]);
    expect([...foreignOrigins]).toEqual([]);
    for (const encoding of ["utf8", "base64", "hex"] as const) {
      const planted = Buffer.concat(
        needles.map(({ bytes }) => Buffer.from(`\r\n${Buffer.from(bytes.subarray(0, 1024)).toString(encoding)}\r\n`)),
      );
      expect(new Set(search.search(planted, "planted").map(({ needle }) => needle))).toEqual(
        new Set(needles.map(({ name }) => name)),
      );
    }
  });
  await Promise.all([sourceProfile.close(), targetProfile.close()]);
  await proxy.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Files of the vault's origin that hold opened contents. */
async function listOpenedFiles(): Promise<string[]> {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle("relicario-opened", { create: true });
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  return names;
}

async function chooseFile(page: Page, file: string): Promise<void> {
  await page.getByLabel("File to import").setInputFiles(file);
}

async function expectStored(page: Page, counts: string): Promise<void> {
  await expect(page.getByRole("heading", { name: "Import finished" })).toBeFocused({ timeout: 120_000 });
  await expect(page.getByText(counts)).toBeVisible();
}

function findItem(itemList: Locator, title: string): Locator {
  return itemList.getByRole("listitem").filter({ hasText: title }).first();
}
