import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/**
 * Measures responses by method, route pattern (no ids) and status, under the name and labels of
 * OpenTelemetry's semantic conventions; and the process: processor, memory, event loop.
 */
export function measureResponses(app: FastifyInstance): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durationHistogram = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time until a response was sent",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers: [registry],
  });
  app.addHook("onResponse", (request, reply, done) => {
    const labels = {
      http_request_method: request.method,
      http_route: request.routeOptions.url ?? "none",
      http_response_status_code: String(reply.statusCode),
    };
    durationHistogram.observe(labels, reply.elapsedTime / 1_000);
    done();
  });
  return registry;
}
