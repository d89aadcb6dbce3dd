import type { FastifyInstance } from "fastify";
import { Counter, Histogram, Registry } from "prom-client";

/**
 * Answers by method, route and status, and how long they took. Routes as written in the code: no
 * ids.
 */
export function measureResponses(app: FastifyInstance): Registry {
  const registry = new Registry();
  const responseCounter = new Counter({
    name: "relicario_answers_total",
    help: "Answers of the service",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durationHistogram = new Histogram({
    name: "relicario_answer_seconds",
    help: "Time until an answer was sent",
    labelNames: ["method", "route"],
    registers: [registry],
  });
  app.addHook("onResponse", (request, reply, done) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? "none" };
    responseCounter.inc({ ...labels, status: String(reply.statusCode) });
    durationHistogram.observe(labels, reply.elapsedTime / 1_000);
    done();
  });
  return registry;
}
