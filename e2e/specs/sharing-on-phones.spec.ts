import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp, type Account } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, row } from "../pages/secrets.ts";
import { choosePicture, openedContent, pressButton, pressInOpened } from "../pages/picture-field.ts";
import { expectAccessible, expectNoSidewaysScroll, applyAppearance } from "../support/appearance.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const title = `Las escrituras de la casa de la abuela ${createSentinel()}`;
const secretText = `bajo el felpudo ${createSentinel()}`;
const waitOptions = { timeout: 90_000 };

interface PhoneUser {
  readonly page: Page;
  readonly secretId: string;
}

/** A user with a secret, on a small phone, in Spanish and dark. */
async function createPhoneUser(
  browser: Browser,
  baseURL: string,
  account: Account,
  secret: { readonly title: string; readonly text: string; readonly picture: string },
): Promise<PhoneUser> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB", hasTouch: true })).newPage();
  await signUp(page, account);
  await protect(page, {
    title: secret.title,
    text: secret.text,
    tags: [],
    image: { file: secret.picture, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await row(page, secret.title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  await expect(page).toHaveURL(/\/share\/[\w-]{36}$/);
  const secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  await applyAppearance(page, ["es", "dark"]);
  await page.setViewportSize({ width: 360, height: 740 });
  return { page, secretId };
}

async function expectFits(page: Page, label: string): Promise<void> {
  await expect(page.locator("html")).toHaveAttribute("lang", "es");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expectAccessible(page, label);
  await expectNoSidewaysScroll(page, label);
}

test("one person shares with another, both on phones, in Spanish and dark", async ({ browser, portal, planted }) => {
  for (const text of [title, secretText]) planted.addText(text);
  const [lucia, mateo] = [newAccount(), newAccount()];
  const { page: ownerPage, secretId } = await createPhoneUser(browser, portal.origin, lucia, {
    title,
    text: secretText,
    picture: photographs.mountains,
  });
  const { page: recipientPage } = await createPhoneUser(browser, portal.origin, mateo, {
    title: "Lo mío",
    text: "nada",
    picture: photographs.small,
  });

  await test.step("she finds him in the dialog, compares his words, and shares", async () => {
    await recipientPage.goto("/people");
    const words = recipientPage
      .getByRole("list", { name: `Palabras de seguridad de ${mateo.userName}` })
      .getByRole("listitem");
    await expect(words).toHaveText(Array.from({ length: 8 }, () => /^[\p{L}]+ \d+$/u));
    await expectFits(recipientPage, "his own words");
    await ownerPage.goto(`/share/${secretId}`);
    const form = ownerPage.getByRole("region", { name: "Compartir con" });
    await form.getByRole("radio", { name: "Una persona", exact: true }).check();
    await form.getByLabel("Nombre de esa persona en el portal").fill(mateo.userName);
    await form.getByRole("button", { name: "Buscar" }).click();
    await expect(form.getByText(`Es la primera vez que compartes con ${mateo.userName}`)).toBeVisible();
    await expect(
      form.getByRole("list", { name: `Palabras de seguridad de ${mateo.userName}` }).getByRole("listitem"),
    ).toHaveText(await words.allTextContents());
    await form.getByRole("checkbox", { name: /^He comparado estas palabras/ }).check();
    await form.getByRole("radio", { name: "Una vez", exact: true }).check();
    await choosePicture(form, photographs.mountains, "Archivo de imagen");
    await expectFits(ownerPage, "the dialog");
    await pressButton(form, "Compartir");
    await expect(ownerPage.getByRole("heading", { name: "Compartido", exact: true })).toBeVisible(waitOptions);
    await expect(ownerPage.getByText("Abierto 0 de 1 vez", { exact: true })).toBeVisible();
    await expectFits(ownerPage, "what was shared");
  });

  await test.step("he finds the share, sees who sent it, and opens it with his own picture", async () => {
    await recipientPage.goto("/recived");
    const card = recipientPage.getByRole("article").filter({ hasText: "Sin abrir" });
    await expect(card).toContainText(lucia.userName);
    await expectFits(recipientPage, "shared with me");
    await card.getByRole("link", { name: "Ver" }).click();
    await recipientPage.getByRole("button", { name: "Abrir", exact: true }).click();
    await choosePicture(recipientPage, photographs.small, "Archivo de imagen");
    await recipientPage
      .getByRole("group", { name: /^Elige una de tus imágenes/ })
      .getByRole("button", { name: "Abrir", exact: true })
      .click();
    await expect(recipientPage.getByText(`Es la primera vez que ${lucia.userName} comparte contigo`)).toBeVisible(
      waitOptions,
    );
    await expectFits(recipientPage, "an unknown sender");
    await recipientPage.getByRole("button", { name: "Aceptar y abrir" }).click();
    await expect(recipientPage.getByRole("heading", { level: 1, name: title })).toBeVisible(waitOptions);
    await pressInOpened(recipientPage, "Mostrar");
    await expect(openedContent(recipientPage).getByText(secretText)).toBeVisible();
    await expectFits(recipientPage, "what he opened");
  });

  await test.step("the share's only view is used up, for both of them", async () => {
    await recipientPage.goto("/recived");
    await expect(recipientPage.getByText("No hay nada compartido contigo")).toBeVisible();
    await ownerPage.goto(`/share/${secretId}`);
    await ownerPage.getByText("Mostrar caducados").click();
    await expect(ownerPage.getByText("Ya se abrió todas las veces permitidas")).toBeVisible();
    await expectFits(ownerPage, "a share that is used up");
  });
});
