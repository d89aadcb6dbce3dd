import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface DriveRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface DriveResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface DriveServer {
  readonly origin: string;
  readonly requests: readonly DriveRequest[];
  readonly stop: () => Promise<void>;
}

/**
 * Starts a small server on a free local port, which allows calls from other origins, as the
 * providers do.
 */
export async function startDriveServer(
  respond: (request: DriveRequest, origin: string) => DriveResponse,
): Promise<DriveServer> {
  const requests: DriveRequest[] = [];
  let origin = "";
  const handleRequest = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array));
    const request = {
      method: incoming.method ?? "GET",
      url: new URL(incoming.url ?? "/", origin),
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    };
    const cors = {
      "access-control-allow-origin": incoming.headers.origin ?? "*",
      "access-control-allow-headers":
        "authorization, content-type, content-range, x-upload-content-type, x-upload-content-length",
      "access-control-allow-methods": "GET, PUT, POST",
      "access-control-expose-headers": "location",
    };
    if (request.method === "OPTIONS") {
      response.writeHead(204, cors).end();
      return;
    }
    requests.push(request);
    const { status = 200, headers = {}, body = "" } = respond(request, origin);
    response.writeHead(status, { ...cors, ...headers }).end(body);
  };
  const server = createServer((incoming, response) => {
    handleRequest(incoming, response).catch((error: unknown) => {
      response.writeHead(500).end(error instanceof Error ? error.message : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  return {
    origin,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

export function createJsonResponse(body: unknown, status = 200): DriveResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** A provider's page with one link for each label. */
export function createHtmlPage(
  title: string,
  linksByLabel: Readonly<Record<string, string>>,
  script = "",
): DriveResponse {
  const linkMarkup = Object.entries(linksByLabel).map(
    ([name, address]) => `<p><a href="${address.replaceAll("&", "&amp;")}">${name}</a></p>`,
  );
  return {
    headers: { "content-type": "text/html; charset=utf-8" },
    body: `<!doctype html><title>${title}</title><h1>${title}</h1>${linkMarkup.join("")}${script}`,
  };
}
