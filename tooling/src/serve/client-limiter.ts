import type { Socket } from "node:net";
import { Readable } from "node:stream";

import { downloadPath, sharedDownloadPath } from "@relicario/shared/api";
import { describeStatus } from "@relicario/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { getClientNetwork, type ProxyTrustCheck } from "./address.ts";
import { detachBody, getBufferedBytes, maxBufferedFormBytes, isStreamed, isTooLarge } from "./request-bodies.ts";
import type { ServeLimits } from "./limits.ts";
import { TokenBucket } from "./token-bucket.ts";
import { sendProblem } from "./problem.ts";
import { Counter } from "./counter.ts";
import { KeyedSemaphore } from "./keyed-semaphore.ts";

/** Reading, passing on and parsing so much takes as long as a small call. */
const bytesPerCostUnit = 256 * 1024;
/** What a stream costs before its first byte, as bytes of its address. */
const streamStartCostBytes = 1024 ** 2;
/** Of an answer that nobody reads, so much is taken by the buffers of connections. */
const maxBufferedResponseBytes = 8 * 1024 ** 2;
/** Downloads of one address that begin at a time. */
const maxStartingDownloads = 2;

/**
 * Sees to it that no address takes what the others need: connections, calls under way, memory for
 * bodies, and time.
 */
export class ClientLimiter {
  readonly #limits: ServeLimits;
  readonly #isTrusted: ProxyTrustCheck;
  readonly #connections = new Counter();
  readonly #calls = new Counter();
  readonly #bodyBytes = new Counter();
  readonly #tokenBucket: TokenBucket;
  /** Connections beyond what their address may have: their first request is told so. */
  readonly #rejectedSockets = new WeakSet<Socket>();
  readonly #leases = new WeakMap<object, RefCountedLease>();

  constructor(limits: ServeLimits, isTrusted: ProxyTrustCheck) {
    this.#limits = limits;
    this.#isTrusted = isTrusted;
    this.#tokenBucket = new TokenBucket(limits.bytesPerSecondOfAddress);
  }

