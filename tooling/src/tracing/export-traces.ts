import { subscribe } from "node:diagnostics_channel";

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { getErrorCode } from "../error-code.ts";
import { currentTrace, type RequestTrace } from "./current-trace.ts";

/**
 * Exports spans of requests and of their statements, by names of OpenTelemetry's semantic
 * conventions. They have patterns of routes and names of tables, never a URL, a value or a message.
 */
export function exportTraces(): void {
  const { OTEL_SERVICE_NAME: serviceName = "relicario", OTEL_TRACES_SAMPLER_ARG: sampledRatio = "1" } = process.env;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    // Decides by the trace's id, so that all processes record the same traces.
    sampler: new TraceIdRatioBasedSampler(Number(sampledRatio)),
    // A process that is killed loses what waits.
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: 1_000 })],
  });
  const tracer = provider.getTracer("relicario");
  subscribe("fastify.initialization", (message) => {
    const { fastify: app } = message as { readonly fastify: FastifyInstance };
    traceRequests(app, tracer);
    // Without a collector it stops all the same.
    app.addHook("onClose", () => provider.forceFlush({ timeoutMillis: 3_000 }).catch(() => undefined));
  });
}

function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  const traces = new WeakMap<FastifyRequest, RequestTrace>();
  app.addHook("onRequest", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    const span = tracer.startSpan(
      `${request.method} ${route}`,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": request.method, "http.route": route } },
      readContext(request),
    );
    forwardSpan(request, span);
    const requestTrace = createRequestTrace(tracer, trace.setSpan(ROOT_CONTEXT, span));
    traces.set(request, requestTrace);
    // After the response, or when the sender gave up.
    reply.raw.once("close", () => {
      if (reply.raw.headersSent) span.setAttribute("http.response.status_code", reply.statusCode);
      if (reply.statusCode >= 500 || !reply.raw.writableFinished) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    currentTrace.run(requestTrace, done);
  });
  // After the body was read, whose events belong to the connection.
  app.addHook("preHandler", (request, _reply, done) => {
    const requestTrace = traces.get(request);
    if (requestTrace === undefined) done();
    else currentTrace.run(requestTrace, done);
  });
}

/** From the `traceparent` that `createTraceAdopter` judged. */
function readContext({ headers }: FastifyRequest): Context {
  const [, traceId = "", spanId = ""] = String(headers["traceparent"]).split("-");
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE, isRemote: true });
}

/** Makes the request's span the parent of what other processes do for it. */
function forwardSpan(request: FastifyRequest, span: Span): void {
  const { traceId, spanId, traceFlags } = span.spanContext();
  request.raw.headers["traceparent"] = `00-${traceId}-${spanId}-0${traceFlags.toString()}`;
}

function createRequestTrace(tracer: Tracer, parent: Context): RequestTrace {
  return {
    startStatement(text) {
      const operation = /^\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "COMMAND";
      const table = /\b(?:from|into|update)\s+"?([a-z_]+)\b/i.exec(text)?.[1];
      const span = tracer.startSpan(
        table === undefined ? operation : `${operation} ${table}`,
        {
          kind: SpanKind.CLIENT,
          attributes: {
            "db.system.name": "postgresql",
            "db.operation.name": operation,
            ...(table === undefined ? {} : { "db.collection.name": table }),
          },
        },
        parent,
      );
      return (error) => {
        if (error !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute("error.type", getErrorCode(error) ?? "unknown");
        }
        span.end();
      };
    },
  };
}
