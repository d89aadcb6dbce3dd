import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Buffer;
  /** The connection is cut after what was said. */
  readonly cutConnection?: boolean;
}

export interface ScriptedServer {
  readonly origin: string;
  readonly requests: ScriptedRequest[];
  /** What it answers from now on. */
  script: (request: ScriptedRequest) => ScriptedResponse;
  readonly stop: () => Promise<void>;
}

/** A server on a free port of this machine that answers as a test says. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const request = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks),
      };
      requests.push(request);
      const { status = 200, headers = {}, json, bytes, cutConnection = false } = scripted.script(request);
      response.writeHead(status, { connection: "close", ...headers });
      if (!cutConnection) response.end(bytes ?? (json === undefined ? "" : JSON.stringify(json)));
      else response.write(bytes ?? " ", () => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const scripted: ScriptedServer = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    script: () => ({ status: 500 }),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  return scripted;
}
