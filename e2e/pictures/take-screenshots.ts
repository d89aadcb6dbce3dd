/**
 * Takes the screenshots of `docs/pictures` and the README's film: `pnpm pictures [name]`; `film` is
 * a name too. Starts the built portal with a new data folder, fills an account in each language,
 * and captures the screens at 320, 640, 768 and 1280 px.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, expect, type Browser, type Page } from "@playwright/test";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";
import sharp from "sharp";

import { signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect } from "../pages/secrets.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { takeFilm } from "./take-film.ts";

const viewports = {
  320: { width: 320, height: 640 },
  640: { width: 640, height: 900 },
  768: { width: 768, height: 1024 },
  1280: { width: 1280, height: 800 },
} as const;
type Width = keyof typeof viewports;
type Language = "en" | "es";
type Theme = "light" | "dark";
type Appearance = readonly [Width, Language, Theme];

interface Screenshot {
  readonly name: string;
  readonly appearances: readonly Appearance[];
  readonly open: (page: Page) => Promise<void>;
  /** Opened as a new user. */
  readonly firstVisit?: true;
  /** Opened without a session. */
  readonly signedOut?: true;
}

const exampleLink = "/shared/abcdefghijklmnopqrstuv";
const openPath = (route: string) => async (page: Page) => {
  await page.goto(route);
};
const tour = (page: Page) => page.locator(".react-joyride__floater");
const openSlide = (number: number) => async (page: Page) => {
  await page.goto("/home");
  await page
    .getByRole("dialog")
    .getByRole("listitem")
    .nth(number - 1)
    .getByRole("button")
    .click();
};

const screenshots: readonly Screenshot[] = [
  {
    name: "home",
    appearances: [
      [320, "en", "light"],
      [640, "es", "dark"],
      [768, "en", "dark"],
      [1280, "en", "light"],
    ],
    open: openPath("/home"),
  },
  {
    name: "secrets",
    appearances: [
      [320, "es", "dark"],
      [640, "en", "light"],
      [768, "es", "light"],
      [1280, "en", "dark"],
    ],
    open: openPath("/secrets"),
  },
  {
    name: "add-secret",
    appearances: [
      [320, "en", "dark"],
      [640, "es", "light"],
      [768, "en", "light"],
      [1280, "es", "light"],
    ],
    open: openPath("/add-secret"),
  },
  {
    name: "settings",
    appearances: [
      [320, "en", "light"],
      [640, "en", "dark"],
      [768, "es", "dark"],
      [1280, "es", "light"],
    ],
    open: openPath("/settings/profile"),
  },
  {
    name: "recover",
    appearances: [
      [320, "en", "light"],
      [640, "es", "light"],
      [768, "es", "dark"],
      [1280, "en", "light"],
    ],
    open: openPath("/provide-image-recovery"),
  },
  {
    name: "help",
    appearances: [
      [320, "es", "light"],
      [768, "en", "light"],
    ],
    open: openPath("/help"),
  },
  {
    name: "status",
    appearances: [
      [320, "en", "dark"],
      [1280, "es", "dark"],
    ],
    open: openPath("/status"),
  },
  {
    name: "menu",
    appearances: [
      [320, "es", "light"],
      [320, "en", "dark"],
    ],
    open: async (page) => {
      await page.goto("/home");
      await page.locator("[data-tour='mobile-menu']").click();
    },
  },
  {
    name: "logout",
    appearances: [
      [320, "es", "light"],
      [1280, "en", "dark"],
    ],
    open: async (page) => {
      await page.goto("/home");
      await page.locator("[data-tour='layout-logout'], [data-tour='mobile-logout']").click();
    },
  },
  {
    name: "narrow-sidebar",
    appearances: [[768, "es", "light"]],
    open: async (page) => {
      await page.goto("/secrets");
      await page.locator("header button[aria-expanded='false']").waitFor();
      await page.locator("[data-tour='layout-secrets']").hover();
    },
  },
  { name: "slide-1", firstVisit: true, appearances: [[320, "en", "light"]], open: openSlide(1) },
  { name: "slide-2", firstVisit: true, appearances: [[320, "es", "dark"]], open: openSlide(2) },
  { name: "slide-3", firstVisit: true, appearances: [[320, "es", "light"]], open: openSlide(3) },
  {
    name: "tour",
    firstVisit: true,
    appearances: [
      [768, "es", "light"],
      [1280, "en", "dark"],
    ],
    open: async (page) => {
      await page.goto("/home");
      await tour(page).locator("[data-action='primary']").click();
      await page.locator("#tour-title").waitFor();
    },
  },
  {
    name: "tour-phone",
    firstVisit: true,
    appearances: [[320, "en", "light"]],
    open: async (page) => {
      await openSlide(3)(page);
      await page.getByRole("dialog").getByRole("button").last().click();
      await tour(page).waitFor();
    },
  },
  {
    name: "vendor",
    appearances: [
      [320, "en", "dark"],
      [768, "en", "light"],
      [1280, "es", "light"],
    ],
    open: openPath("/status#vendorId=acme"),
  },
  {
    name: "shared-link",
    signedOut: true,
    appearances: [
      [320, "es", "light"],
      [1280, "en", "light"],
    ],
    open: openPath(exampleLink),
  },
  {
    name: "landing",
    signedOut: true,
    appearances: [
      [320, "en", "dark"],
      [1280, "es", "light"],
    ],
    open: openPath("/secret-landing"),
  },
];

