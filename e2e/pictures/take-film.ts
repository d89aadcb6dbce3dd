/**
 * Takes the film of the README: a picture protects a secret, and its compressed copy opens it on
 * another screen. Both screens are the real portal. Each frame is a screenshot of a stage that
 * contains both.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { expect, type Browser, type Locator, type Page } from "@playwright/test";
import sharp from "sharp";

import { signIn, signUp } from "../pages/account.ts";
import { choosePicture, fillInField, openedContent, pictureField } from "../pages/picture-field.ts";
import { messengerCopies, photographs, type UploadedFile } from "../support/photographs.ts";

/** A stage of 1056 CSS pixels stays readable at the width of a README. */
const stageSize = { width: 1056, height: 664 };
const positions = { laptop: { x: 16, y: 88 }, phone: { x: 720, y: 88 } } as const;
const sizes = { laptop: { width: 688, height: 560 }, phone: { width: 320, height: 560 } } as const;
/** Device pixels for each CSS pixel. */
const density = 1.25;
const maxBytes = 2_000_000;
const credit = "Photograph: Aitzol Berasategi, CC BY 4.0";

const account = { userName: "nora", email: "nora@example.org", password: "correct horse battery" };
const phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const passphrase = "lantern gravel violin otter";

/** The portal's own font, so that every machine draws the same film. */
const fontFile = import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");
const fontUrl = dataUrl(await readFile(new URL(fontFile)), "font/woff2");

type ScreenName = keyof typeof positions;

/** What the stage shows besides the two screens; numbers are opacities. */
interface Scene {
  readonly caption: string;
  readonly laptop: number;
  readonly phone: number;
  readonly card: number;
}

