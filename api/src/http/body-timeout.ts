import type { FastifyInstance, FastifyRequest } from "fastify";

/** 350 KB take half a minute on a slow phone. */
const defaultBodyTimeoutSeconds = 60;
/** The longest body timeout of any route; Node closes slower requests, headers included. */
export const maxBodyTimeoutSeconds = 30 * 60;

/** Closes connections whose body takes longer than the route's timeout. */
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

export function getBodyTimeoutSeconds(request: FastifyRequest): number {
  return Math.min(request.routeOptions.config.bodyTimeoutSeconds ?? defaultBodyTimeoutSeconds, maxBodyTimeoutSeconds);
}