const users = {
  en: {
    userName: "emma",
    secrets: [
      ["House deed", "papers"],
      ["Bitcoin wallet", "keys"],
      ["Passport copy", "papers"],
    ],
  },
  es: {
    userName: "lucia",
    secrets: [
      ["Escrituras de la casa", "papeles"],
      ["Cartera de Bitcoin", "claves"],
      ["Copia del pasaporte", "papeles"],
    ],
  },
} as const;

const folder = new URL("../../docs/pictures/", import.meta.url).pathname;
const requestedNames = process.argv.slice(2).filter((word) => word !== "--");
const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-pictures-"));
const vendors = [
  { vendor_id: "relicario", name: "Relicario" },
  { vendor_id: "acme", name: "Acme" },
];
const portal = await startPortal({
  port: 0,
  dataDir,
  log: (line) => console.log(line),
  environment: { service: { VENDORS: JSON.stringify(vendors) } },
});
const browser = await chromium.launch({ ...createStoryLaunchOptions(), headless: true });
try {
  await mkdir(folder, { recursive: true });
  if (requestedNames.length === 0)
    for (const entry of await readdir(folder)) if (entry.endsWith(".png")) await rm(path.join(folder, entry));
  const fileSizes: number[] = [];
  if (isRequested("film")) fileSizes.push(await takeFilm(browser, portal.origin, path.join(folder, "film.webp")));
  if (screenshots.some(({ name }) => isRequested(name))) fileSizes.push(...(await takeScreenshots(browser, portal)));
  const totalBytes = fileSizes.reduce((total, size) => total + size, 0);
  console.log(`${String(Math.round(totalBytes / 1000))} kB in ${folder}`);
} finally {
  await browser.close();
  await portal.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function isRequested(name: string): boolean {
  return requestedNames.length === 0 || requestedNames.includes(name);
}

async function takeScreenshots(browser: Browser, { origin }: RunningPortal): Promise<number[]> {
  const fileSizes: number[] = [];
  for (const language of ["en", "es"] as const) {
    const options = {
      baseURL: origin,
      locale: language === "en" ? "en-GB" : "es-ES",
      reducedMotion: "reduce",
      viewport: viewports[1280],
    } as const;
    const signedInPage = await (await browser.newContext({ ...options, locale: "en-GB" })).newPage();
    await setUpAccount(signedInPage, language);
    const signedOutPage = await (await browser.newContext(options)).newPage();
    await signedOutPage.goto(`${origin}/secret-landing`);
    for (const { name, appearances, open, firstVisit = false, signedOut: isSignedOut = false } of screenshots) {
      if (!isRequested(name)) continue;
      const page = isSignedOut ? signedOutPage : signedInPage;
      for (const [width, , theme] of appearances.filter((appearance) => appearance[1] === language)) {
        await page.setViewportSize(viewports[width]);
        await page.evaluate(storePreferences, { language, theme, firstVisit });
        await open(page);
        fileSizes.push(await takeScreenshot(page, `${name}-${String(width)}-${language}-${theme}`));
        await page.evaluate(() => {
          sessionStorage.removeItem("vendorId");
        });
      }
    }
  }
  return fileSizes;
}

/**
 * Creates an account with an image and a few secrets, on the user's own device. Screens are driven
 * in English.
 */
async function setUpAccount(page: Page, language: Language): Promise<void> {
  const { userName, secrets } = users[language];
  await signUp(
    page,
    { userName, email: `${userName}@example.org`, password: "correct horse battery" },
    { tours: true },
  );
  await page.evaluate(storePreferences, { language: "en", theme: "light", firstVisit: false });
  await page.reload(); // ends the tour that the first visit began
  for (const [index, [title, tag]] of secrets.entries()) {
    await protect(page, {
      text: title,
      title,
      tags: [tag],
      image: index === 0 ? { file: photographs.mountains, passphrase: null } : null,
    });
    if (index === 0) await answerDeviceQuestion(page, "My own device");
  }
  await page.goto("/secrets");
  await page
    .getByRole("button", { name: /^Favourite:/ })
    .first()
    .click();
}

/** Runs in the page: stores a user's choices. */
function storePreferences({
  language,
  theme,
  firstVisit,
}: {
  readonly language: string;
  readonly theme: string;
  readonly firstVisit: boolean;
}): void {
  localStorage.setItem("selectedLanguage", language);
  localStorage.setItem("isDarkMode", String(theme === "dark"));
  if (firstVisit) localStorage.removeItem("onboarding");
  else localStorage.setItem("onboarding", "true");
  localStorage.setItem("toursSeen", '"all"');
}

/** Captures the screen once it is still; few colours make small files. */
async function takeScreenshot(page: Page, name: string): Promise<number> {
  await page.locator("h1, h2").first().waitFor();
  // The late frame of the session check keeps the network busy; the waits below are enough.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
  await expect(page.locator("[aria-busy='true']")).toHaveCount(0, { timeout: 30_000 });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  const screenshot = await sharp(await page.screenshot({ animations: "disabled", caret: "hide" }))
    .png({ palette: true, colours: 96, effort: 10, compressionLevel: 9 })
    .toBuffer();
  await writeFile(path.join(folder, `${name}.png`), screenshot);
  console.log(`${name}: ${String(Math.round(screenshot.length / 1000))} kB`);
  return screenshot.length;
}
