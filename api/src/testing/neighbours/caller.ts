import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";

/** Longest wait for an answer, in milliseconds: a call that has none by then hangs. */
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
 * Somebody who calls the portal from an address of their own (of 127.0.0.0/8, which only Linux has
 * whole).
 */
export interface Caller {
  /** @throws when there is no answer within `callTimeoutMilliseconds`, or the connection breaks */
  call(path: string, init?: CallInit): Promise<CallResult>;
  /** A JSON body. */
  json(method: "POST" | "PUT" | "PATCH", path: string, body: unknown): Promise<CallResult>;
  /** A connection on which anything can be written, and anything left unread. */
  socket(): Socket;
  /** What each call of this person says of itself. */
  readonly authorization: string;
  end(): void;
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
    json: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    socket: () => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: address });
      socket.on("error", () => undefined); // whoever is attacked may hang up
      return socket;
    },
    end: () => {
      agent.destroy();
    },
  };
}
