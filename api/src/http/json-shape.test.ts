import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { Readable } from "node:stream";

import Fastify, { type FastifyInstance } from "fastify";

import { handleErrors } from "./on-error.ts";
import { drainUnreadBodies } from "./unread-bodies.ts";
import { maxDepth, maxValues, limitJsonShape } from "./json-shape.ts";

let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify({ bodyLimit: 8 * 1024 ** 2 });
  handleErrors(app);
  drainUnreadBodies(app);
  limitJsonShape(app);
  app.post("/", { config: { access: "public" } }, (request) => ({ got: request.body }));
  await app.ready();
});
afterAll(() => app.close());

const send = async (payload: string | Readable): Promise<{ status: number; body: unknown }> => {
  const answer = await app.inject({
    method: "POST",
    url: "/",
    headers: { "content-type": "application/json" },
    payload,
  });
  return { status: answer.statusCode, body: answer.json<unknown>() };
};
const refused = (reason: string) => ({
  status: 422,
  body: { code: "validation_error", errors: [{ path: "", reason }] },
});
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON body", () => {
  it("is what it says, whatever stands in its strings", async () => {
    const document = {
      text: `brackets ${nested(40)} {"a":[ and "quotes", \\ \\" \\\\`,
      '"[{\\': ['["]', "\\", "", 1, null, { a: [] }],
      long: '\\"'.repeat(1_000),
    };
    expect(await send(JSON.stringify(document))).toEqual({ status: 200, body: { got: document } });
    expect(await send(JSON.stringify(document, null, 2))).toEqual({ status: 200, body: { got: document } });
  });

  it("is the same in pieces of any size", async () => {
    const document = {
      text: `é ${nested(40)} "quotes", \\ \\" \\\\`,
      '"[{\\': ['["]', "\\", "", "😀", null, { a: [] }],
      long: '\\"'.repeat(50),
    };
    const bytes = Buffer.from(JSON.stringify(document));
    for (const size of [1, 2, 3, 7, 64]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await send(Readable.from(pieces, { objectMode: false }))).toEqual({
        status: 200,
        body: { got: document },
      });
    }
    expect(await send(Readable.from(Array.from(nested(maxDepth + 1)), { objectMode: false }))).toMatchObject(
      refused("too_deep"),
    );
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
    expect(await send(JSON.stringify(Array.from({ length: maxValues + 1 }, () => 1)))).toMatchObject(
      refused("too_many_values"),
    );
    expect(await send(`[${"[],".repeat(maxValues)}1]`)).toMatchObject(refused("too_many_values"));
  });

  it("is refused before the rest of it came, on a connection that goes on", async () => {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
    const received: string[] = [];
    socket.on("data", (text: string) => received.push(text));
    const waitFor = async (expected: string): Promise<void> => {
      while (!received.join("").includes(expected)) await once(socket, "data");
      received.length = 0;
    };
    const head = (length: number): string =>
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n\r\n`;
    socket.write(head(1_000_000) + "[".repeat(1_000));
    await waitFor("too_deep");
    socket.write("[".repeat(999_000) + head(2) + "[]");
    await waitFor('{"got":[]}');
    socket.destroy();
  });

  it("that is broken is broken as before", async () => {
    for (const text of ['"', '"\\', "[", "]]]]", "{]", "", '{"__proto__":1}'])
      expect((await send(text)).status).toBe(400);
  });
});
