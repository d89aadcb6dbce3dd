/**
 * A kit's page in a browser that Playwright does not drive: Firefox, and for comparison Chromium.
 */
import { pathToFileURL } from "node:url";

import { launchBrowser, type BrowserLaunchOptions, type BrowserName } from "@relicario/engine/browsers";

export type KitBrowser = NonNullable<Awaited<ReturnType<typeof launchBrowser>>>;
export type KitTab = Awaited<ReturnType<KitBrowser["newPage"]>>;

export interface KitOpener {
  readonly picturePath: string;
  readonly passphrase: string;
}

export const kitBrowsers = ["Chromium", "Firefox"] as const satisfies readonly BrowserName[];

export async function launchKitBrowser(name: BrowserName, options: BrowserLaunchOptions = {}): Promise<KitBrowser> {
  const browser = await launchBrowser(name, options);
  if (browser === null)
    throw new Error(`There is no ${name}: install it, or name one with RELICARIO_${name.toUpperCase()}.`);
  return browser;
}

export async function gotoKit(tab: KitTab, file: string): Promise<void> {
  await tab.goto(pathToFileURL(file).href);
}

/** Fills in the kit's form. @returns false when the kit shows none */
export async function fillKitForm(tab: KitTab, { picturePath, passphrase }: KitOpener): Promise<boolean> {
  const input = await tab.$("#picture");
  if (input === null) return false;
  await (input as unknown as { uploadFile: (path: string) => Promise<void> }).uploadFile(picturePath);
  await tab.type("#passphrase", passphrase);
  return true;
}

/** Resolves once secrets are open or the kit says why not. */
export async function submitKitForm(tab: KitTab): Promise<void> {
  await tab.click("button[type=submit]");
  await tab.waitForFunction(
    () =>
      document.querySelector("article") !== null || (document.querySelector("[role=alert]")?.textContent ?? "") !== "",
    { timeout: 120_000 },
  );
}

export const readBodyText = (tab: KitTab): Promise<string> => tab.evaluate(() => document.body.innerText);
