import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from "fastify";
import { z } from "zod";

/**
 * Parts of an error that may be logged: name and stack, without the message, into which drivers put
 * values.
 */
export interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly at?: readonly string[];
  readonly cause?: ErrorDescription;
}

export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!Error.isError(error)) return { name: typeof error };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const at = (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim().slice(0, 160))
    .slice(0, 8);
  const cause = error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {};
  return { name: error.name, ...code, at, ...cause };
}

/** `LOG_LEVEL`. */
export const LogLevel = z.enum(["debug", "info", "warn", "error", "silent"]).default("info");

export interface LogStream {
  write(line: string): void;
}

/**
 * pino JSON lines. Fastify's request log, which contains the URL with its query, is replaced by
 * {@link logResponses}.
 */
export function createLoggerOptions(
  level: z.infer<typeof LogLevel>,
  stream?: LogStream,
): Pick<FastifyServerOptions, "logger" | "logController"> {
  // pino's serializers log messages and URLs; Fastify requires `err`, `req` and `res`.
  const serializers = {
    thrown: (error: unknown) => describeError(error),
    err: (error: Error) => ({ type: error.name, message: "", stack: (describeError(error).at ?? []).join("\n") }),
    req: () => ({}),
    res: () => ({ statusCode: "" }),
  };
  return {
    logController: new Fastify.LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    // pino copies the message of an error under `errorKey` to the log line, and messages of Fastify
    // can contain the URL: no error is logged under this key.
    logger: { level, base: null, serializers, errorKey: "thrown", ...(stream === undefined ? {} : { stream }) },
  };
}

/** Milliseconds from which a response counts as slow. */
const slowMs = 1_000;

interface ResponseLog {
  /** Its pattern; null: no route was found. */
  readonly getRoute?: (request: FastifyRequest) => string | null;
  /** Of a response that is neither slow nor an error of the system. */
  readonly routineLevel?: "info" | "debug";
}

/** Logs each response by the route's pattern: never the URL, a header, or a body. */
export function logResponses(
  app: FastifyInstance,
  { getRoute = ({ routeOptions }) => routeOptions.url ?? null, routineLevel = "info" }: ResponseLog = {},
): void {
  app.addHook("onResponse", (request, reply, done) => {
    const level = reply.statusCode >= 500 || reply.elapsedTime >= slowMs ? "info" : routineLevel;
    request.log[level](
      {
        method: request.method,
        route: getRoute(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      "answered",
    );
    done();
  });
}
