import { z } from "zod";

const mebibyte = 1024 ** 2;
export const positiveLimit = (defaultValue: number) => z.int().positive().default(defaultValue);

/**
 * Limits of a server, per IP address and in total. An IP address is one of IPv4, or a /64 of IPv6,
 * and may be an office: a browser has at most six connections to an origin over HTTP/1.1, and an
 * upload sends four parts at once.
 */
export const ConnectionLimits = z.strictObject({
  /**
   * Connections per IP address: 170 browsers with six each. Those of a trusted proxy do not count.
   */
  connectionsOfAddress: positiveLimit(1_024),
  /**
   * Pipelined requests (RFC 9112 9.3.2) that may wait on one connection. Browsers do not pipeline.
   */
  waitingOfConnection: positiveLimit(4),
  /**
   * Calls under way per IP address: 64 people with four parts and four more calls each, or eight
   * pages that load 64 files at the same moment.
   */
  callsOfAddress: positiveLimit(512),
  /**
   * Calls that run at a time per IP address; others queue. An office of a hundred makes some ten
   * calls at the same moment.
   */
  turnsOfAddress: positiveLimit(8),
  /** Calls under way in total: four times the limit of one IP address. */
  callsOfAll: positiveLimit(2_048),
  /** Declared bytes of buffered bodies per IP address: 16 of the largest. */
  bodyBytesOfAddress: positiveLimit(64 * mebibyte),
  bodyBytesOfAll: positiveLimit(512 * mebibyte),
  headersMs: positiveLimit(20_000),
  /** 350 KB take half a minute on a slow phone. */
  bodyMs: positiveLimit(60_000),
  /**
   * Closes a connection with a request under way after this time without a byte. Longer than the
   * wait for the service. Enough for a slow line to take a third of the kernel's buffer: before
   * that, the server sees no progress.
   */
  idleMs: positiveLimit(75_000),
  retryAfterSeconds: positiveLimit(5),
  /**
   * A refused call keeps its turn so long, where calls queue in this process: an address that sends
   * nonsense waits for itself, and not everyone for it.
   */
  refusedTurnMs: positiveLimit(50),
});
export type ConnectionLimits = Readonly<z.infer<typeof ConnectionLimits>>;
