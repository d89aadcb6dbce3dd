import { createHash, timingSafeEqual } from "node:crypto";

import type { FastifyRequest } from "fastify";

import type { Env } from "../env.ts";
import { requireBearerToken } from "../http/access.ts";
import { Problem } from "../http/problem.ts";

/**
 * @throws Problem `not_found` where no token is set, `unauthorized` when the call does not show it.
 */
export function requireMetricsToken(request: FastifyRequest, { METRICS_TOKEN }: Pick<Env, "METRICS_TOKEN">): void {
  if (METRICS_TOKEN === undefined) throw new Problem("not_found");
  if (!isEqualConstantTime(requireBearerToken(request), METRICS_TOKEN))
    throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
}

/** Takes as long for a wrong one, wherever it differs. */
function isEqualConstantTime(actual: string, expected: string): boolean {
  const [givenDigest, expectedDigest] = [actual, expected].map((text) => createHash("sha256").update(text).digest());
  return givenDigest !== undefined && expectedDigest !== undefined && timingSafeEqual(givenDigest, expectedDigest);
}
