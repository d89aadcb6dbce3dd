import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { describeStatus } from "@relicario/shared/errors";
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from "fastify";

import { getClientNetwork, type ProxyTrustCheck } from "./address.ts";
import { Counter } from "./counter.ts";
import type { ConnectionLimits } from "./limits.ts";

/** Longer than the minute that load balancers usually keep a connection. */
const keepAliveMilliseconds = 72_000;

/** Listeners for the end of one response: of limits, of time limits and of streams. */
const maxResponseListeners = 30;

export interface ConnectionSettings {
  readonly limits: ConnectionLimits;
  readonly isTrusted: ProxyTrustCheck;
  /** Timeout of a whole request. */
  readonly requestMs: number;
  /** Responds to a request whose URL is malformed; no hook has run. */
  readonly sendError: (request: FastifyRequest, reply: FastifyReply, status: number) => unknown;
}

interface WaitingCall {
  readonly response: ServerResponse;
  readonly start: () => void;
}

/**
 * Limits connections before any route is found. Applies to each server of an app: `localhost` may
 * have two addresses.
 *
 * Calls of one connection run one after another: Node would start all of a chunk in one turn of the
 * event loop, and would not report the end of those whose connection closed before their turn.
 */
export class ConnectionLimiter {
  readonly #settings: ConnectionSettings;
  readonly #connections = new Counter();
  /** Connections beyond the limit of their IP address: their first request is answered 429. */
  readonly #refusedSockets = new WeakSet<Socket>();
  /** Waiting calls of connections with a call under way. */
  readonly #queues = new WeakMap<Socket, WaitingCall[]>();

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** Options for the constructor of the app. */
  readonly serverOptions: Pick<
    FastifyHttpOptions<Server>,
    "serverFactory" | "clientErrorHandler" | "frameworkErrors" | "forceCloseConnections"
  > = {
    serverFactory: (handler) => this.#createServer(handler),
    clientErrorHandler: () => undefined, // Fastify registers it for one server of the app only
    // their messages contain the URL
    frameworkErrors: (error, request, reply) => {
      void this.#settings.sendError(request, reply, error.statusCode ?? 400);
    },
    forceCloseConnections: "idle",
  };

  isRefused(socket: Socket): boolean {
    return this.#refusedSockets.has(socket);
  }

  #createServer(handler: RequestListener): Server {
    const { limits, requestMs } = this.#settings;
    const server = createServer(
      {
        headersTimeout: limits.headersMs,
        connectionsCheckingInterval: Math.ceil(limits.headersMs / 4),
        keepAliveTimeout: keepAliveMilliseconds,
        requireHostHeader: false, // answered below
      },
      (request, response) => {
        response.setMaxListeners(maxResponseListeners);
        this.#enqueue(request.socket, {
          response,
          start: () => {
            const hostCount = request.rawHeaders.filter(
              (name, index) => index % 2 === 0 && name.toLowerCase() === "host",
            ).length;
            // RFC 9112 3.2
            if (hostCount > 1 || (hostCount === 0 && request.httpVersion !== "1.0"))
              response
                .writeHead(400, { ...problemHeaders, "content-length": badRequest.length, connection: "close" })
                .end(badRequest);
            else handler(request, response);
          },
        });
      },
    );
    server.requestTimeout = requestMs;
    server.setTimeout(limits.idleMs);
    server.on("connection", (socket) => {
      this.#admit(socket);
    });
    server.on("clientError", refuseMalformedRequest);
    return server;
  }

  #admit(socket: Socket): void {
    const { limits, isTrusted } = this.#settings;
    const address = socket.remoteAddress ?? "";
    if (isTrusted(address, 0)) return;
    const client = getClientNetwork(address);
    const openConnections = this.#connections.get(client);
    // Far beyond the limit, closes the connection without a response.
    if (openConnections >= 2 * limits.connectionsOfAddress) return void socket.destroy();
    if (openConnections >= limits.connectionsOfAddress) this.#refusedSockets.add(socket);
    socket.once("close", this.#connections.acquire(client));
  }

  #enqueue(socket: Socket, call: WaitingCall): void {
    if (socket.destroyed) return; // the rest of a chunk
    const queue = this.#queues.get(socket);
    if (queue === undefined) {
      this.#queues.set(socket, []);
      this.#run(socket, call);
    } else if (queue.length < this.#settings.limits.waitingOfConnection) queue.push(call);
    else socket.destroy();
  }

  #run(socket: Socket, { response, start }: WaitingCall): void {
    response.once("close", () => {
      const next = socket.destroyed ? undefined : this.#queues.get(socket)?.shift();
      if (next === undefined) this.#queues.delete(socket);
      else this.#run(socket, next);
    });
    start();
  }
}

const problemHeaders = { "content-type": "application/problem+json", "cache-control": "no-store" };

function buildProblem(status: number): string {
  const { code, title } = describeStatus(status);
  return JSON.stringify({ type: "about:blank", title, status, code });
}

const badRequest = buildProblem(400);

const statusByErrorCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is not HTTP, before a request exists. */
function refuseMalformedRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = statusByErrorCode[error.code ?? ""] ?? 400;
  const body = buildProblem(status);
  const headers = { ...problemHeaders, "content-length": body.length, connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  socket.end([`HTTP/1.1 ${String(status)} ${describeStatus(status).title}`, ...lines, "", body].join("\r\n"));
}
