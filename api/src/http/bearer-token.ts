import type { FastifyRequest } from "fastify";

import { Problem } from "./problem.ts";

/** @throws Problem `unauthorized` without a token. */
export function requireBearerToken(request: FastifyRequest): string {
  const [, token] = /^Bearer ([A-Za-z0-9._-]{1,4096})$/i.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined) throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
  return token;
}
