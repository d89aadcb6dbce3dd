import type { FastifyInstance, FastifyRequest } from "fastify";

/** 350 KB take half a minute on a slow phone. */
const usualSeconds = 60;
/** The longest that any route may ask for; Node ends what takes longer, headers included. */
export const longestSeconds = 30 * 60;

/**
 * Whoever sends a body too slowly holds a connection for nothing: it is closed when the route's
 * time is over.
 */
export function endSlowRequests(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    const seconds = bodySecondsOf(request);
    if (!raw.complete) {
      const timer = setTimeout(() => raw.destroy(), seconds * 1_000).unref();
      const stop = (): void => {
        clearTimeout(timer);
      };
      raw.once("end", stop).once("close", stop);
    }
    done();
  });
}

/** How long the body of this call may take to arrive. */
export function bodySecondsOf(request: FastifyRequest): number {
  return Math.min(request.routeOptions.config.bodySeconds ?? usualSeconds, longestSeconds);
}
