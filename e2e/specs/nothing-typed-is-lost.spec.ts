import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { fillSecret } from "../pages/secrets.ts";
import { choosePicture, pictureField } from "../pages/picture-field.ts";
import { badPictures } from "../support/bad-pictures.ts";
import { runSql } from "../support/database.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

const texts = {
  en: {
    pictureFile: "Picture file",
    broken: "This picture is damaged or incomplete. Download or copy it again",
    notPicture: "This file is not a picture. Choose a JPEG or PNG picture.",
    gif: "This GIF file can't be read here. Save the picture as JPEG or PNG, and choose that copy.",
    cmyk: "Save it as JPEG or PNG with ordinary colours (RGB)",
    animated: "This is an animated picture (WebP), which can't be used. Save one frame as JPEG or PNG",
    raw: "This is a raw file from a camera (CR3). Save it as JPEG or PNG",
    empty: "This file is empty",
    tooLarge: "This picture has 9000 × 6000 pixels, more than can be read here",
    tooPlain: "This picture cannot be used",
    title: "Title",
    secret: "Your secret",
    signInName: "User name or e-mail",
    password: "Password",
    signIn: "Sign in",
    wrongPassword: "Wrong user name or password.",
    protect: "Protect",
    protected: "Your secret is protected!",
    serviceDown: "The service is not responding",
    sessionEnded: /Your sign-in has ended and could not be renewed/,
  },
  es: {
    pictureFile: "Archivo de imagen",
    broken: "Esta imagen está dañada o incompleta. Descárgala o cópiala de nuevo",
    notPicture: "Este archivo no es una imagen. Elige una imagen JPEG o PNG.",
    gif: "Este archivo GIF no se puede leer aquí. Guarda la imagen como JPEG o PNG y elige esa copia.",
    cmyk: "Guárdalo como JPEG o PNG con colores normales (RGB)",
    animated: "Esta es una imagen animada (WebP) y no se puede usar. Guarda un solo fotograma como JPEG o PNG",
    raw: "Este es un archivo RAW de una cámara (CR3). Guárdalo como JPEG o PNG",
    empty: "Este archivo está vacío",
    tooLarge: "Esta imagen tiene 9000 × 6000 píxeles, más de lo que se puede leer aquí",
    tooPlain: "Esta imagen no se puede usar",
    title: "Título",
    secret: "Tu secreto",
    signInName: "Nombre de usuario o correo electrónico",
    password: "Contraseña",
    signIn: "Iniciar sesión",
    wrongPassword: "Nombre de usuario o contraseña incorrectos.",
    protect: "Proteger",
    protected: "¡Tu secreto está protegido!",
    serviceDown: "El servicio no responde",
    sessionEnded: /Tu sesión ha terminado y no se ha podido renovar/,
  },
} as const;
type Language = keyof typeof texts;

async function setLanguage(page: Page, language: Language): Promise<void> {
  await page.addInitScript((selected) => {
    localStorage.setItem("selectedLanguage", selected);
  }, language);
}

