import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { computeIntegrity } from "../release/integrity.ts";
import { createReleaseFileReader, type ReleaseFileReader } from "./release-files.ts";

const mebibyte = 1024 ** 2;

describe("createReleaseFileReader", () => {
  const requestedPaths: (string | undefined)[] = [];
  let handle: (path: string, response: ServerResponse) => void;
  const server = createServer(({ url = "" }, response) => {
    requestedPaths.push(url);
    handle(url, response);
  });
  let reader: ReleaseFileReader;
  beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
  beforeEach(() => {
    requestedPaths.length = 0;
    reader = createReleaseFileReader(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  });
  afterEach(() => reader.close());
  afterAll(() => {
    server.close();
  });

  it("shares one fetch between calls at the same moment, and its failure too", async () => {
    for (const signed of ["a", "b"]) {
      let firstResponse: ServerResponse | null = null;
      handle = (_path, response) => {
        if (firstResponse === null) firstResponse = response;
        else response.end("a");
      };
      const file = { path: "a.js", integrity: computeIntegrity(Buffer.from(signed)), coding: null };
      const reads = Array.from({ length: 20 }, () => reader.read(file).then(({ bytes }) => bytes.toString(), String));
      await once(server, "request");
      (firstResponse as ServerResponse | null)?.end("a");
      expect(new Set(await Promise.all(reads))).toEqual(new Set([signed === "a" ? "a" : "Error: INTEGRITY"]));
    }
    expect(requestedPaths).toEqual(["/a.js", "/a.js"]);
  });

  it("drops the file whose last use is longest ago when memory is full", async () => {
    const files = ["a", "b", "c"].map((name) => ({ name, bytes: Buffer.alloc(12 * mebibyte, name) }));
    handle = (path, response) => void response.end(files.find(({ name }) => path === `/${name}`)?.bytes);
    const read = async (wanted: string): Promise<void> => {
      const bytes = files.find(({ name }) => name === wanted)?.bytes ?? Buffer.alloc(0);
      const file = await reader.read({ path: wanted, integrity: computeIntegrity(bytes), coding: null });
      expect(file.bytes.equals(bytes)).toBe(true);
    };
    for (const name of ["a", "b", "a", "c", "a", "b"]) await read(name);
    expect(requestedPaths).toEqual(["/a", "/b", "/c", "/b"]);
  });
});
