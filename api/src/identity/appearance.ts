import type { IncomingMessage } from "node:http";

import type { FastifyReply } from "fastify";

import { chooseLanguage } from "../language/language.ts";
import type { IdentitySettings } from "./env.ts";
import type { Appearance } from "./pages/layout.ts";

/** Language and theme of the last sign-in, for pages without parameters: sign-out, errors. */
const appearanceCookie = "relicario_look";

/** Path of the issuer, below which all pages and cookies are. */
export function getBasePath(settings: IdentitySettings): string {
  return new URL(settings.issuer).pathname;
}

/** Uses the portal's parameters, else those of the last sign-in, else the browser's. */
export function resolveAppearance(
  settings: IdentitySettings,
  request: Pick<IncomingMessage, "headers">,
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
    basePath: getBasePath(settings),
  };
}

export function saveAppearance(reply: FastifyReply, { language, theme, basePath }: Appearance): void {
  void reply.header(
    "set-cookie",
    `${appearanceCookie}=${language}.${theme ?? "system"}; Path=${basePath}; HttpOnly; SameSite=Lax`,
  );
}
