import type { FastifyInstance, FastifyRequest } from "fastify";

/** 350 KB take half a minute on a slow phone. */
const defaultBodyTimeoutSeconds = 60;
/** The longest that any route may ask for; Node ends what takes longer, headers included. */
export const maxBodyTimeoutSeconds = 30 * 60;

/**
 * Whoever sends a body too slowly holds a connection for nothing: it is closed when the route's
 * time is over.
 */
export function enforceBodyTimeout(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    const seconds = getBodyTimeoutSeconds(request);
    if (!raw.complete) {
      const timer = setTimeout(() => raw.destroy(), seconds * 1_000).unref();
      const cancelTimeout = (): void => {
        clearTimeout(timer);
      };
      raw.once("end", cancelTimeout).once("close", cancelTimeout);
    }
    done();
  });
}

/** How long the body of this call may take to arrive. */
export function getBodyTimeoutSeconds(request: FastifyRequest): number {
  return Math.min(request.routeOptions.config.bodyTimeoutSeconds ?? defaultBodyTimeoutSeconds, maxBodyTimeoutSeconds);
}
