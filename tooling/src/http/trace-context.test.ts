import type { IncomingMessage } from "node:http";

import { createTraceAdopter } from "./trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

const adopt = (headers: Record<string, string>, isTrusted = true) => {
  const request = { headers: { ...headers } } as unknown as IncomingMessage;
  return { id: createTraceAdopter(() => isTrusted)(request), headers: request.headers };
};

describe("a request's id", () => {
  it.each([`00-${traceId}-${parentId}-01`, `00-${traceId}-${parentId}-00`, `cc-${traceId}-${parentId}-01-more`])(
    "continues the trace of a trusted sender: %s",
    (traceparent) => {
      const { id, headers } = adopt({ traceparent });
      expect([id, headers["traceparent"]]).toEqual([traceId, `00-${traceparent.slice(3, 55)}`]);
    },
  );

  it.each([
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${"0".repeat(32)}-${parentId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01\n{"level":60}`,
    "planted",
    "",
  ])("is new when the sender's is invalid: %j", (traceparent) => {
    const { id, headers } = adopt({ traceparent });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(id).not.toBe(traceId);
    expect(headers["traceparent"]).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-00$`));
  });

  it("is new for each request of a sender that is not trusted", () => {
    const headers = { traceparent: `00-${traceId}-${parentId}-01` };
    const ids = [adopt(headers, false).id, adopt(headers, false).id, traceId];
    expect(new Set(ids).size).toBe(3);
  });

  it("drops the sender's tracestate, trusted or not", () => {
    for (const isTrusted of [true, false])
      expect(
        adopt({ traceparent: `00-${traceId}-${parentId}-01`, tracestate: "a=planted" }, isTrusted).headers,
      ).not.toHaveProperty("tracestate");
  });
});
