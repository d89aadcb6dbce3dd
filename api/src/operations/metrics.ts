import type { FastifyInstance } from "fastify";

const boundsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  /** Prometheus text format 0.0.4. */
  text(): string;
}

/** Answers by method, route and status, and how long they took. Routes as written in the code: no ids. */
export function measureAnswers(app: FastifyInstance): Metrics {
  const counts = new Map<string, number>();
  const durations = new Map<string, { buckets: number[]; sum: number; count: number }>();
  app.addHook("onResponse", (request, reply, done) => {
    const route = `method="${request.method}",route="${request.routeOptions.url ?? "none"}"`;
    const key = `${route},status="${String(reply.statusCode)}"`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const seconds = reply.elapsedTime / 1_000;
    const duration = durations.get(route) ?? { buckets: boundsSeconds.map(() => 0), sum: 0, count: 0 };
    durations.set(route, {
      buckets: duration.buckets.map((sofar, index) => sofar + (seconds <= (boundsSeconds[index] ?? 0) ? 1 : 0)),
      sum: duration.sum + seconds,
      count: duration.count + 1,
    });
    done();
  });
  return {
    text() {
      const lines = ["# TYPE relicario_answers_total counter"];
      for (const [labels, value] of counts) lines.push(`relicario_answers_total{${labels}} ${String(value)}`);
      lines.push("# TYPE relicario_answer_seconds histogram");
      for (const [labels, { buckets, sum, count }] of durations) {
        buckets.forEach((value, index) => lines.push(`relicario_answer_seconds_bucket{${labels},le="${String(boundsSeconds[index])}"} ${String(value)}`));
        lines.push(`relicario_answer_seconds_bucket{${labels},le="+Inf"} ${String(count)}`);
        lines.push(`relicario_answer_seconds_sum{${labels}} ${String(sum)}`, `relicario_answer_seconds_count{${labels}} ${String(count)}`);
      }
      return `${lines.join("\n")}\n`;
    },
  };
}