/** Changes the language of an open page by its button, which keeps what was typed. */
async function switchLanguage(page: Page, language: Language): Promise<void> {
  if (language === "es") await page.getByRole("button", { name: /Cambiar a español/ }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", language);
}

// Slow tests run in one language; `npm run test:all` runs them in both.
for (const language of ["en", "es"] as const) {
  const t = texts[language];

  test(`a bad picture is refused with a reason, and typed text stays (${language})`, async ({ page }) => {
    await signUp(page, newAccount());
    await setLanguage(page, language);
    await page.goto("/add-secret");
    await page.getByLabel(t.secret).fill("typed before the picture");
    await page.getByLabel(t.title).fill("typed title");
    const field = pictureField(page);
    const choose = (file: Parameters<typeof choosePicture>[1]) => choosePicture(page, file, t.pictureFile);

    await choose(badPictures.broken);
    await expect(field.getByText(t.broken)).toBeVisible();
    for (const kind of ["gif", "cmyk", "animated", "raw"] as const) {
      await choose(badPictures[kind]);
      await expect(field.getByText(t[kind])).toBeVisible();
    }
    await choose(badPictures.empty);
    await expect(field.getByText(t.empty)).toBeVisible();
    await choose(badPictures.cut);
    await expect(field.getByText(t.broken)).toBeVisible();
    await choose(badPictures.text);
    await expect(field.getByText(t.notPicture)).toBeVisible();
    await choose(badPictures.overLimit);
    await expect(field.getByText(t.tooLarge)).toBeVisible();
    await choose(photographs.tooPlain);
    await expect(field.getByText(t.tooPlain)).toBeVisible();

    await expect(page.getByLabel(t.secret)).toHaveValue("typed before the picture");
    await expect(page.getByLabel(t.title)).toHaveValue("typed title");
  });

  test(`a wrong password is reported at the form and the name stays (${language})`, async ({ page }) => {
    await setLanguage(page, language);
    await page.goto("/");
    await page.getByLabel(t.signInName).fill("somebody");
    await page.getByLabel(t.password).fill("certainly not this");
    await page.getByRole("button", { name: t.signIn }).click();
    await expect(page.getByText(t.wrongPassword)).toBeVisible();
    await expect(page.getByLabel(t.signInName)).toHaveValue("somebody");
  });

  test(`saving while the service is down shows an error and keeps typed text; saving after its restart works (${language})${language === "en" ? " @long" : ""}`, async ({
    page,
    portal,
  }) => {
    await signUp(page, newAccount());
    await fillSecret(page, {
      text: "kept through the outage",
      title: "Outage",
      tags: ["storm"],
      image: { file: photographs.small, passphrase: null },
    });
    await page.getByRole("checkbox", { name: /I have never protected anything in this account/ }).check();
    await switchLanguage(page, language);

    const protectButton = page.getByRole("button", { name: t.protect, exact: true });
    await portal.processes.stop("service");
    await protectButton.click();
    await expect(page.getByText(t.serviceDown)).toBeVisible({ timeout: 90_000 });
    await expect(protectButton).toBeEnabled(); // the first attempt has ended
    await expect(page.getByLabel(t.secret)).toHaveValue("kept through the outage");
    await expect(page.getByLabel(t.title)).toHaveValue("Outage");

    await portal.processes.start("service");
    await protectButton.click();
    await expect(page.getByRole("heading", { name: t.protected })).toBeVisible({ timeout: 90_000 });
  });

  test(`an expired session is renewed; where that fails, the page says so and nothing typed is lost (${language})${language === "es" ? " @long" : ""}`, async ({
    page,
    portal,
  }) => {
    await signUp(page, newAccount());
    await fillSecret(page, {
      text: "kept through the expiry",
      title: "Expiry",
      tags: [],
      image: { file: photographs.small, passphrase: null },
    });
    await page.getByRole("checkbox", { name: /I have never protected anything in this account/ }).check();
    await switchLanguage(page, language);

    // The session is gone, and the provider's token refused as expired, as after a long sleep.
    await runSql(portal, "delete from sessions");
    await page.route("**/api/auth/token?*", (route) =>
      route.fulfill({
        status: 401,
        contentType: "application/problem+json",
        body: JSON.stringify({ title: "Unauthorized", status: 401, code: "token_expired" }),
      }),
    );
    const protectButton = page.getByRole("button", { name: t.protect, exact: true });
    await protectButton.click();
    await expect(page.getByText(t.sessionEnded)).toBeVisible({ timeout: 90_000 });
    await expect(protectButton).toBeEnabled(); // the first attempt has ended
    await expect(page.getByLabel(t.secret)).toHaveValue("kept through the expiry");

    await page.unroute("**/api/auth/token?*");
    await protectButton.click();
    await expect(page.getByRole("heading", { name: t.protected })).toBeVisible({ timeout: 90_000 });
  });
}
