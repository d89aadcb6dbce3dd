import Fastify, { type FastifyInstance } from "fastify";

import { answerErrors } from "./on-error.ts";
import { maxDepth, maxValues, parseShapedJson } from "./json-shape.ts";

let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify({ bodyLimit: 8 * 1024 ** 2 });
  answerErrors(app);
  parseShapedJson(app);
  app.post("/", { config: { access: "anybody" } }, (request) => ({ got: request.body }));
  await app.ready();
});
afterAll(() => app.close());

const send = async (payload: string): Promise<{ status: number; body: unknown }> => {
  const answer = await app.inject({ method: "POST", url: "/", headers: { "content-type": "application/json" }, payload });
  return { status: answer.statusCode, body: answer.json<unknown>() };
};
const refused = (reason: string) => ({ status: 422, body: { code: "validation_error", errors: [{ path: "", reason }] } });
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON body", () => {
  it("is what it says, whatever stands in its strings", async () => {
    const whole = { text: `brackets ${nested(40)} {"a":[ and "quotes", \\ \\" \\\\`, '"[{\\': ["[\"]", "\\", "", 1, null, { a: [] }], long: "\\\"".repeat(1_000) };
    expect(await send(JSON.stringify(whole))).toEqual({ status: 200, body: { got: whole } });
    expect(await send(JSON.stringify(whole, null, 2))).toEqual({ status: 200, body: { got: whole } });
  });

  it("of the greatest depth and the most values is taken", async () => {
    expect((await send(nested(maxDepth))).status).toBe(200);
    expect((await send(JSON.stringify(Array.from({ length: maxValues }, () => 1)))).status).toBe(200);
  });

  it("is refused when it is deeper, however deep", async () => {
    for (const depth of [maxDepth + 1, 1_400_000]) expect(await send(nested(depth))).toMatchObject(refused("too_deep"));
    expect(await send('{"a":'.repeat(400_000))).toMatchObject(refused("too_deep"));
  });

  it("is refused when it has more values", async () => {
    expect(await send(JSON.stringify(Array.from({ length: maxValues + 1 }, () => 1)))).toMatchObject(refused("too_many_values"));
    expect(await send(`[${"[],".repeat(maxValues)}1]`)).toMatchObject(refused("too_many_values"));
  });

  it("that is broken is broken as before", async () => {
    for (const text of ['"', '"\\', "[", "]]]]", "{]", "", '{"__proto__":1}']) expect((await send(text)).status).toBe(400);
  });
});
