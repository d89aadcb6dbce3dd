/**
 * Takes the pictures of `docs/pictures` anew: `pnpm pictures [name]`. Starts the whole portal as
 * built with data of its own, lets two people fill it, one in each language, and photographs the
 * screens at 320, 640, 768 and 1280 px.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, expect, type Browser, type Page } from "@playwright/test";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";
import sharp from "sharp";

import { signUp } from "../pages/account.ts";
import { answerDevice, protect } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";

const sizes = {
  320: { width: 320, height: 640 },
  640: { width: 640, height: 900 },
  768: { width: 768, height: 1024 },
  1280: { width: 1280, height: 800 },
} as const;
type Width = keyof typeof sizes;
type Language = "en" | "es";
type Theme = "light" | "dark";
type Look = readonly [Width, Language, Theme];

interface Scene {
  readonly name: string;
  readonly looks: readonly Look[];
  readonly show: (page: Page) => Promise<void>;
  /** Comes as somebody who is here for the first time. */
  readonly firstVisit?: true;
  /** Comes as somebody who is not signed in. */
  readonly nobody?: true;
}

const anyLink = "/shared/abcdefghijklmnopqrstuv";
const at = (route: string) => async (page: Page) => {
  await page.goto(route);
};
const tour = (page: Page) => page.locator(".react-joyride__floater");
const slide = (number: number) => async (page: Page) => {
  await page.goto("/home");
  await page
    .getByRole("dialog")
    .getByRole("listitem")
    .nth(number - 1)
    .getByRole("button")
    .click();
};

const scenes: readonly Scene[] = [
  {
    name: "home",
    looks: [
      [320, "en", "light"],
      [640, "es", "dark"],
      [768, "en", "dark"],
      [1280, "en", "light"],
    ],
    show: at("/home"),
  },
  {
    name: "secrets",
    looks: [
      [320, "es", "dark"],
      [640, "en", "light"],
      [768, "es", "light"],
      [1280, "en", "dark"],
    ],
    show: at("/secrets"),
  },
  {
    name: "add-secret",
    looks: [
      [320, "en", "dark"],
      [640, "es", "light"],
      [768, "en", "light"],
      [1280, "es", "light"],
    ],
    show: at("/add-secret"),
  },
  {
    name: "settings",
    looks: [
      [320, "en", "light"],
      [640, "en", "dark"],
      [768, "es", "dark"],
      [1280, "es", "light"],
    ],
    show: at("/settings/profile"),
  },
  {
    name: "recover",
    looks: [
      [320, "en", "light"],
      [640, "es", "light"],
      [768, "es", "dark"],
      [1280, "en", "light"],
    ],
    show: at("/provide-image-recovery"),
  },
  {
    name: "help",
    looks: [
      [320, "es", "light"],
      [768, "en", "light"],
    ],
    show: at("/help"),
  },
  {
    name: "status",
    looks: [
      [320, "en", "dark"],
      [1280, "es", "dark"],
    ],
    show: at("/status"),
  },
  {
    name: "menu",
    looks: [
      [320, "es", "light"],
      [320, "en", "dark"],
    ],
    show: async (page) => {
      await page.goto("/home");
      await page.locator("[data-tour='mobile-menu']").click();
    },
  },
  {
    name: "logout",
    looks: [
      [320, "es", "light"],
      [1280, "en", "dark"],
    ],
    show: async (page) => {
      await page.goto("/home");
      await page.locator("[data-tour='layout-logout'], [data-tour='mobile-logout']").click();
    },
  },
  {
    name: "narrow-sidebar",
    looks: [[768, "es", "light"]],
    show: async (page) => {
      await page.goto("/secrets");
      await page.locator("header button[aria-expanded='false']").waitFor();
      await page.locator("[data-tour='layout-secrets']").hover();
    },
  },
  { name: "slide-1", firstVisit: true, looks: [[320, "en", "light"]], show: slide(1) },
  { name: "slide-2", firstVisit: true, looks: [[320, "es", "dark"]], show: slide(2) },
  { name: "slide-3", firstVisit: true, looks: [[320, "es", "light"]], show: slide(3) },
  {
    name: "tour",
    firstVisit: true,
    looks: [
      [768, "es", "light"],
      [1280, "en", "dark"],
    ],
    show: async (page) => {
      await page.goto("/home");
      await tour(page).locator("[data-action='primary']").click();
      await page.locator("#tour-title").waitFor();
    },
  },
  {
    name: "tour-phone",
    firstVisit: true,
    looks: [[320, "en", "light"]],
    show: async (page) => {
      await slide(3)(page);
      await page.getByRole("dialog").getByRole("button").last().click();
      await tour(page).waitFor();
    },
  },
  {
    name: "vendor",
    looks: [
      [320, "en", "dark"],
      [768, "en", "light"],
      [1280, "es", "light"],
    ],
    show: at("/status#vendorId=acme"),
  },
  {
    name: "shared-link",
    nobody: true,
    looks: [
      [320, "es", "light"],
      [1280, "en", "light"],
    ],
    show: at(anyLink),
  },
  {
    name: "landing",
    nobody: true,
    looks: [
      [320, "en", "dark"],
      [1280, "es", "light"],
    ],
    show: at("/secret-landing"),
  },
];

