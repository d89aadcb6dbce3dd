import type { FastifyReply, FastifyRequest } from "fastify";

import { resolveAppearance } from "./appearance.ts";
import type { IdentitySettings } from "./env.ts";
import { renderNoticePage, type NoticeName } from "./pages/notices.ts";
import { getReturnUrl } from "./provider.ts";

export function sendPage(reply: FastifyReply, status: number, markup: string): FastifyReply {
  return reply.code(status).type("text/html; charset=utf-8").header("cache-control", "no-store").send(markup);
}

export function sendNotice(
  settings: IdentitySettings,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  name: NoticeName,
): FastifyReply {
  const appearance = resolveAppearance(settings, request);
  return sendPage(reply, status, renderNoticePage(appearance, name, { returnUrl: getReturnUrl(settings) }));
}
