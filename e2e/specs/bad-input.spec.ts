import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { fillSecret } from "../pages/secrets.ts";
import { badPictures } from "../support/bad-pictures.ts";
import { runSql } from "../support/database.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

const texts = {
  en: {
    pictureFile: "Picture file",
    broken: "This picture is damaged or incomplete. Download or copy it again",
    notPicture: "This file is not a picture. Choose a JPEG or PNG picture.",
    gif: "This kind of GIF file cannot be read here. Save the picture as JPEG or PNG, and choose that copy.",
    cmyk: "Save it as JPEG or PNG with ordinary colours (RGB)",
    animated: "This is a moving picture (WebP), which cannot be used. Save one still picture as JPEG or PNG",
    raw: "This is a raw file of a camera (CR3). Save it as JPEG or PNG",
    empty: "This file is empty",
    tooLarge: "This picture has 9000 × 6000 pixels, more than can be read here",
    tooPlain: "This picture cannot be used",
    title: "Title",
    secret: "Your secret",
    signInName: "User name or e-mail",
    password: "Password",
    signIn: "Sign in",
    wrongPassword: "This user name and password do not go together",
    protect: "Protect",
    protected: "Your secret is protected.",
    serviceDown: "The service does not answer right now",
    sessionEnded: /Your session has ended/,
  },
  es: {
    pictureFile: "Archivo de imagen",
    broken: "Esta imagen está dañada o incompleta. Descárgala o cópiala de nuevo",
    notPicture: "Este archivo no es una imagen. Elige una imagen JPEG o PNG.",
    gif: "Este tipo de archivo GIF no se puede leer aquí. Guarda la imagen como JPEG o PNG y elige esa copia.",
    cmyk: "Guárdalo como JPEG o PNG con colores normales (RGB)",
    animated: "Esta es una imagen en movimiento (WebP) y no se puede usar. Guarda una sola imagen fija como JPEG o PNG",
    raw: "Este es un archivo RAW de una cámara (CR3). Guárdalo como JPEG o PNG",
    empty: "Este archivo está vacío",
    tooLarge: "Esta imagen tiene 9000 × 6000 píxeles, más de lo que se puede leer aquí",
    tooPlain: "Esta imagen no se puede usar",
    title: "Título",
    secret: "Tu secreto",
    signInName: "Nombre de usuario o correo",
    password: "Contraseña",
    signIn: "Entrar",
    wrongPassword: "Este nombre de usuario y esta contraseña no van juntos",
    protect: "Proteger",
    protected: "Tu secreto está protegido.",
    serviceDown: "El servicio no responde ahora mismo",
    sessionEnded: /Tu sesión ha terminado/,
  },
} as const;
type Language = keyof typeof texts;

async function setLanguage(page: Page, language: Language): Promise<void> {
  await page.addInitScript((selected) => {
    localStorage.setItem("selectedLanguage", selected);
  }, language);
}

/** Changes the language of an open page by its button; what is typed there stays. */
async function switchLanguage(page: Page, language: Language): Promise<void> {
  if (language === "es") await page.getByRole("button", { name: /Switch to Español/ }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", language);
}

// What takes long is told in one language, and in the other by `npm run test:all`.
for (const language of ["en", "es"] as const) {
  const t = texts[language];

  test(`a bad picture is refused in words and nothing typed is lost (${language})`, async ({ page }) => {
    await signUp(page, newAccount());
    await setLanguage(page, language);
    await page.goto("/add-secret");
    await page.getByLabel(t.secret).fill("typed before the picture");
    await page.getByLabel(t.title).fill("typed title");
    const choosePicture = (file: Parameters<ReturnType<Page["getByLabel"]>["setInputFiles"]>[0]) =>
      page.getByLabel(t.pictureFile).setInputFiles(file);

    await choosePicture(badPictures.broken);
    await expect(page.getByText(t.broken)).toBeVisible();
    for (const kind of ["gif", "cmyk", "animated", "raw"] as const) {
      await choosePicture(badPictures[kind]);
      await expect(page.getByText(t[kind])).toBeVisible();
    }
    await choosePicture(badPictures.empty);
    await expect(page.getByText(t.empty)).toBeVisible();
    await choosePicture(badPictures.cut);
    await expect(page.getByText(t.broken)).toBeVisible();
    await choosePicture(badPictures.text);
    await expect(page.getByText(t.notPicture)).toBeVisible();
    await choosePicture(badPictures.overLimit);
    await expect(page.getByText(t.tooLarge)).toBeVisible();
    await choosePicture(photographs.tooPlain);
    await expect(page.getByText(t.tooPlain)).toBeVisible();

    await expect(page.getByLabel(t.secret)).toHaveValue("typed before the picture");
    await expect(page.getByLabel(t.title)).toHaveValue("typed title");
  });

  test(`a wrong password is said beside the form and the name stays (${language})`, async ({ page }) => {
    await setLanguage(page, language);
    await page.goto("/");
    await page.getByLabel(t.signInName).fill("somebody");
    await page.getByLabel(t.password).fill("certainly not this");
    await page.getByRole("button", { name: t.signIn }).click();
    await expect(page.getByText(t.wrongPassword)).toBeVisible();
    await expect(page.getByLabel(t.signInName)).toHaveValue("somebody");
  });

  test(`while the service is down saving says so, keeps what was typed, and works once it is back (${language})${language === "en" ? " @long" : ""}`, async ({
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
    await page.getByRole("checkbox", { name: /I have not protected anything in this account before/ }).check();
    await switchLanguage(page, language);

    await portal.processes.stop("service");
    await page.getByRole("button", { name: t.protect, exact: true }).click();
    await expect(page.getByText(t.serviceDown)).toBeVisible({ timeout: 90_000 });
    await expect(page.getByLabel(t.secret)).toHaveValue("kept through the outage");
    await expect(page.getByLabel(t.title)).toHaveValue("Outage");

    await portal.processes.start("service");
    await page.getByRole("button", { name: t.protect, exact: true }).click();
    await expect(page.getByText(t.protected).first()).toBeVisible({ timeout: 90_000 });
  });

  test(`an expired session is renewed by itself; where it cannot be, it is said and nothing typed is lost (${language})${language === "es" ? " @long" : ""}`, async ({
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
    await page.getByRole("checkbox", { name: /I have not protected anything in this account before/ }).check();
    await switchLanguage(page, language);

    // The service forgets the session, and takes the provider's token for expired too: as after a
    // long sleep.
    await runSql(portal, "update sessions set revoked_at = now()");
    await page.route("**/api/auth/token?*", (route) =>
      route.fulfill({
        status: 401,
        contentType: "application/problem+json",
        body: JSON.stringify({ title: "Unauthorized", status: 401, code: "token_expired" }),
      }),
    );
    await page.getByRole("button", { name: t.protect, exact: true }).click();
    await expect(page.getByText(t.sessionEnded)).toBeVisible({ timeout: 90_000 });
    await expect(page.getByLabel(t.secret)).toHaveValue("kept through the expiry");

    await page.unroute("**/api/auth/token?*");
    await page.getByRole("button", { name: t.protect, exact: true }).click();
    await expect(page.getByText(t.protected).first()).toBeVisible({ timeout: 90_000 });
  });
}
