import { readFile } from "node:fs/promises";

import type { Locator, Page } from "@playwright/test";

import { expectHome, newAccount, signUpByHand } from "../pages/account.ts";
import { changeInput, openedContent, pictureField } from "../pages/picture-field.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { deriveUserKeys } from "../support/user-keys.ts";
import { lumaRows, messengerCopies, photographs, type UploadedFile } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { readTexts } from "../support/texts.ts";
import { openRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { createSentinel } from "../support/sentinel.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

const picturePath = photographs.small;

for (const language of ["en", "es"] as const) {
  test(`by-keyboard: the flows of backup, copy check and recovery need no mouse, and send nothing of what they seal (${language})`, async ({
    portal,
  }) => {
    const text = readTexts(language);
    const [title, phrase, passphrase] = [
      `Wallet ${createSentinel()}`,
      `legal winner ${createSentinel()} thank year`,
      `four words and ${createSentinel()}`,
    ];
    const proxy = await RecordingProxy.start();
    const foreignOrigins = new Set<string>();
    const { context, close } = await openRecordedProfile(proxy, portal.origin, foreignOrigins);
    const page = context.pages()[0] ?? (await context.newPage());
    const main = page.getByRole("main");
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const typeInField = (label: string) =>
      changeInput(page, () =>
        type(page, pictureField(page).getByRole("textbox", { name: text(label), exact: true }), passphrase),
      );
    const expectStep = (number: number) =>
      expect(
        page.getByText(
          text("recovery/welcome:flow.place_status").replace("{{step}}", String(number)).replace("{{total}}", "6"),
        ),
      ).toBeVisible({ timeout: 120_000 });
    const choose = async (file: string | UploadedFile) => {
      const chooser = page.waitForEvent("filechooser");
      await press(
        page,
        pictureField(page).getByRole("button", { name: text("recovery/provide-image:field.choose_action") }),
      );
      const fileChooser = await chooser;
      await changeInput(page, () => fileChooser.setFiles(file));
    };

    await signUpByHand(page, newAccount());
    await expectHome(page);
    await page.evaluate((chosen) => {
      localStorage.setItem("selectedLanguage", chosen);
    }, language);
    await page.reload();

    await test.step("from Home to a picture with its passphrase", async () => {
      await press(page, main.getByRole("link", { name: text("secrets/beta-home:home.create_action") }));
      await expectStep(1);
      await press(page, page.getByRole("link", { name: text("recovery/welcome:page.start_action"), exact: true }));
      await expectStep(2);
      await choose(picturePath);
      await expect(pictureField(page).getByText(text("recovery/provide-image:verdict.green_title"))).toBeVisible({
        timeout: 90_000,
      });
      await typeInField("recovery/provide-image:passphrase.choose_label");
      await typeInField("recovery/provide-image:passphrase.again_label");
      await press(page, button(text("recovery/provide-image:page.next_action")));
      await expectStep(3);
    });

    await test.step("the secret is typed and sealed", async () => {
      await type(page, page.getByLabel(text("recovery/provide-secret:content.label"), { exact: true }), phrase);
      await type(page, page.getByLabel(text("recovery/provide-secret:title.label"), { exact: true }), title);
      await press(page, page.getByRole("checkbox", { name: text("recovery/provide-secret:first.label") }), "Space");
      await press(page, button(text("recovery/provide-secret:page.protect_action")));
      await expectStep(5);
      await press(page, page.getByRole("link", { name: text("recovery/safeguard:page.next_action"), exact: true }));
      await expectStep(6);
      const ownDeviceButton = button(text("host/common:device.own_action"));
      await press(page, ownDeviceButton);
      await expect(ownDeviceButton).toBeHidden();
    });

    const showCopy = async (action: string) => {
      await choose(await messengerCopies["1280 pixels, quality 75"](picturePath));
      await typeInField("recovery/provide-image:passphrase.show_label");
      await press(page, button(action));
    };
    await test.step("the copy is checked", async () => {
      await press(page, page.getByRole("link", { name: text("recovery/congrats:try.now_action") }));
      await showCopy(text("recovery/image-recovery:provide.check_copy_action"));
      await expect(
        page.getByRole("heading", { level: 1, name: text("recovery/congrats:rehearsed.title") }),
      ).toBeVisible({ timeout: 120_000 });
    });

    await test.step("the secret is recovered", async () => {
      await press(
        page,
        page
          .getByRole("navigation")
          .getByRole("link", { name: text("host/beta-sidebar:destination.secrets"), exact: true }),
      );
      await press(page, main.getByRole("link", { name: title }));
      await showCopy(text("recovery/image-recovery:provide.recover_action"));
      const opened = openedContent(page);
      await press(page, opened.getByRole("button", { name: text("host/common:reveal.show_action") }));
      await expect(opened.getByLabel(text("host/common:reveal.content_aria"))).toHaveText(phrase);
    });

    await test.step("no part of the secret or the picture was sent", async () => {
      const keys = await deriveUserKeys(page, { file: picturePath, passphrase });
      const needles: Needle[] = Object.entries({
        phrase: Buffer.from(/[A-Za-z0-9]{16}/.exec(phrase)?.[0] ?? phrase),
        title: Buffer.from(/[A-Za-z0-9]{16}/.exec(title)?.[0] ?? title),
        passphrase: Buffer.from(/[A-Za-z0-9]{16}/.exec(passphrase)?.[0] ?? passphrase),
        "account key": keys.accountKey,
        "image secret": keys.imageSecret,
        "image root key": keys.imageRootKey,
        "seed of the opener": keys.openerSeed,
        "identity of the content": Buffer.from(keys.secrets[0]?.contentIdentity ?? ""),
      }).map(([name, bytes]) => ({ name, kind: "text", bytes }));
      expect(needles.filter(({ bytes }) => bytes.length < 16)).toEqual([]);
      needles.push(
        { name: "file of the picture", kind: "runs", bytes: await readFile(picturePath) },
        { name: "luma of the picture", kind: "runs", bytes: await lumaRows(picturePath) },
      );
      const search = new ByteSearch(needles);
      expect(proxy.requestCount).toBeGreaterThan(30);
      expect(search.search(proxy.readSent(), "requests")).toEqual([]);
      expect([...foreignOrigins]).toEqual([]);

      // Planted needles are found, so the search above can fail.
      for (const { bytes, kind } of needles)
        proxy.plant(
          Buffer.from(
            ` ${Buffer.from(kind === "text" ? bytes : bytes.subarray(Math.floor(bytes.length * 0.7), Math.floor(bytes.length * 0.7) + 100)).toString("base64")} `,
          ),
        );
      expect(new Set(search.search(proxy.readSent(), "requests").map(({ needle }) => needle))).toEqual(
        new Set(needles.map(({ name }) => name)),
      );
    });
    await close();
    await proxy.stop();
  });
}

/** Presses Tab until the target has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeEnabled({ timeout: 60_000 });
  for (let tabs = 0; tabs < 100; tabs++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${String(target)} is not reached by Tab`);
}

async function press(page: Page, target: Locator, key: "Enter" | "Space" = "Enter"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.insertText(text);
}
