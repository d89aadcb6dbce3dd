import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** How the server answers calls of one method, instead of doing what they ask. */
type S3Fault = { readonly status: number; readonly code: string } | "cut_response" | "no_answer";

export interface TestS3Server {
  /** Address of an empty prefix in its bucket, for `OBJECTS_URL`. */
  createAddress(): string;
  /** Stored bytes by path, `/bucket/prefix/key`. */
  readonly objects: Map<string, Buffer>;
  /** Faults by method. */
  readonly faults: Map<string, S3Fault>;
  stop(): Promise<void>;
}

const pageSize = 3;

/**
 * An S3 server in this process: one bucket, in memory, with the calls that s3-store.ts makes. As a
 * real one, it stores an object only when its whole body has the signed digest, and never twice
 * under `If-None-Match: *`. It does not verify signatures. Sets credentials of this process.
 */
export async function startS3Server(): Promise<TestS3Server> {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
  const objects = new Map<string, Buffer>();
  const faults = new Map<string, S3Fault>();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const sendError = (response: ServerResponse, status: number, code: string): void => {
    response
      .writeHead(status, { "content-type": "application/xml" })
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const fault = faults.get(method);
    const body = await buffer(request); // fails when it is cut
    if (fault === "no_answer") return;
    if (fault === "cut_response") {
      response.writeHead(200, { "content-length": "1000000" }).write("half of it");
      setImmediate(() => response.destroy());
      return;
    }
    if (fault !== undefined) {
      sendError(response, fault.status, fault.code);
      return;
    }
    const bytes = objects.get(pathname);
    if (method === "PUT") {
      const digest = createHash("sha256").update(body);
      if (headers["x-amz-content-sha256"] !== digest.copy().digest("hex"))
        sendError(response, 400, "XAmzContentSHA256Mismatch");
      else if (headers["x-amz-checksum-sha256"] !== digest.digest("base64")) sendError(response, 400, "BadDigest");
      else if (headers["if-none-match"] === "*" && bytes !== undefined) sendError(response, 412, "PreconditionFailed");
      else {
        objects.set(pathname, body);
        response.writeHead(200).end();
      }
    } else if (method === "DELETE") {
      objects.delete(pathname);
      response.writeHead(204).end();
    } else if (searchParams.get("list-type") === "2") {
      const start = `${pathname.replace(/\/$/, "")}/`;
      const after = searchParams.get("continuation-token") ?? "";
      const keys = [...objects.keys()]
        .filter((path) => path.startsWith(`${start}${searchParams.get("prefix") ?? ""}`))
        .map((path) => path.slice(start.length))
        .sort()
        .filter((key) => key > after);
      const page = keys.slice(0, pageSize);
      const isTruncated = keys.length > pageSize;
      response
        .writeHead(200, { "content-type": "application/xml" })
        .end(
          `<?xml version="1.0"?><ListBucketResult><IsTruncated>${String(isTruncated)}</IsTruncated>${
            isTruncated ? `<NextContinuationToken>${String(page.at(-1))}</NextContinuationToken>` : ""
          }${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("")}</ListBucketResult>`,
        );
    } else if (bytes === undefined) sendError(response, 404, "NoSuchKey");
    else response.writeHead(200, { "content-length": String(bytes.length) }).end(bytes);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let prefixes = 0;
  return {
    createAddress() {
      prefixes += 1;
      return `s3://sealed/prefix-${String(prefixes)}?endpoint=http://127.0.0.1:${String(port)}&region=us-east-1&style=path`;
    },
    objects,
    faults,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
