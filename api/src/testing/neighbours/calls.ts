import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";

/** Longest wait for an answer, in milliseconds: a call that has none by then hangs. */
export const hangsAfterMs = 10_000;

export interface Sent {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export interface Answered {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Somebody who calls the portal from an address of their own (of 127.0.0.0/8, which only Linux has
 * whole).
 */
export interface Caller {
  /** @throws when there is no answer within `hangsAfterMs`, or the connection breaks */
  call(path: string, sent?: Sent): Promise<Answered>;
  /** A JSON body. */
  json(method: "POST" | "PUT" | "PATCH", path: string, body: unknown): Promise<Answered>;
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
    new Promise((answered, failed) => {
      const sending = request({
        agent,
        host: hostname,
        port,
        path: `/api${path}`,
        method,
        signal: AbortSignal.timeout(hangsAfterMs),
        headers: { ...(token === null ? {} : { authorization }), ...headers },
      });
      sending.once("error", failed);
      sending.once("response", (response) => {
        const blocks: Buffer[] = [];
        response.on("data", (block: Buffer) => blocks.push(block));
        response.once("end", () => {
          answered({ status: response.statusCode ?? 0, body: Buffer.concat(blocks) });
        });
        response.once("error", failed);
      });
      sending.end(body);
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
