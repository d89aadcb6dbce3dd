import Fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";

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
  if (!(error instanceof Error) && !Error.isError(error)) return { name: typeof error };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const at = (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim().slice(0, 160))
    .slice(0, 8);
  const cause = error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {};
  return { name: error.name, ...code, at, ...cause };
}

export interface LogStream {
  write(line: string): void;
}

/**
 * pino JSON lines. Fastify's request log, which contains the URL with its query, is replaced by
 * {@link logResponses}.
 */
export function createLoggerOptions(
  level: string,
  stream?: LogStream,
): Pick<FastifyServerOptions, "logger" | "logController"> {
  // pino's serializers log messages and URLs; Fastify requires these three.
  const serializers = {
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

/** Logs each response by the route's pattern: never the URL, a header, or a body. */
export function logResponses(app: FastifyInstance): void {
  app.addHook("onResponse", (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      "answered",
    );
    done();
  });
}
