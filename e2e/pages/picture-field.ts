import { setTimeout as pause } from "node:timers/promises";

import { expect, type FrameLocator, type Locator, type Page } from "@playwright/test";

import { recordTyped } from "../support/telemetry.ts";

type Scope = Page | Locator;

/**
 * The only element of its kind in `scope`, a page or a part of it: a frame of the vault's origin in
 * which ways to open are presented and made, and opened contents shown.
 */
export function vaultElement(
  scope: Scope,
  kind:
    | "device_code_scan"
    | "mark_question"
    | "new_passkey"
    | "new_passphrase"
    | "new_recovery_code"
    | "opened"
    | "picture",
): FrameLocator {
  return scope.frameLocator(`iframe[data-vault-element="${kind}"]`);
}

/** Shows an opened content. */
export function openedContent(scope: Scope): FrameLocator {
  return vaultElement(scope, "opened");
}

/** Presses a button in an opened content once it counts presses and stands still. */
export async function pressInOpened(scope: Scope, name: string): Promise<void> {
  const button = openedContent(scope).getByRole("button", { name, exact: true });
  await expect(button).toBeEnabled({ timeout: 120_000 });
  await pressInView(button, () => button.click());
}

/** The field that takes a picture or, for opening, another way to open. */
export function pictureField(scope: Scope): FrameLocator {
  return vaultElement(scope, "picture");
}

export async function choosePicture(
  scope: Scope,
  file: Parameters<Locator["setInputFiles"]>[0],
  label = "Picture file",
): Promise<void> {
  await changeInput(scope, () => pictureField(scope).getByLabel(label).setInputFiles(file));
}

/** Longer than a hand needs from the keyboard to a button, by guard-focus.ts. */
const handMilliseconds = 600;

/** Types into a text field beside the picture. Empties it with a key, as a person does. */
export async function fillInField(scope: Scope, label: string, text: string): Promise<void> {
  recordTyped(text);
  await changeInput(scope, () => pictureField(scope).getByRole("textbox", { name: label, exact: true }).fill(text));
  if (text === "") await pause(handMilliseconds); // Playwright's `fill` pressed a key
}

/**
 * Waits until the vault holds a change in the element, and the page, which hears only of a changed
 * state, has made room for it, as a person's next step would.
 */
export async function changeInput(scope: Scope, change: () => Promise<void>): Promise<void> {
  const frame = scope.locator("iframe[data-vault-element]").last();
  const element = frame.contentFrame().locator("[data-settled-turn]");
  const read = async (name: "data-turn" | "data-settled-turn"): Promise<number> =>
    Number(await element.getAttribute(name));
  const before = await read("data-turn");
  await change();
  await expect
    .poll(async () => {
      const settledTurn = await read("data-settled-turn");
      return settledTurn > before && settledTurn === (await read("data-turn"));
    })
    .toBe(true);
  await waitForFrames(frame);
}

/**
 * Presses something of the page after it was scrolled into view. For up to three frames after a
 * frame of another process shrank or was scrolled, Chromium sends presses to where it was. People
 * see the page move before they press.
 */
export async function pressInView(target: Locator, press: () => Promise<void>): Promise<void> {
  await waitUntilStill(target);
  await target.hover(); // a person's pointer leaves an element some time before the press
  await waitForFrames(target);
  await press();
}

/** Presses a button in view; `name` is the whole accessible name. */
export async function pressButton(scope: Scope, name: string | RegExp): Promise<void> {
  const button = scope.getByRole("button", { name, exact: true });
  await pressInView(button, () => button.click());
}

/** Scrolls something into view and waits until nothing moves it any more. */
export async function waitUntilStill(target: Locator): Promise<void> {
  await expect(async () => {
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    await waitForFrames(target);
    expect(await target.boundingBox()).toEqual(box);
  }).toPass({ timeout: 60_000 });
}

async function waitForFrames(locator: Locator): Promise<void> {
  await locator.evaluate(async () => {
    for (let count = 0; count < 4; count++)
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
      });
  });
}