  /** Counts and refuses, before anything else is done for a request. */
  limitRequests(app: FastifyInstance): void {
    // Of the two addresses that `localhost` may have, Fastify shows the server of one. Calls are
    // counted at both.
    app.server.on("connection", (socket) => {
      this.#admit(socket);
    });
    app.addHook("onRequest", async (request, reply) => {
      if (this.#rejectedSockets.has(request.raw.socket)) return this.#reject(reply.header("connection", "close"), 429);
      if (isTooLarge(request)) return this.#reject(reply, 413);
      const client = getClientNetwork(request.ip);
      this.#tokenBucket.recordCall(client);
      const declaredBytes = getBufferedBytes(request);
      const { callsOfAddress, bodyBytesOfAddress, callsOfAll, bodyBytesOfAll } = this.#limits;
      if (
        this.#calls.get(client) >= callsOfAddress ||
        (declaredBytes > 0 && this.#bodyBytes.get(client) + declaredBytes > bodyBytesOfAddress)
      )
        return this.#reject(reply, 429);
      if (this.#calls.total >= callsOfAll || this.#bodyBytes.total + declaredBytes > bodyBytesOfAll)
        return this.#reject(reply, 503);
      const lease = new RefCountedLease([this.#calls.acquire(client), this.#bodyBytes.acquire(client, declaredBytes)]);
      this.#leases.set(request, lease);
      reply.raw.once("close", () => {
        lease.release(); // answered, or the browser has left
      });
      if (declaredBytes > 0) this.#enforceBodyTimeout(request, reply);
    });
  }

  /**
   * Lets an address have so much done by this server behind at a time, until an answer begins;
   * files come though the service hangs. A stream takes as long as its sender, so it waits for its
   * pace alone. A call that is left while it waits is not made.
   */
  queueCalls(scope: FastifyInstance): void {
    const callSemaphore = new KeyedSemaphore(this.#limits.turnsOfAddress);
    const downloadSemaphore = new KeyedSemaphore(maxStartingDownloads);
    const releases = new WeakMap<FastifyRequest, () => void>();
    scope.addHook("preHandler", (request, reply, done) => {
      const client = getClientNetwork(request.ip);
      if (isStreamed(request)) {
        this.#tokenBucket.acquire(client, streamStartCostBytes, () => {
          if (!reply.raw.destroyed) done();
        });
        return;
      }
      const semaphore = isDownload(request) ? downloadSemaphore : callSemaphore;
      const cancel = semaphore.acquire(
        client,
        semaphore === downloadSemaphore ? 1 : this.#costOf(request),
        (release) => {
          releases.set(request, release);
          this.#leases.get(request)?.onRelease(() => {
            if (releases.delete(request)) release();
          });
          done();
        },
      );
      reply.raw.once("close", cancel);
    });
    scope.addHook("onSend", async (request, reply, payload) => {
      const release = releases.get(request);
      releases.delete(request);
      const length = Number(reply.getHeader("content-length") ?? 0);
      const client = getClientNetwork(request.ip);
      const isLarge = payload instanceof Readable && !(length > 0 && length <= maxBufferedFormBytes);
      // Buffers between here and the service take so much, whoever reads it.
      const prepaidBytes = isLarge ? Math.min(length, maxBufferedResponseBytes) : 0;
      this.#tokenBucket.acquire(client, prepaidBytes, () => release?.());
      return isLarge && !reply.raw.destroyed ? this.#tokenBucket.throttle(client, payload, prepaidBytes) : payload;
    });
  }

  /** Lets large bodies come at the pace of their address. */
  throttleBodies(scope: FastifyInstance): void {
    scope.addHook("preParsing", (request, _reply, payload, done) => {
      const isLarge = isStreamed(request) || getBufferedBytes(request) > maxBufferedFormBytes;
      done(
        null,
        isLarge
          ? detachBody(request.raw, () => this.#tokenBucket.createTransform(getClientNetwork(request.ip)))
          : payload,
      );
    });
  }

  /**
   * A call holds its place until what it asked of a server behind is done there, too, though its
   * browser may have left. Gives the end of that.
   */
  retainForUpstream(request: object): () => void {
    return this.#leases.get(request)?.retain() ?? (() => undefined);
  }

  /** Of the turns that there are, never more than half, so that the address has others left. */
  #costOf({ body }: FastifyRequest): number {
    const bytes = Buffer.isBuffer(body) ? body.length : 0;
    return Math.min(1 + Math.floor(bytes / bytesPerCostUnit), Math.ceil(this.#limits.turnsOfAddress / 2));
  }

  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    if (this.#isTrusted(address, 0)) return;
    const client = getClientNetwork(address);
    const openConnections = this.#connections.get(client);
    // So many that nobody waits for words any more.
    if (openConnections >= 2 * this.#limits.connectionsOfAddress) return void socket.destroy();
    if (openConnections >= this.#limits.connectionsOfAddress) this.#rejectedSockets.add(socket);
    socket.once("close", this.#connections.acquire(client));
  }

  #enforceBodyTimeout(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const timer = setTimeout(() => {
      if (raw.complete) return;
      if (reply.sent) raw.destroy();
      else this.#reject(reply.header("connection", "close"), 408);
    }, this.#limits.bodyMs).unref();
    raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  }

  #reject(reply: FastifyReply, status: number): FastifyReply {
    const { code, title } = describeStatus(status);
    if (status === 429 || status === 503) void reply.header("retry-after", String(this.#limits.retryAfterSeconds));
    return sendProblem(reply, status, code, title);
  }
}

/** However it is written, as the service reads it. */
function isDownload({ url }: FastifyRequest): boolean {
  try {
    const decodedUrl = decodeURIComponent(url);
    return [downloadPath, sharedDownloadPath].some((path) => decodedUrl.startsWith(`/api${path}`));
  } catch {
    return false; // the service answers 400
  }
}

/** Something that is held until the last of those who need it is done. */
class RefCountedLease {
  #users = 1;
  readonly #callbacks: (() => void)[];

  constructor(callbacks: (() => void)[]) {
    this.#callbacks = callbacks;
  }

  /** At once when it is done already. */
  onRelease(callback: () => void): void {
    if (this.#users === 0) callback();
    else this.#callbacks.push(callback);
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) for (const callback of this.#callbacks) callback();
  }

  retain(): () => void {
    this.#users += 1;
    return () => this.release();
  }
}
