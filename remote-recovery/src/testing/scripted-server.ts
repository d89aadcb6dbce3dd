import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Buffer;
  /** The connection is cut after what was said. */
  readonly cut?: boolean;
}

export interface ScriptedServer {
  readonly origin: string;
  readonly calls: ScriptedCall[];
  /** What it answers from now on. */
  script: (call: ScriptedCall) => ScriptedAnswer;
  readonly stop: () => Promise<void>;
}

/** A server on a free port of this machine that answers as a test says. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const calls: ScriptedCall[] = [];
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const call = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(pieces),
      };
      calls.push(call);
      const { status = 200, headers = {}, json, bytes, cut = false } = scripted.script(call);
      response.writeHead(status, { connection: "close", ...headers });
      if (!cut) response.end(bytes ?? (json === undefined ? "" : JSON.stringify(json)));
      else response.write(bytes ?? " ", () => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const scripted: ScriptedServer = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    calls,
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
