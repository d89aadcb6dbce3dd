import { createHash, timingSafeEqual } from "node:crypto";

import type { FastifyRequest } from "fastify";

import { requireBearerToken } from "./bearer-token.ts";
import { Problem } from "./problem.ts";

/**
 * @throws Problem `not_found` where no token is set, `unauthorized` when the call does not show it.
 */
export function requireMetricsToken(request: FastifyRequest, expectedToken: string | undefined): void {
  if (expectedToken === undefined) throw new Problem("not_found");
  if (!equalsInConstantTime(requireBearerToken(request), expectedToken))
    throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
}

/** Takes as long for a wrong one, wherever it differs. */
function equalsInConstantTime(actual: string, expected: string): boolean {
  const [actualDigest, expectedDigest] = [actual, expected].map((text) => createHash("sha256").update(text).digest());
  return actualDigest !== undefined && expectedDigest !== undefined && timingSafeEqual(actualDigest, expectedDigest);
}
