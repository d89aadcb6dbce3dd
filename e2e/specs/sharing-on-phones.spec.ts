import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp, type Account } from "../pages/account.ts";
import { answerDevice, openList, protect, row } from "../pages/secrets.ts";
import { expectAccessible, expectNoSidewaysScroll, wear } from "../support/looks.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

const title = `Las escrituras de la casa de la abuela ${sentinel()}`;
const phrase = `bajo el felpudo ${sentinel()}`;
const patience = { timeout: 90_000 };

interface OnAPhone {
  readonly page: Page;
  readonly secretId: string;
}

/**
 * Somebody with a secret of their own, whose browser is from then on a small phone, in Spanish and
 * dark.
 */
async function onAPhone(
  browser: Browser,
  baseURL: string,
  account: Account,
  secret: { readonly title: string; readonly text: string; readonly picture: string },
): Promise<OnAPhone> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB", hasTouch: true })).newPage();
  await signUp(page, account);
  await protect(page, {
    title: secret.title,
    text: secret.text,
    tags: [],
    image: { file: secret.picture, passphrase: null },
  });
  await answerDevice(page, "My own device");
  await openList(page);
  await row(page, secret.title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  await expect(page).toHaveURL(/\/share\/[\w-]{36}$/);
  const secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  await wear(page, ["es", "dark"]);
  await page.setViewportSize({ width: 360, height: 740 });
  return { page, secretId };
}

async function expectFits(page: Page, where: string): Promise<void> {
  await expect(page.locator("html")).toHaveAttribute("lang", "es");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expectAccessible(page, where);
  await expectNoSidewaysScroll(page, where);
}

test("one person shares with another, both on phones, in Spanish and dark", async ({ browser, portal, planted }) => {
  test.setTimeout(600_000);
  for (const text of [title, phrase]) planted.text(text);
  const [lucia, mateo] = [newAccount(), newAccount()];
  const { page: hers, secretId } = await onAPhone(browser, portal.origin, lucia, {
    title,
    text: phrase,
    picture: photographs.mountains,
  });
  const { page: his } = await onAPhone(browser, portal.origin, mateo, {
    title: "Lo mío",
    text: "nada",
    picture: photographs.small,
  });

  await test.step("she finds him in the dialog, compares his words, and shares", async () => {
    await his.goto("/people");
    const words = his.getByRole("list", { name: `Palabras de ${mateo.userName}` }).getByRole("listitem");
    await expect(words).toHaveCount(8);
    await expectFits(his, "his own words");
    await hers.goto(`/share/${secretId}`);
    const form = hers.getByRole("region", { name: "Compartirlo con" });
    await form.getByRole("radio", { name: "Una persona", exact: true }).check();
    await form.getByLabel("Su nombre de usuario").fill(mateo.userName);
    await form.getByRole("button", { name: "Buscar" }).click();
    await expect(form.getByText(`Es la primera vez que compartes con ${mateo.userName}`)).toBeVisible();
    await expect(form.getByRole("list", { name: `Palabras de ${mateo.userName}` }).getByRole("listitem")).toHaveText(
      await words.allTextContents(),
    );
    await form.getByRole("checkbox", { name: /^He comparado estas palabras/ }).check();
    await form.getByRole("radio", { name: "Una vez", exact: true }).check();
    await form
      .getByRole("group", { name: "Tu imagen" })
      .getByLabel("Archivo de imagen")
      .setInputFiles(photographs.mountains);
    await expectFits(hers, "the dialog");
    await form.getByRole("button", { name: "Compartir", exact: true }).click();
    await expect(hers.getByRole("heading", { name: "Compartido", exact: true })).toBeVisible(patience);
    await expect(hers.getByText("Abierto 0 de 1 vez", { exact: true })).toBeVisible();
    await expectFits(hers, "what was shared");
  });

  await test.step("he finds it, sees whom it is from, and opens it with a picture of his own", async () => {
    await his.goto("/recived");
    const card = his.getByRole("article").filter({ hasText: "Sin abrir" });
    await expect(card).toContainText(lucia.userName);
    await expectFits(his, "shared with me");
    await card.getByRole("link", { name: "Mirar y abrir" }).click();
    await his.getByRole("button", { name: "Abrir", exact: true }).click();
    await his.getByLabel("Archivo de imagen").setInputFiles(photographs.small);
    await his
      .getByRole("group", { name: /^Muestra una de tus imágenes/ })
      .getByRole("button", { name: "Abrir", exact: true })
      .click();
    await expect(his.getByText(`Todavía no conoces a ${lucia.userName}`)).toBeVisible(patience);
    await expectFits(his, "an unknown sender");
    await his.getByRole("button", { name: "Aceptar y abrir" }).click();
    await expect(his.getByRole("heading", { level: 1, name: title })).toBeVisible(patience);
    await his.getByRole("button", { name: "Mostrar", exact: true }).click();
    await expect(his.getByText(phrase)).toBeVisible();
    await expectFits(his, "what he opened");
  });

  await test.step("once is once, for both of them", async () => {
    await his.goto("/recived");
    await expect(his.getByText("Ahora no hay nada compartido contigo")).toBeVisible();
    await hers.goto(`/share/${secretId}`);
    await hers.getByText("También los terminados").click();
    await expect(hers.getByText("Abierto todas las veces permitidas")).toBeVisible();
    await expectFits(hers, "a share that is used up");
  });
});
