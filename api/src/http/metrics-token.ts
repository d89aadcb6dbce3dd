import { equalsInConstantTime } from "@relicario/tooling/http";
import type { FastifyRequest } from "fastify";

import { requireBearerToken } from "./bearer-token.ts";
import { Problem } from "./problem.ts";

/** @throws Problem `not_found` when no token is configured, `unauthorized` for a wrong token. */
export function requireMetricsToken(request: FastifyRequest, expectedToken: string | undefined): void {
  if (expectedToken === undefined) throw new Problem("not_found");
  if (!equalsInConstantTime(requireBearerToken(request), expectedToken))
    throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
}