export async function takeFilm(browser: Browser, origin: string, file: string): Promise<number> {
  const copy = await messengerCopies["1280 pixels, quality 75"](photographs.mountains);
  const [laptopPage, phonePage] = [await openPage("laptop"), await openPage("phone")];
  await signUp(laptopPage, account);
  const film = new Film(await openPage("stage"), await describeCopy(photographs.mountains, copy));
  const laptop = new Screen(film, "laptop", laptopPage);
  const phone = new Screen(film, "phone", phonePage);

  film.scene = { caption: "1 · A picture and a passphrase protect a secret", laptop: 1, phone: 0, card: 0 };
  await laptopPage.goto("/add-secret");
  await laptop.shoot(700);
  await laptop.type(laptopPage.getByLabel("Your secret"), phrase);
  const titleField = laptopPage.getByLabel("Title");
  await laptop.scrollTo(titleField);
  await laptop.type(titleField, "Wallet");
  await laptop.scrollTo(laptopPage.getByText("What opens it"), 0.1);
  await laptop.shoot(400);
  await choosePicture(laptopPage, photographs.mountains);
  await expect(pictureField(laptopPage).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
  await laptop.shoot(1400);
  await laptop.scrollTo(pictureField(laptopPage).getByRole("textbox", { name: "Repeat the passphrase" }));
  for (const name of ["Passphrase", "Repeat the passphrase"]) await fillInField(laptopPage, name, passphrase);
  await laptop.shoot(700);
  const protectButton = laptopPage.getByRole("button", { name: "Protect", exact: true });
  await laptop.scrollTo(protectButton, 0.9);
  await laptop.press(laptopPage.getByRole("checkbox", { name: /I have never protected anything in this account/ }));
  await laptop.press(protectButton);
  await expect(laptopPage.getByRole("heading", { name: "Your secret is protected!" })).toBeVisible({ timeout: 90_000 });
  await laptop.shoot(1600);

  await film.fadeTo({ caption: "2 · The picture is compressed", laptop: 0.25, phone: 0, card: 1 });
  await film.hold(2000);

  await signIn(phonePage, account, { path: "/secrets" });
  const menuButton = phonePage.getByRole("button", { name: /^More for/ });
  await expect(menuButton).toBeVisible({ timeout: 30_000 });
  await phone.keep();
  await film.fadeTo({ caption: "3 · The copy opens it on another screen", laptop: 0.25, phone: 1, card: 0 });
  await film.hold(500);
  await phone.scrollTo(menuButton, 0.7);
  await phone.press(menuButton);
  await phone.press(phonePage.getByRole("menuitem", { name: "Open" }));
  await expect(phonePage.getByRole("heading", { level: 1, name: "Open your secret" })).toBeVisible();
  await phone.shoot(500);
  await choosePicture(phonePage, copy);
  const passphraseField = pictureField(phonePage).getByRole("textbox", { name: "Passphrase, if the picture has one" });
  await expect(passphraseField).toBeVisible();
  await phone.shoot(200);
  await phone.scrollTo(pictureField(phonePage).getByText(copy.name));
  await phone.shoot(1000);
  await phone.scrollTo(passphraseField);
  await passphraseField.fill(passphrase);
  await phone.shoot(400);
  const recoverButton = phonePage.getByRole("button", { name: "Open", exact: true });
  await phone.press(recoverButton);
  const ownDeviceButton = phonePage.getByRole("button", { name: "My own device" });
  await expect(ownDeviceButton).toBeVisible({ timeout: 90_000 });
  await phone.press(ownDeviceButton);
  const showButton = openedContent(phonePage).getByRole("button", { name: "Show", exact: true });
  await expect(showButton).toBeVisible();
  await phone.scrollTo(showButton, 0.6);
  await phone.press(showButton);
  await expect(openedContent(phonePage).getByLabel("Content of the secret")).toHaveText(phrase);
  await phone.shoot(2800);

  return film.save(file);

  async function openPage(name: ScreenName | "stage"): Promise<Page> {
    const context = await browser.newContext({
      baseURL: origin,
      locale: "en-GB",
      reducedMotion: "reduce",
      viewport: name === "stage" ? stageSize : sizes[name],
      deviceScaleFactor: density,
    });
    return context.newPage();
  }
}

/** One of the two screens. Each action adds the frames that show it. */
class Screen {
  readonly #film: Film;
  readonly #name: ScreenName;
  readonly #page: Page;

  constructor(film: Film, name: ScreenName, page: Page) {
    this.#film = film;
    this.#name = name;
    this.#page = page;
  }

  /** Adds the present screen to the frames that follow. */
  async keep(): Promise<void> {
    await expect(this.#page.locator("[aria-busy='true']")).toHaveCount(0, { timeout: 30_000 });
    await this.#page.evaluate(() => document.fonts.ready.then(() => undefined));
    this.#film.screens[this.#name] = await this.#page.screenshot({ animations: "disabled", caret: "hide" });
  }

  async shoot(milliseconds: number): Promise<void> {
    await this.keep();
    await this.#film.hold(milliseconds);
  }

  /** Types four words a frame. */
  async type(field: Locator, text: string): Promise<void> {
    const words = text.split(" ");
    for (let count = 4; count < words.length + 4; count += 4) {
      await field.fill(words.slice(0, count).join(" "));
      await this.shoot(250);
    }
  }

  async press(target: Locator): Promise<void> {
    const box = await target.boundingBox();
    if (box === null) throw new Error("what is pressed is not shown");
    const { x, y } = positions[this.#name];
    this.#film.pointer = { x: x + box.x + box.width / 2, y: y + box.y + box.height / 2 };
    await this.shoot(500);
    this.#film.pointer = null;
    await target.click();
    await this.#page.mouse.move(0, 0);
  }

  /** Scrolls until the target's middle stands at this part of the screen's height. */
  async scrollTo(target: Locator, part = 0.5): Promise<void> {
    const box = await target.boundingBox();
    if (box === null) throw new Error("what is scrolled to is not shown");
    const { start, end } = await this.#page.evaluate(() => ({
      start: scrollY,
      end: document.documentElement.scrollHeight - innerHeight,
    }));
    const wantedTop = start + box.y + box.height / 2 - part * sizes[this.#name].height;
    const distance = Math.min(Math.max(wantedTop, 0), end) - start;
    const steps = 6;
    if (Math.abs(distance) < 1) return;
    for (let step = 1; step <= steps; step++) {
      const top = start + distance * (0.5 - Math.cos((Math.PI * step) / steps) / 2);
      await this.#page.evaluate((y) => {
        scrollTo({ top: y, behavior: "instant" });
      }, top);
      await this.shoot(50);
    }
  }
}

class Film {
  readonly #stage: Page;
  readonly #card: string;
  readonly #frames: { readonly image: Buffer; readonly milliseconds: number }[] = [];
  readonly screens: Record<ScreenName, Buffer | null> = { laptop: null, phone: null };
  scene: Scene = { caption: "", laptop: 0, phone: 0, card: 0 };
  pointer: { readonly x: number; readonly y: number } | null = null;

