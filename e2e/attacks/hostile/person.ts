import type { RunningPortal } from "@relicario/tooling/portal";

import type { Account } from "../../pages/account.ts";
import type { EnginePage, Target } from "../../support/engines/engine.ts";
import { describeTarget, poll } from "../../support/engines/locate.ts";
import { markToursSeen } from "../../support/onboarding.ts";

const button = (name: string): Target => ({ kind: "button", name });
const text = (name: string): Target => ({ kind: "text", name });
const field = (name: string): Target => ({ kind: "field", name });
const choice = (name: string): Target => ({ kind: "choice", name });
const codeField = field("^Recovery code");
export const passphraseField = field("^Passphrase, if the picture has one");
export const pictureFile: Target = { kind: "file", name: "^Picture file" };

const exactly = (name: string): string => `^${name.replaceAll(/[^\w\s]/g, "\\$&")}$`;

export interface Picture {
  readonly file: string;
  readonly passphrase: string;
}

/** What a person does in any engine, in the page and in the vault's elements. */
export class Person {
  readonly page: EnginePage;
  readonly #origin: string;
  readonly #vaultOrigin: string;

  constructor(page: EnginePage, { origin, vaultOrigin }: Pick<RunningPortal, "origin" | "vaultOrigin">) {
    this.page = page;
    this.#origin = origin;
    this.#vaultOrigin = vaultOrigin;
  }

