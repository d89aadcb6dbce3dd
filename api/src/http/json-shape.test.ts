import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { Readable } from "node:stream";

import Fastify, { type FastifyInstance } from "fastify";

import { handleErrors } from "./on-error.ts";
import { drainUnreadBodies } from "./unread-bodies.ts";
import { maxJsonDepth, maxJsonValues, limitJsonShape } from "./json-shape.ts";

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
  const response = await app.inject({
    method: "POST",
    url: "/",
    headers: { "content-type": "application/json" },
    payload,
  });
  return { status: response.statusCode, body: response.json<unknown>() };
};
const expectedRefusal = (reason: string) => ({
  status: 422,
  body: { code: "validation_error", errors: [{ path: "", reason }] },
});
const buildNestedArrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON body", () => {
  it("is parsed unchanged, with any content in its strings", async () => {
    const document = {
      text: `brackets ${buildNestedArrays(40)} {"a":[ and "quotes", \\ \\" \\\\`,
      '"[{\\': ['["]', "\\", "", 1, null, { a: [] }],
      long: '\\"'.repeat(1_000),
    };
    expect(await send(JSON.stringify(document))).toEqual({ status: 200, body: { got: document } });
    expect(await send(JSON.stringify(document, null, 2))).toEqual({ status: 200, body: { got: document } });
  });

  it("is parsed equally in chunks of any size", async () => {
    const document = {
      text: `é ${buildNestedArrays(40)} "quotes", \\ \\" \\\\`,
      '"[{\\': ['["]', "\\", "", "😀", null, { a: [] }],
      long: '\\"'.repeat(50),
    };
    const bytes = Buffer.from(JSON.stringify(document));
    for (const chunkSize of [1, 2, 3, 7, 64]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, index) =>
        bytes.subarray(index * chunkSize, (index + 1) * chunkSize),
      );
      expect(await send(Readable.from(chunks, { objectMode: false }))).toEqual({
        status: 200,
        body: { got: document },
      });
    }
    expect(
      await send(Readable.from(Array.from(buildNestedArrays(maxJsonDepth + 1)), { objectMode: false })),
    ).toMatchObject(expectedRefusal("too_deep"));
  });

  it("is accepted up to the limits of depth and values", async () => {
    expect((await send(buildNestedArrays(maxJsonDepth))).status).toBe(200);
    expect((await send(JSON.stringify(Array.from({ length: maxJsonValues }, () => 1)))).status).toBe(200);
  });

  it("is refused when nested deeper than the limit", async () => {
    for (const depth of [maxJsonDepth + 1, 1_400_000])
      expect(await send(buildNestedArrays(depth))).toMatchObject(expectedRefusal("too_deep"));
    expect(await send('{"a":'.repeat(400_000))).toMatchObject(expectedRefusal("too_deep"));
  });

  it("is refused with more values than the limit", async () => {
    expect(await send(JSON.stringify(Array.from({ length: maxJsonValues + 1 }, () => 1)))).toMatchObject(
      expectedRefusal("too_many_values"),
    );
    expect(await send(`[${"[],".repeat(maxJsonValues)}1]`)).toMatchObject(expectedRefusal("too_many_values"));
  });

  it("is refused before the whole body has arrived, and the connection stays usable", async () => {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
    const receivedChunks: string[] = [];
    socket.on("data", (text: string) => receivedChunks.push(text));
    const waitFor = async (expected: string): Promise<void> => {
      while (!receivedChunks.join("").includes(expected)) await once(socket, "data");
      receivedChunks.length = 0;
    };
    const buildRequestHead = (length: number): string =>
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n\r\n`;
    socket.write(buildRequestHead(1_000_000) + "[".repeat(1_000));
    await waitFor("too_deep");
    socket.write("[".repeat(999_000) + buildRequestHead(2) + "[]");
    await waitFor('{"got":[]}');
    socket.destroy();
  });

  it("gets the usual error when the JSON is invalid", async () => {
    for (const text of ['"', '"\\', "[", "]]]]", "{]", "", '{"__proto__":1}'])
      expect((await send(text)).status).toBe(400);
  });
});
