import type { Socket } from "node:net";
import { Readable } from "node:stream";

import { downloadPath, sharedDownloadPath } from "@relicario/shared/api";
import { errorOfStatus } from "@relicario/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { neighbourhood, type IsTrusted } from "./address.ts";
import { apart, heldBytes, heldFormBytes, isStreamed, isTooLarge } from "./bodies.ts";
import type { ServeLimits } from "./limits.ts";
import { Pace } from "./pace.ts";
import { sendProblem } from "./problem.ts";
import { Tally } from "./tally.ts";
import { Turns } from "./turns.ts";

/** Reading, passing on and parsing so much takes as long as a small call. */
const bytesOfTurn = 256 * 1024;
/** What a stream costs before its first byte, as bytes of its address. */
const bytesOfStart = 1024 ** 2;
/** Of an answer that nobody reads, so much is taken by the buffers of connections. */
const bytesAhead = 8 * 1024 ** 2;
/** Downloads of one address that begin at a time. */
const downloadsOfTurn = 2;

/**
 * Sees to it that no address takes what the others need: connections, calls under way, memory for
 * bodies, and time.
 */
export class FairShares {
  readonly #limits: ServeLimits;
  readonly #isTrusted: IsTrusted;
  readonly #connections = new Tally();
  readonly #calls = new Tally();
  readonly #bodyBytes = new Tally();
  readonly #pace: Pace;
  /** Connections beyond what their address may have: their first request is told so. */
  readonly #tooMany = new WeakSet<Socket>();
  readonly #held = new WeakMap<object, Holding>();

  constructor(limits: ServeLimits, isTrusted: IsTrusted) {
    this.#limits = limits;
    this.#isTrusted = isTrusted;
    this.#pace = new Pace(limits.bytesPerSecondOfAddress);
  }

  /** Counts and refuses, before anything else is done for a request. */
  guard(app: FastifyInstance): void {
    // Of the two addresses that `localhost` may have, Fastify shows the server of one. Calls are
    // counted at both.
    app.server.on("connection", (socket) => {
      this.#admit(socket);
    });
    app.addHook("onRequest", async (request, reply) => {
      if (this.#tooMany.has(request.raw.socket)) return this.#refuse(reply.header("connection", "close"), 429);
      if (isTooLarge(request)) return this.#refuse(reply, 413);
      const who = neighbourhood(request.ip);
      this.#pace.note(who);
      const bytes = heldBytes(request);
      const { callsOfAddress, bodyBytesOfAddress, callsOfAll, bodyBytesOfAll } = this.#limits;
      if (this.#calls.of(who) >= callsOfAddress || (bytes > 0 && this.#bodyBytes.of(who) + bytes > bodyBytesOfAddress))
        return this.#refuse(reply, 429);
      if (this.#calls.total >= callsOfAll || this.#bodyBytes.total + bytes > bodyBytesOfAll)
        return this.#refuse(reply, 503);
      const holding = new Holding([this.#calls.take(who), this.#bodyBytes.take(who, bytes)]);
      this.#held.set(request, holding);
      reply.raw.once("close", () => {
        holding.release(); // answered, or the browser has left
      });
      if (bytes > 0) this.#limitTime(request, reply);
    });
  }

  /**
   * Lets an address have so much done by this server behind at a time, until an answer begins;
   * files come though the service hangs. A stream takes as long as its sender, so it waits for its
   * pace alone. A call that is left while it waits is not made.
   */
  takeTurns(scope: FastifyInstance): void {
    const turns = new Turns(this.#limits.turnsOfAddress);
    const downloads = new Turns(downloadsOfTurn);
    const ends = new WeakMap<FastifyRequest, () => void>();
    scope.addHook("preHandler", (request, reply, done) => {
      const who = neighbourhood(request.ip);
      if (isStreamed(request)) {
        this.#pace.take(who, bytesOfStart, () => {
          if (!reply.raw.destroyed) done();
        });
        return;
      }
      const lane = isDownload(request) ? downloads : turns;
      const leave = lane.enter(who, lane === downloads ? 1 : this.#costOf(request), (end) => {
        ends.set(request, end);
        this.#held.get(request)?.whenDone(() => {
          if (ends.delete(request)) end();
        });
        done();
      });
      reply.raw.once("close", leave);
    });
    scope.addHook("onSend", async (request, reply, payload) => {
      const end = ends.get(request);
      ends.delete(request);
      const length = Number(reply.getHeader("content-length") ?? 0);
      const who = neighbourhood(request.ip);
      const isLarge = payload instanceof Readable && !(length > 0 && length <= heldFormBytes);
      // Buffers between here and the service take so much, whoever reads it.
      const paid = isLarge ? Math.min(length, bytesAhead) : 0;
      this.#pace.take(who, paid, () => end?.());
      return isLarge && !reply.raw.destroyed ? this.#pace.of(who, payload, paid) : payload;
    });
  }

  /** Lets large bodies come at the pace of their address. */
  keepPace(scope: FastifyInstance): void {
    scope.addHook("preParsing", (request, _reply, payload, done) => {
      const isLarge = isStreamed(request) || heldBytes(request) > heldFormBytes;
      done(null, isLarge ? apart(request.raw, () => this.#pace.step(neighbourhood(request.ip))) : payload);
    });
  }

  /**
   * A call holds its place until what it asked of a server behind is done there, too, though its
   * browser may have left. Gives the end of that.
   */
  alsoBehind(request: object): () => void {
    return this.#held.get(request)?.alsoUntil() ?? (() => undefined);
  }

  /** Of the turns that there are, never more than half, so that the address has others left. */
  #costOf({ body }: FastifyRequest): number {
    const bytes = Buffer.isBuffer(body) ? body.length : 0;
    return Math.min(1 + Math.floor(bytes / bytesOfTurn), Math.ceil(this.#limits.turnsOfAddress / 2));
  }

  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    if (this.#isTrusted(address, 0)) return;
    const who = neighbourhood(address);
    const before = this.#connections.of(who);
    // So many that nobody waits for words any more.
    if (before >= 2 * this.#limits.connectionsOfAddress) return void socket.destroy();
    if (before >= this.#limits.connectionsOfAddress) this.#tooMany.add(socket);
    socket.once("close", this.#connections.take(who));
  }

  #limitTime(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const timer = setTimeout(() => {
      if (raw.complete) return;
      if (reply.sent) raw.destroy();
      else this.#refuse(reply.header("connection", "close"), 408);
    }, this.#limits.bodyMs).unref();
    raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  }

  #refuse(reply: FastifyReply, status: number): FastifyReply {
    const { code, title } = errorOfStatus(status);
    if (status === 429 || status === 503) void reply.header("retry-after", String(this.#limits.retryAfterSeconds));
    return sendProblem(reply, status, code, title);
  }
}

/** However it is written, as the service reads it. */
function isDownload({ url }: FastifyRequest): boolean {
  try {
    const asked = decodeURIComponent(url);
    return [downloadPath, sharedDownloadPath].some((path) => asked.startsWith(`/api${path}`));
  } catch {
    return false; // the service answers 400
  }
}

/** Something that is held until the last of those who need it is done. */
class Holding {
  #users = 1;
  readonly #ends: (() => void)[];

  constructor(ends: (() => void)[]) {
    this.#ends = ends;
  }

  /** At once when it is done already. */
  whenDone(end: () => void): void {
    if (this.#users === 0) end();
    else this.#ends.push(end);
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) for (const end of this.#ends) end();
  }

  alsoUntil(): () => void {
    this.#users += 1;
    return () => this.release();
  }
}
