import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";

import { defaultLimits, getServerTimeouts, type ServeLimits } from "./limits.ts";
import { sendProblem } from "./problem.ts";

/**
 * Serves the releases of one remote: `/<release>/<file>`, for ever the same, in the compressed
 * forms made at build time. `folder` is the `dist` of its package. Of the limits only the times
 * count: the gateway alone has connections here.
 */
export async function buildRemoteServer({
  folder,
  limits = defaultLimits,
}: {
  readonly folder: string;
  readonly limits?: ServeLimits;
}): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    forceCloseConnections: "idle",
    bodyLimit: 1_024, // no file takes a body
    ...getServerTimeouts(limits, limits.bodyMs),
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
