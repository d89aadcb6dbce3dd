import { createHmac, randomBytes } from "node:crypto";

import type { FastifyReply, FastifyRequest } from "fastify";

import { getBasePath } from "./appearance.ts";
import type { IdentitySettings } from "./env.ts";
import { equalsInConstantTime } from "@relicario/tooling/http";

const cookieName = "relicario_known";
const lifetimeSeconds = 180 * 86_400;

/** Finds the id of a browser in which this person signed in before, see [Note: Wrong passwords]. */
export function findKnownBrowser(
  { cookieKeys }: IdentitySettings,
  { headers }: Pick<FastifyRequest, "headers">,
  accountId: string,
): string | null {
  const [, id, mac] =
    new RegExp(`(?:^|; )${cookieName}=([\\w-]{22})\\.([\\w-]{43})(?:;|$)`).exec(headers.cookie ?? "") ?? [];
  if (id === undefined || mac === undefined) return null;
  return cookieKeys.some((key) => equalsInConstantTime(mac, sign(key, id, accountId))) ? id : null;
}

/** Marks the browser as known for this person, and for no one else. */
export function saveKnownBrowser(settings: IdentitySettings, reply: FastifyReply, accountId: string): void {
  const id = randomBytes(16).toString("base64url");
  const secure = settings.issuer.startsWith("https:") ? "; Secure" : "";
  void reply.header(
    "set-cookie",
    `${cookieName}=${id}.${sign(settings.cookieKeys[0] ?? "", id, accountId)}; Path=${getBasePath(settings)}; Max-Age=${String(lifetimeSeconds)}; HttpOnly; SameSite=Lax${secure}`,
  );
}

function sign(key: string, id: string, accountId: string): string {
  return createHmac("sha256", key).update(`known browser\0${id}\0${accountId}`).digest("base64url");
}
