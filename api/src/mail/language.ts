import type { FastifyRequest } from "fastify";

import { chooseLanguage, type Language } from "../identity/language.ts";

export type { Language };

/**
 * What the caller reads, by `Accept-Language`; null when the call does not say. The portal sends
 * the language that is chosen in it.
 */
export function getPreferredLanguage(request: FastifyRequest): Language | null {
  const header = request.headers["accept-language"];
  return header === undefined || header.trim() === "*" ? null : chooseLanguage(undefined, header);
}
