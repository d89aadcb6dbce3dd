import { describeStatus, isPortalError } from "@relicario/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";

import { findDatabaseFault } from "../db/faults.ts";
import { isProblemCode, Problem, statusByCode } from "./problem.ts";
import { describeError } from "./logging.ts";

/** When whoever got 503 may ask again: a database that starts again is back by then. */
const retryAfterSeconds = 3;

/**
 * The one gate out for everything that fails: RFC 9457 problem documents with a code of
 * `shared/errors`.
 */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendProblem(toProblem(error), request, reply, error));
  app.setNotFoundHandler((request, reply) => sendProblem(new Problem("not_found"), request, reply));
}

function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown = problem,
): FastifyReply {
  const status = statusByCode[problem.code];
  if (status >= 500) request.log.error({ failure: describeError(error) }, "failed");
  const { detail, members, headers } = problem.options;
  return reply
    .code(status)
    .headers({ ...(status === 503 ? { "retry-after": String(retryAfterSeconds) } : {}), ...headers })
    .type("application/problem+json")
    .serializer(JSON.stringify)
    .send({
      type: "about:blank",
      title: describeStatus(status).title,
      status,
      code: problem.code,
      ...(detail === undefined ? {} : { detail }),
      request_id: request.id,
      ...members,
    });
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isPortalError(error) && isProblemCode(error.code)) return new Problem(error.code, { cause: error });
  if (hasZodFastifySchemaValidationErrors(error)) {
    // Names and rules only: a value that was sent never comes back.
    const errors = error.validation.map(({ instancePath, keyword }) => ({ path: instancePath, reason: keyword }));
    return new Problem("validation_error", { cause: error, members: { errors } });
  }
  const status = getClientErrorStatus(error);
  if (status !== null) {
    const { code } = describeStatus(status);
    if (isProblemCode(code) && statusByCode[code] < 500) return new Problem(code, { cause: error });
    if (status < 500) return new Problem("bad_request", { cause: error });
  }
  return new Problem(findDatabaseFault(error) === null ? "internal_error" : "service_unavailable", { cause: error });
}

/**
 * Fastify's own refusals (a body that is no JSON, too large, of another type) carry their status.
 */
function getClientErrorStatus(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("statusCode" in error) || typeof error.statusCode !== "number")
    return null;
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : null;
}
