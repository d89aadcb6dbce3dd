import Fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";

/**
 * What of an error may stand in a log: its kind and where it came from. No message: drivers put
 * values into theirs.
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
 * pino JSON lines; Fastify's own line of each request (it has the address with its query) is
 * replaced by ours below.
 */
export function createLoggerOptions(
  level: string,
  stream?: LogStream,
): Pick<FastifyServerOptions, "logger" | "logController"> {
  // pino's own serializers show messages and addresses; Fastify asks for these three members.
  const serializers = {
    err: (error: Error) => ({ type: error.name, message: "", stack: (describeError(error).at ?? []).join("\n") }),
    req: () => ({}),
    res: () => ({ statusCode: "" }),
  };
  return {
    logController: new Fastify.LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    // pino takes the message of what stands under its own key for the line's; Fastify's messages
    // can hold the address.
    logger: { level, base: null, serializers, errorKey: "thrown", ...(stream === undefined ? {} : { stream }) },
  };
}

/**
 * One line for each answer: the route as it is written in the code, never the address, a header, or
 * a body.
 */
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
