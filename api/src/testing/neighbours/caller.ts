import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";

/** Milliseconds after which a call without a response hangs. */
export const callTimeoutMilliseconds = 10_000;

export interface CallInit {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export interface CallResult {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * A client of the portal with its own IP address (of 127.0.0.0/8, which only Linux serves
 * completely).
 */
export interface Caller {
  /**
   * @throws when there is no response within `callTimeoutMilliseconds`, or the connection breaks
   */
  call(path: string, init?: CallInit): Promise<CallResult>;
  /** Sends a JSON body. */
  callJson(method: "POST" | "PUT" | "PATCH", path: string, body: unknown): Promise<CallResult>;
  /** Opens a raw connection. */
  openSocket(): Socket;
  /** The authorization header of each call. */
  readonly authorization: string;
  close(): void;
}

export function createCaller(origin: string, address: string, token: string | null): Caller {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true, localAddress: address, maxSockets: 1_000 });
  const authorization = token === null ? "" : `Bearer ${token}`;
  const call: Caller["call"] = (path, { method = "GET", headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        agent,
        host: hostname,
        port,
        path: `/api${path}`,
        method,
        signal: AbortSignal.timeout(callTimeoutMilliseconds),
        headers: { ...(token === null ? {} : { authorization }), ...headers },
      });
      outgoing.once("error", reject);
      outgoing.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
        });
        response.once("error", reject);
      });
      outgoing.end(body);
    });
  return {
    authorization,
    call,
    callJson: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    openSocket: () => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: address });
      socket.on("error", () => undefined); // the server may close it
      return socket;
    },
    close: () => {
      agent.destroy();
    },
  };
}
