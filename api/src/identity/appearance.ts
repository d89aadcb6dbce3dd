import type { IncomingMessage, ServerResponse } from "node:http";

import { chooseLanguage } from "../language/language.ts";
import type { IdentitySettings } from "./env.ts";
import type { Appearance } from "./pages/layout.ts";

/**
 * Language and theme of the last sign-in, for pages that nobody hands them to: signing out, errors.
 */
const appearanceCookie = "relicario_look";

/** Path of the issuer: everything lies below it, cookies too. */
export function getBasePath(settings: IdentitySettings): string {
  return new URL(settings.issuer).pathname;
}

/**
 * How a page looks for whoever asks: as the portal wishes, else as at the last sign-in, else as the
 * browser wishes.
 */
export function resolveAppearance(
  settings: IdentitySettings,
  request: IncomingMessage,
  requested: { uiLocales?: unknown; theme?: unknown } = {},
): Appearance {
  const savedMatch = new RegExp(`(?:^|; )${appearanceCookie}=(en|es)\\.(light|dark|system)(?:;|$)`).exec(
    request.headers.cookie ?? "",
  );
  const uiLocales = [requested.uiLocales, savedMatch?.[1]].filter((value) => typeof value === "string").join(" ");
  const theme = requested.theme ?? savedMatch?.[2];
  return {
    language: chooseLanguage(uiLocales, request.headers["accept-language"]),
    theme: theme === "light" || theme === "dark" ? theme : undefined,
    productName: settings.productName,
    base: getBasePath(settings),
  };
}

export function saveAppearance(response: ServerResponse, { language, theme, base }: Appearance): void {
  response.appendHeader(
    "Set-Cookie",
    `${appearanceCookie}=${language}.${theme ?? "system"}; Path=${base}; HttpOnly; SameSite=Lax`,
  );
}
