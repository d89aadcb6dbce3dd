import fastify from "fastify";

import { createLoggerOptions } from "./logging.ts";

describe("a log line about an error", () => {
  it("has name, code and stack of an error that a library logs, not its message", () => {
    const lines: string[] = [];
    const app = fastify(createLoggerOptions("info", { write: (line) => lines.push(line) }));
    const error = Object.assign(new TypeError("planted in a message"), { code: "E_PLAIN", path: "/planted/in/a/path" });
    app.log.warn(error, "response errored");
    app.log.warn({ err: error }, "response errored");
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      Array.from({ length: 2 }, () => "response errored"),
    );
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ thrown: { name: "TypeError", code: "E_PLAIN" } });
    expect(lines.join("")).not.toContain("planted");
  });
});
