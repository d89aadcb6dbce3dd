import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";

import { ConnectionLimiter } from "../http/connection-limiter.ts";
import { sendProblem, sendStatus } from "../http/problem.ts";
import { defaultLimits, type ServeLimits } from "./limits.ts";

/**
 * Serves the immutable files of one remote's releases, `/<release>/<file>`, from `folder`. The
 * gateway is the only client, so its address has no limits.
 */
export async function buildRemoteServer({
  folder,
  limits = defaultLimits,
}: {
  readonly folder: string;
  readonly limits?: ServeLimits;
}): Promise<FastifyInstance> {
  const app = fastify({
    ...new ConnectionLimiter({
      limits,
      isTrusted: () => true,
      requestMs: limits.bodyMs,
      sendError: (_request, reply, status) => sendStatus(reply, status),
    }).serverOptions,
    logger: false,
    bodyLimit: 1_024, // files take no bodies
  });
  app.addHook("onRequest", async (_request, reply) => {
    void reply.header("x-content-type-options", "nosniff").header("cross-origin-resource-policy", "same-origin");
  });
  app.get("/healthz", () => ({ status: "ok" }));
  await app.register(fastifyStatic, {
    root: folder,
    index: false,
    dotfiles: "deny",
    preCompressed: true,
    immutable: true,
    maxAge: "365d",
    decorateReply: false,
  });
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404, "not_found", "Not found"));
  return app;
}
