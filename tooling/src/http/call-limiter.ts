import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { getClientNetwork } from "./address.ts";
import type { ConnectionLimiter } from "./connection-limiter.ts";
import { Counter } from "./counter.ts";
import { KeyedSemaphore } from "./keyed-semaphore.ts";
import type { ConnectionLimits } from "./limits.ts";
import { sendStatus } from "./problem.ts";

export interface CallSettings {
  readonly limits: ConnectionLimits;
  readonly connections: ConnectionLimiter;
  /** Bytes of the body that the server keeps in memory. */
  readonly getBufferedBytes: (request: FastifyRequest) => number;
  readonly isTooLarge?: (request: FastifyRequest) => boolean;
  /** Problem documents by default; `Retry-After` is set. */
  readonly sendRefusal?: (request: FastifyRequest, reply: FastifyReply, status: number) => FastifyReply;
}

/** Keeps one IP address from taking the calls, memory or time that others need. */
export class CallLimiter {
  readonly #settings: CallSettings;
  readonly #calls = new Counter();
  readonly #bodyBytes = new Counter();
  readonly #leases = new WeakMap<object, RefCountedLease>();
  readonly #releases = new WeakMap<FastifyRequest, () => void>();

  constructor(settings: CallSettings) {
    this.#settings = settings;
  }

  /** Runs before anything else is done for a request. */
  limitRequests(app: FastifyInstance): void {
    const { limits, connections, getBufferedBytes, isTooLarge = () => false } = this.#settings;
    app.addHook("onRequest", async (request, reply) => {
      if (connections.isRefused(request.raw.socket))
        return this.#refuse(request, reply.header("connection", "close"), 429);
      if (isTooLarge(request)) return this.#refuse(request, reply, 413);
      const client = getClientNetwork(request.ip);
      const declaredBytes = getBufferedBytes(request);
      if (
        this.#calls.get(client) >= limits.callsOfAddress ||
        (declaredBytes > 0 && this.#bodyBytes.get(client) + declaredBytes > limits.bodyBytesOfAddress)
      )
        return this.#refuse(request, reply, 429);
      if (this.#calls.total >= limits.callsOfAll || this.#bodyBytes.total + declaredBytes > limits.bodyBytesOfAll)
        return this.#refuse(request, reply, 503);
      const lease = new RefCountedLease([this.#calls.acquire(client), this.#bodyBytes.acquire(client, declaredBytes)]);
      this.#leases.set(request, lease);
      reply.raw.once("close", () => {
        lease.release(); // answered, or the client left
      });
      if (declaredBytes > 0) this.#enforceBodyTimeout(request, reply);
    });
  }

  /**
   * Limits how many calls to these routes run at a time per IP address; others queue. See
   * `refusedTurnMs`.
   */
  queueCalls(scope: FastifyInstance): void {
    const { turnsOfAddress, refusedTurnMs } = this.#settings.limits;
    const semaphore = new KeyedSemaphore(turnsOfAddress);
    const endTurn = ({ raw: { statusCode } }: FastifyReply, release: () => void): void => {
      if (statusCode < 400) release();
      else setTimeout(release, refusedTurnMs).unref();
    };
    scope.addHook("preHandler", (request, reply, done) => {
      this.waitForTurn({ request, reply, semaphore, cost: 1, endTurn }, done);
    });
  }

  /**
   * Calls `start` when the semaphore has room for the IP address. Drops a waiting call when its
   * client leaves. The turn ends with the call, unless {@link takeTurn} takes it over.
   */
  waitForTurn(
    {
      request,
      reply,
      semaphore,
      cost,
      endTurn = (_reply, release) => release(),
    }: {
      readonly request: FastifyRequest;
      readonly reply: FastifyReply;
      readonly semaphore: KeyedSemaphore;
      readonly cost: number;
      readonly endTurn?: (reply: FastifyReply, release: () => void) => void;
    },
    start: () => void,
  ): void {
    const cancel = semaphore.acquire(getClientNetwork(request.ip), cost, (release) => {
      this.#releases.set(request, release);
      this.#leases.get(request)?.onRelease(() => {
        if (this.#releases.delete(request)) endTurn(reply, release);
      });
      start();
    });
    reply.raw.once("close", cancel);
  }

  /**
   * Lets the caller end the call's turn. @returns the function that ends it; null when the call has
   * no turn
   */
  takeTurn(request: FastifyRequest): (() => void) | null {
    const release = this.#releases.get(request) ?? null;
    this.#releases.delete(request);
    return release;
  }

  /**
   * Keeps a call counted until the upstream has finished, even when its client has left. Returns
   * the release.
   */
  retainForUpstream(request: object): () => void {
    return this.#leases.get(request)?.retain() ?? (() => undefined);
  }

  #enforceBodyTimeout(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const timer = setTimeout(() => {
      if (raw.complete) return;
      if (reply.sent) raw.destroy();
      else this.#refuse(request, reply.header("connection", "close"), 408);
    }, this.#settings.limits.bodyMs).unref();
    raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
    const { limits, sendRefusal = (_request, refusedReply) => sendStatus(refusedReply, status) } = this.#settings;
    if (status === 429 || status === 503) void reply.header("retry-after", String(limits.retryAfterSeconds));
    return sendRefusal(request, reply, status);
  }
}

/** Runs its callbacks after the last release. */
class RefCountedLease {
  #users = 1;
  readonly #callbacks: (() => void)[];

  constructor(callbacks: (() => void)[]) {
    this.#callbacks = callbacks;
  }

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
