import { Readable } from "node:stream";

import { downloadPath, sharedDownloadPath } from "@relicario/shared/api";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { getClientNetwork } from "../http/address.ts";
import { CallLimiter } from "../http/call-limiter.ts";
import type { ConnectionLimiter } from "../http/connection-limiter.ts";
import { KeyedSemaphore } from "../http/keyed-semaphore.ts";
import { detachBody, getBufferedBytes, maxBufferedFormBytes, isStreamed, isTooLarge } from "./request-bodies.ts";
import type { ServeLimits } from "./limits.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Body bytes that cost as much time as a small call. */
const bytesPerCostUnit = 256 * 1024;
/** Bytes that a stream costs its IP address before its first byte. */
const streamStartCostBytes = 1024 ** 2;
/** Bytes of a response that buffers take even when the client reads nothing. */
const maxBufferedResponseBytes = 8 * 1024 ** 2;
/** Downloads per IP address that may start at a time. */
const maxStartingDownloads = 2;

/**
 * Keeps one IP address from taking the calls, memory or time that others need, also at upstreams.
 */
export class ClientLimiter {
  readonly #limits: ServeLimits;
  readonly #calls: CallLimiter;
  readonly #tokenBucket: TokenBucket;

  constructor(limits: ServeLimits, connections: ConnectionLimiter) {
    this.#limits = limits;
    this.#calls = new CallLimiter({ limits, connections, getBufferedBytes, isTooLarge });
    this.#tokenBucket = new TokenBucket(limits.bytesPerSecondOfAddress);
  }

  /** Runs before anything else is done for a request. */
  limitRequests(app: FastifyInstance): void {
    app.addHook("onRequest", (request, _reply, done) => {
      this.#tokenBucket.recordCall(getClientNetwork(request.ip));
      done();
    });
    this.#calls.limitRequests(app);
  }

  /**
   * Limits the work of an upstream per IP address until a response starts; each 256 KiB of body
   * costs as much as one call. Each upstream has its own queue, so that files are served while the
   * service hangs. A stream takes as long as its sender, so only its byte rate is limited.
   */
  queueCalls(scope: FastifyInstance): void {
    const callSemaphore = new KeyedSemaphore(this.#limits.turnsOfAddress);
    const downloadSemaphore = new KeyedSemaphore(maxStartingDownloads);
    scope.addHook("preHandler", (request, reply, done) => {
      if (isStreamed(request)) {
        this.#tokenBucket.acquire(getClientNetwork(request.ip), streamStartCostBytes, () => {
          if (!reply.raw.destroyed) done();
        });
        return;
      }
      const turn = isDownload(request)
        ? { semaphore: downloadSemaphore, cost: 1 }
        : { semaphore: callSemaphore, cost: this.#costOf(request) };
      this.#calls.waitForTurn({ request, reply, ...turn }, done);
    });
    scope.addHook("onSend", async (request, reply, payload) => {
      const release = this.#calls.takeTurn(request);
      const length = Number(reply.getHeader("content-length") ?? 0);
      const client = getClientNetwork(request.ip);
      const isLarge = payload instanceof Readable && !(length > 0 && length <= maxBufferedFormBytes);
      const prepaidBytes = isLarge ? Math.min(length, maxBufferedResponseBytes) : 0;
      this.#tokenBucket.acquire(client, prepaidBytes, () => release?.());
      return isLarge && !reply.raw.destroyed ? this.#tokenBucket.throttle(client, payload, prepaidBytes) : payload;
    });
  }

  /** Limits large bodies to the byte rate of their IP address. */
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

  /** See {@link CallLimiter.retainForUpstream}. */
  retainForUpstream(request: object): () => void {
    return this.#calls.retainForUpstream(request);
  }

  /** Cost of a call: at most half of the limit, so that the IP address can make other calls. */
  #costOf({ body }: FastifyRequest): number {
    const bytes = Buffer.isBuffer(body) ? body.length : 0;
    return Math.min(1 + Math.floor(bytes / bytesPerCostUnit), Math.ceil(this.#limits.turnsOfAddress / 2));
  }
}

/** Decodes the URL as the service does, so that every spelling counts. */
function isDownload({ url }: FastifyRequest): boolean {
  try {
    const decodedUrl = decodeURIComponent(url);
    return [downloadPath, sharedDownloadPath].some((path) => decodedUrl.startsWith(`/api${path}`));
  } catch {
    return false; // the service answers 400
  }
}
