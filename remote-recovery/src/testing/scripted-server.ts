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
  /** Closes the connection after the first bytes. */
  readonly cutConnection?: boolean;
}

export interface ScriptedServer {
  readonly origin: string;
  readonly requests: ScriptedRequest[];
  /** Responds to all further requests. */
  script: (request: ScriptedRequest) => ScriptedResponse;
  readonly stop: () => Promise<void>;
}

/** Starts a server on a free local port whose responses a test scripts. */
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
      const { status = 200, headers = {}, json, bytes, cutConnection = false } = scriptedServer.script(request);
      response.writeHead(status, { connection: "close", ...headers });
      if (!cutConnection) response.end(bytes ?? (json === undefined ? "" : JSON.stringify(json)));
      else response.write(bytes ?? " ", () => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const scriptedServer: ScriptedServer = {
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
  return scriptedServer;
}