  /** @param card HTML that stands before the screens while the picture is compressed */
  constructor(stage: Page, card: string) {
    this.#stage = stage;
    this.#card = card;
  }

  async hold(milliseconds: number): Promise<void> {
    await this.#stage.setContent(this.#draw());
    await this.#stage.evaluate(() => document.fonts.ready.then(() => undefined));
    this.#frames.push({ image: await this.#stage.screenshot(), milliseconds });
  }

  async fadeTo(to: Scene): Promise<void> {
    const from = this.scene;
    const steps = 5;
    for (let step = 1; step <= steps; step++) {
      const mix = (key: "laptop" | "phone" | "card") => from[key] + ((to[key] - from[key]) * step) / steps;
      this.scene = { caption: to.caption, laptop: mix("laptop"), phone: mix("phone"), card: mix("card") };
      await this.hold(60);
    }
  }

  /** Writes an animated WebP that starts again at its end; gives its bytes. */
  async save(file: string): Promise<number> {
    const film = await sharp(
      this.#frames.map(({ image }) => image),
      { join: { animated: true } },
    )
      .webp({ quality: 70, effort: 5, loop: 0, delay: this.#frames.map((frame) => frame.milliseconds) })
      .toBuffer();
    const seconds = this.#frames.reduce((total, frame) => total + frame.milliseconds, 0) / 1000;
    console.log(`film: ${String(Math.round(film.length / 1000))} kB, ${seconds.toFixed(1)} s`);
    if (film.length > maxBytes) throw new Error("the film is larger than a README should load");
    await writeFile(file, film);
    return film.length;
  }

  #draw(): string {
    const screen = (name: ScreenName) => {
      const image = this.screens[name];
      const { x, y } = positions[name];
      const { width, height } = sizes[name];
      return `<div class="screen" style="left:${String(x)}px;top:${String(y)}px;width:${String(width)}px;height:${String(height)}px">
        ${image === null ? "" : `<img src="${dataUrl(image, "image/png")}" style="opacity:${String(this.scene[name])}">`}</div>`;
    };
    const { pointer, scene } = this;
    return `<!doctype html><style>
      @font-face { font-family: Inter; font-weight: 100 900; src: url(${fontUrl}) }
      * { box-sizing: border-box; margin: 0 }
      body { background: #12403b; color: #fff; font: 16px Inter; overflow: hidden }
      h1 { font-size: 28px; font-weight: 600; position: absolute; left: 20px; top: 26px }
      .screen { position: absolute; background: #0b2a27; border-radius: 14px; overflow: hidden }
      .screen img { display: block; width: 100%; height: 100% }
      .pointer { position: absolute; width: 44px; height: 44px; margin: -22px; border-radius: 50%;
        background: rgb(224 130 30 / 45%); border: 3px solid #e0821e }
      .card { position: absolute; left: 128px; top: 168px; width: 800px; padding: 32px 32px 48px; border-radius: 14px; background: #fff;
        color: #1c1c1a; display: flex; align-items: center; justify-content: space-between; font-size: 20px; line-height: 1.4 }
      .card img { display: block; width: 320px; border-radius: 8px; margin-bottom: 12px }
      .arrow { font-size: 44px; color: #17635a }
      small { position: absolute; right: 32px; bottom: 12px; font-size: 14px; color: #5d5b55 }
    </style><body><h1>${scene.caption}</h1>${screen("laptop")}${screen("phone")}
    <div class="card" style="opacity:${String(scene.card)}">${this.#card}<small>${credit}</small></div>
    ${pointer === null ? "" : `<div class="pointer" style="left:${String(pointer.x)}px;top:${String(pointer.y)}px"></div>`}`;
  }
}

/** HTML with the picture, its copy, and what the two files hold. */
async function describeCopy(original: string, copy: UploadedFile): Promise<string> {
  const describe = async (name: string, bytes: Buffer) => {
    const { width, height } = await sharp(bytes).metadata();
    const preview = dataUrl(await sharp(bytes).resize(640).jpeg({ quality: 90 }).toBuffer(), "image/jpeg");
    const megabytes = (bytes.length / 1_000_000).toFixed(1);
    return `<div><img src="${preview}"><b>${name}</b><br>${String(width)} × ${String(height)}, ${megabytes} MB</div>`;
  };
  const originalHtml = await describe(path.basename(original), await readFile(original));
  return `${originalHtml}<div class="arrow">→</div>${await describe(copy.name, copy.buffer)}`;
}

function dataUrl(bytes: Buffer, type: string): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}