  async signUp(account: Account): Promise<void> {
    await this.page.open(`${this.#origin}/healthz`); // the origin, without the portal's scripts
    await this.page.run(markToursSeen);
    await this.page.open(this.#origin);
    await this.page.press({ kind: "link", name: "^Create account$" });
    await this.page.type(field("^User name"), account.userName);
    await this.page.type(field("^E-mail"), account.email);
    await this.page.type(field("^Password"), account.password);
    await this.page.press(button("^Create account$"));
    await this.page.waitFor(text("^[Hh]ello"));
  }

  /** By the page's router: what runs in the page goes on running. */
  async goTo(path: string): Promise<void> {
    await this.page.run((to) => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, path);
  }

  async reload(path: string): Promise<void> {
    await this.page.open(this.#origin + path);
  }

  async protectText(content: string, title: string, { file, passphrase }: Picture): Promise<void> {
    await this.goTo("/add-secret");
    await this.page.type(field("^Your secret"), content);
    await this.page.type(field("^Title"), title);
    await this.choosePicture(file);
    await this.page.waitFor(text("This picture has enough detail"));
    await this.#changeElement(() => this.page.type(field("^Passphrase"), passphrase));
    await this.#changeElement(() => this.page.type(field("^Repeat the passphrase"), passphrase));
    const first = choice("I have never protected anything in this account");
    if (await this.page.isShown(first)) await this.page.press(first);
    await this.page.press(button("^Protect$"));
    await this.page.press(button("^My own device$"));
    await this.goTo("/secrets");
    await this.page.waitFor({ kind: "link", name: exactly(title) });
  }

  async lock(): Promise<void> {
    await this.goTo("/secrets");
    await this.page.waitFor(text("^Search titles"), field("^Search titles"));
    await this.#pressUntil(button("^Lock$"), text("This device is locked"));
  }

  /** Presses again when something moved under the pointer, or covered the target. */
  async #pressUntil(target: Target, awaited: Target): Promise<void> {
    // notices stay while their window has no focus
    const closeNotices = () =>
      this.page.run(() => {
        for (const close of document.querySelectorAll<HTMLElement>(".Toastify button")) close.click();
      });
    await closeNotices();
    await this.page.press(target);
    let waits = 0;
    await poll(describeTarget(awaited), async () => {
      if (await this.page.isShown(awaited)) return true;
      waits += 1;
      if (waits % 10 !== 0) return null;
      await closeNotices();
      if (await this.page.isShown(target)) await this.page.press(target);
      return null;
    });
  }

  async startUnlocking(): Promise<void> {
    await this.goTo("/secrets");
    await this.page.press({ kind: "link", name: "^Unlock with your picture$" });
  }

  async showPicture({ file, passphrase }: Picture): Promise<void> {
    await this.choosePicture(file);
    await this.typePassphrase(passphrase);
  }

  async choosePicture(file: string): Promise<void> {
    await this.#changeElement(() => this.page.chooseFile(pictureFile, file));
  }

  async typePassphrase(text: string): Promise<void> {
    await this.#changeElement(() => this.page.type(passphraseField, text));
  }

  /** Letter by letter, into what has the focus after the first one. */
  async typeSlowly(passphrase: string): Promise<void> {
    await this.typePassphrase(passphrase.slice(0, 1));
    await this.page.typeOn(passphrase.slice(1));
  }

  /**
   * Letter by letter, until an element says that the page took the keyboard, which may get even the
   * first one.
   */
  async typeUntilWarned(passphrase: string): Promise<void> {
    await this.page.type(passphraseField, passphrase.slice(0, 1));
    for (const letter of passphrase.slice(1)) {
      if (await this.page.isShown(text("keyboard away"))) return;
      await this.page.typeOn(letter);
    }
  }

  /** Waits until the vault holds a change in an element, of which the page need not hear. */
  async #changeElement(change: () => Promise<void>): Promise<void> {
    const count = async (): Promise<string> =>
      (
        await this.#readEverywhere(() =>
          [...document.querySelectorAll<HTMLElement>("[data-settled-turn]")].map(
            ({ dataset }) => dataset["settledTurn"],
          ),
        )
      ).join();
    await this.page.waitFor(pictureFile, codeField); // the element has started
    const before = await count();
    await change();
    let last = before;
    await poll("change in an element", async () => {
      const former = last;
      last = await count();
      return last !== before && last === former ? true : null;
    });
  }

  async unlockWithPicture(picture: Picture, title: string): Promise<void> {
    await this.startUnlocking();
    await this.showPicture(picture);
    await this.#unlock(title);
  }

  async unlockWithCode(code: string, title: string): Promise<void> {
    await this.startUnlocking();
    await this.#pressUntil(button("^Use a recovery code$"), codeField);
    await this.#changeElement(() => this.page.type(codeField, code));
    await this.#unlock(title);
  }

  async unlockWithPasskey(title: string): Promise<void> {
    await this.startUnlocking();
    await this.#pressUntil(button("^Use a passkey$"), button("^Use the passkey$"));
    await this.page.press(button("^Use the passkey$"));
    await this.page.waitFor(text("The passkey is ready"));
    await this.#unlock(title);
  }

  async #unlock(title: string): Promise<void> {
    await this.page.press(button("^(Open|Unlock)$"));
    await this.page.waitFor({ kind: "link", name: exactly(title) });
  }

  /**
   * Returns the 24 words.
   *
   * @param whileShown called while the words are on the screen
   */
  async makeCode(
    picture: Picture,
    whileShown: (words: readonly string[]) => Promise<void> = () => Promise.resolve(),
  ): Promise<string> {
    await this.goTo("/openers");
    await this.page.press(button("^Make a recovery code$"));
    await this.page.waitFor(button("^I have them on paper$"));
    const words = await this.#readEverywhere((): readonly string[] =>
      [...document.querySelectorAll("[aria-label='The 24 words'] li")].map((item) => item.textContent.trim()),
    );
    if (words.length !== 24) throw new Error(`the code has ${String(words.length)} words`);
    await whileShown(words);
    await this.page.press(button("^I have them on paper$"));
    await this.page.waitFor(field("^Word \\d+$"));
    const numbers = await this.#readEverywhere((): readonly number[] =>
      [...document.querySelectorAll("input")].flatMap((input) => {
        const [, number] = /^Word (\d+)$/.exec(input.labels?.[0]?.textContent.trim() ?? "") ?? [];
        return number === undefined ? [] : [Number(number)];
      }),
    );
    for (const number of numbers) await this.page.type(field(`^Word ${String(number)}$`), words[number - 1] ?? "");
    await this.page.press(button("^Continue$"));
    await this.page.press(button("^Add the code$"));
    await this.#showOpenerIfAsked(picture, "^Add the code$", "^Recovery code, added");
    return words.join(" ");
  }

  async makePasskey(picture: Picture): Promise<void> {
    await this.goTo("/openers");
    await this.page.press(button("^Make a passkey$"));
    await this.page.press(button("^Make the passkey$"));
    await this.page.press(button("^Add the passkey$"));
    await this.#showOpenerIfAsked(picture, "^Add the passkey$", "^Passkey, added");
  }

  /** In the page and in the vault's elements. */
  async #readEverywhere<T>(read: () => readonly T[]): Promise<readonly T[]> {
    return [await this.page.run(read), ...(await this.page.runInFrames(this.#vaultOrigin, read))].flat();
  }

  async #showOpenerIfAsked(picture: Picture, confirm: string, done: string): Promise<void> {
    const asked = text("To finish, confirm with a picture, passkey or recovery code that you already use");
    if ((await this.page.waitFor(asked, text(done))) !== asked) return;
    await this.showPicture(picture);
    await this.page.press(button(confirm));
    await this.page.waitFor(text(done));
  }

  async #chooseAction(title: string, action: string): Promise<void> {
    await this.goTo("/secrets");
    await this.page.press(button(`^More for ${title}`));
    await this.page.press({ kind: "menuitem", name: `^${action}$` });
  }

  async showSecret(title: string, picture: Picture): Promise<void> {
    await this.#chooseAction(title, "Open");
    await this.showPicture(picture);
    await this.page.press(button("^Open$"));
    await this.#reveal();
  }

  async #reveal(): Promise<void> {
    await this.page.waitFor(button("^Show$"));
    await this.#pressUntil(button("^Show$"), button("^Hide$"));
  }

  /** Copies what an element of the vault shows. */
  async copyShown(content: string): Promise<void> {
    const shown = await this.#readEverywhere(() => [...document.querySelectorAll("pre")].map((box) => box.textContent));
    if (!shown.includes(content)) throw new Error("the content is not shown");
    await this.page.press(button("^Copy$"));
    await this.page.waitFor(text("^Copied"), text("can't copy here"));
  }

  /** With the way to open that was shown last. */
  async openForEditing(title: string): Promise<void> {
    await this.#chooseAction(title, "Edit");
    await this.page.press(button("^Open and change$"));
    await this.page.waitFor(field("^Your secret"));
  }

  /** Returns the link. */
  async shareByLink(title: string, picture: Picture): Promise<string> {
    await this.#chooseAction(title, "Share");
    await this.page.press(choice("^Anyone with the link$"));
    await this.page.press(choice("^No$"));
    await this.showPicture(picture);
    await this.page.press(button("^Create link$"));
    await this.page.waitFor(text("^Your link is ready"));
    return this.page.run(() => document.querySelector("[aria-label=Link]")?.textContent ?? "");
  }

  async openLink(link: string): Promise<void> {
    await this.page.open(link);
    await this.page.press(button("^Open$"));
    await this.#reveal();
  }

  async makeKit(picture: Picture): Promise<void> {
    await this.goTo("/safeguard");
    await this.showPicture(picture);
    await this.page.press(button("^Make the kit$"));
    await this.page.waitFor(text("SHA-256"));
  }
}
