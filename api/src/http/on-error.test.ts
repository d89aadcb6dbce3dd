import Fastify from "fastify";

import { handleErrors } from "./on-error.ts";

const respondTo = async (error: unknown) => {
  const lines: string[] = [];
  const app = Fastify({ logger: { level: "error", stream: { write: (line: string) => lines.push(line) } } });
  handleErrors(app);
  app.get("/", () => {
    throw error;
  });
  const response = await app.inject("/");
  await app.close();
  return { status: response.statusCode, body: response.json<{ code: string }>(), logLines: lines };
};

const failQuery = (code: string) =>
  new Error("Failed query", { cause: Object.assign(new Error("of the driver, with a value"), { code }) });

describe("handleErrors", () => {
  it.each([
    ["22021", "invalid bytes in a text"],
    ["22003", "a number out of range"],
    ["22008", "a time out of range"],
    ["22P02", "a text that is no number"],
    ["22P05", "a character without translation"],
  ])("answers 422 to a data exception, and logs it without the value: %s, %s", async (code) => {
    const { status, body, logLines } = await respondTo(failQuery(code));
    expect([status, body.code]).toEqual([422, "validation_error"]);
    expect(logLines.join("")).toContain(code);
    expect(logLines.join("")).not.toContain("with a value");
  });

  it.each([
    ["23505", 500],
    ["42P01", 500],
    ["2200", 500],
    ["08006", 503],
  ])("gives other database errors their own status: %s", async (code, status) => {
    expect((await respondTo(failQuery(code))).status).toBe(status);
  });
});