const people = {
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
const wanted = process.argv.slice(2).filter((word) => word !== "--");
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
const browser = await chromium.launch({ ...chromiumArguments(), headless: true });
try {
  await mkdir(folder, { recursive: true });
  if (wanted.length === 0)
    for (const old of await readdir(folder)) if (old.endsWith(".png")) await rm(path.join(folder, old));
  const taken = (await takeAll(browser, portal)).reduce((total, size) => total + size, 0);
  console.log(`${String(Math.round(taken / 1000))} kB in ${folder}`);
} finally {
  await browser.close();
  await portal.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function takeAll(browser: Browser, { origin }: RunningPortal): Promise<number[]> {
  const sizesTaken: number[] = [];
  for (const language of ["en", "es"] as const) {
    const options = {
      baseURL: origin,
      locale: language === "en" ? "en-GB" : "es-ES",
      reducedMotion: "reduce",
      viewport: sizes[1280],
    } as const;
    const signedIn = await (await browser.newContext({ ...options, locale: "en-GB" })).newPage();
    await settle(signedIn, language);
    const nobody = await (await browser.newContext(options)).newPage();
    await nobody.goto(`${origin}/secret-landing`);
    for (const { name, looks, show, firstVisit = false, nobody: alone = false } of scenes) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const page = alone ? nobody : signedIn;
      for (const [width, , theme] of looks.filter((look) => look[1] === language)) {
        await page.setViewportSize(sizes[width]);
        await page.evaluate(remember, { language, theme, firstVisit });
        await show(page);
        sizesTaken.push(await take(page, `${name}-${String(width)}-${language}-${theme}`));
        await page.evaluate(() => {
          sessionStorage.removeItem("vendorId");
        });
      }
    }
  }
  return sizesTaken;
}

/**
 * Somebody with an image and a few secrets, on a device of their own. The screens are driven in
 * English.
 */
async function settle(page: Page, language: Language): Promise<void> {
  const { userName, secrets } = people[language];
  await signUp(
    page,
    { userName, email: `${userName}@example.org`, password: "correct horse battery" },
    { tours: true },
  );
  await page.evaluate(remember, { language: "en", theme: "light", firstVisit: false });
  for (const [index, [title, tag]] of secrets.entries()) {
    await protect(page, {
      text: title,
      title,
      tags: [tag],
      image: index === 0 ? { file: photographs.mountains, passphrase: null } : null,
    });
    if (index === 0) await answerDevice(page, "My own device");
  }
  await page.goto("/secrets");
  await page
    .getByRole("button", { name: /^Favourite:/ })
    .first()
    .click();
}

/** Runs in the page: what the browser remembers of a person's choices. */
function remember({
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

/** Photographs what is on the screen once it stands still; few colours make small files. */
async function take(page: Page, name: string): Promise<number> {
  await page.locator("h1, h2").first().waitFor();
  // The frame of the session check comes late, and then nothing counts as idle any more: what is
  // awaited below is enough.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => undefined);
  await expect(page.locator("[aria-busy='true']")).toHaveCount(0, { timeout: 30_000 });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  const picture = await sharp(await page.screenshot({ animations: "disabled", caret: "hide" }))
    .png({ palette: true, colours: 96, effort: 10, compressionLevel: 9 })
    .toBuffer();
  await writeFile(path.join(folder, `${name}.png`), picture);
  console.log(`${name}: ${String(Math.round(picture.length / 1000))} kB`);
  return picture.length;
}
