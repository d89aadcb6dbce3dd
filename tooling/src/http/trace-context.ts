/**
 * One id for a request in all processes: the trace id of W3C Trace Context
 * (https://www.w3.org/TR/trace-context/), in the header `traceparent`.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** `version-traceid-parentid-flags`, in hex digits; ids of zeros are invalid. */
const traceparentPattern = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/**
 * Returns a function that gives a request its id, for `genReqId`. It continues the trace of a
 * trusted sender and starts one for anyone else, whose value could carry anything into logs. The
 * request's headers then have that `traceparent`, without `tracestate`.
 */
export function createTraceAdopter(
  isTrusted: (request: IncomingMessage) => boolean,
): (request: IncomingMessage) => string {
  return (request) => {
    const received = isTrusted(request) ? parseTraceparent(request.headers["traceparent"]) : null;
    const traceparent = received ?? createTraceparent();
    request.headers["traceparent"] = traceparent;
    delete request.headers["tracestate"];
    return getTraceId(traceparent);
  };
}

/** @returns it as of version 00, or null when it is invalid */
function parseTraceparent(text: unknown): string | null {
  const [, version, fields, rest] = typeof text === "string" ? (traceparentPattern.exec(text) ?? []) : [];
  return fields === undefined || (version === "00" && rest !== undefined) ? null : `00-${fields}`;
}

/** Not sampled: nothing is recorded about its start. */
function createTraceparent(): string {
  return `00-${createDigits()}-${createDigits().slice(0, 16)}-00`;
}

/** Node makes UUIDs in advance: `randomBytes` takes four times as long for so few bytes. */
function createDigits(): string {
  return randomUUID().replaceAll("-", "");
}

function getTraceId(traceparent: string): string {
  return traceparent.slice(3, 35);
}
