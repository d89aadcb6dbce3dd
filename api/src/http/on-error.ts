import { describeStatus, isPortalError } from "@relicario/shared/errors";
import { ObjectStoreError } from "@relicario/tooling/objects";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import { describeError } from "@relicario/tooling/http";

import { findDatabaseFault, isDataException } from "../db/faults.ts";
import { isProblemCode, Problem, statusByCode, type ProblemCode } from "./problem.ts";

/** `Retry-After` of a 503: a restarting database is back by then. */
const retryAfterSeconds = 3;

/** `Retry-After` by fault of the object store. */
const storeRetryAfterSeconds = { full: 60, away: 5, busy: 1 } as const;

/** Turns every error into an RFC 9457 problem document with a code of `shared/errors`. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendProblem(toProblem(error), request, reply, error));
  app.setNotFoundHandler((request, reply) => sendProblem(new Problem("not_found"), request, reply));
}

/** The code with which the error is answered. */
export function getProblemCode(error: unknown): ProblemCode {
  return toProblem(error).code;
}

function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown = problem,
): FastifyReply {
  const status = statusByCode[problem.code];
  // A data exception means that a schema allows more than its column.
  if (status >= 500 || isDataException(error)) request.log.error({ failure: describeError(error) }, "failed");
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
    // Names and rules only: never a value from the request.
    const errors = error.validation.map(({ instancePath, keyword }) => ({ path: instancePath, reason: keyword }));
    return new Problem("validation_error", { cause: error, members: { errors } });
  }
  if (error instanceof ObjectStoreError)
    return new Problem("service_unavailable", {
      ...{ cause: error, detail: error.message },
      headers: { "retry-after": String(storeRetryAfterSeconds[error.fault]) },
    });
  const status = getClientErrorStatus(error);
  if (status !== null) {
    const { code } = describeStatus(status);
    if (isProblemCode(code) && statusByCode[code] < 500) return new Problem(code, { cause: error });
    if (status < 500) return new Problem("bad_request", { cause: error });
  }
  if (isDataException(error)) return new Problem("validation_error", { cause: error });
  return new Problem(findDatabaseFault(error) === null ? "internal_error" : "service_unavailable", { cause: error });
}

/** Status of Fastify's own errors (invalid JSON, body too large, wrong media type). */
function getClientErrorStatus(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("statusCode" in error) || typeof error.statusCode !== "number")
    return null;
  return error.statusCode >= 400 && error.statusCode < 500 ? error.statusCode : null;
}
