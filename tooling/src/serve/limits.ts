import { z } from "zod";

const mebibyte = 1024 ** 2;
const positiveLimit = (defaultValue: number) => z.int().positive().default(defaultValue);

/**
 * What one address, and all together, may hold of the gateway, and for how long; the times hold for
 * the static servers, too. An address is one of IPv4, or a /64 of IPv6. It may be an office: a
 * browser has at most six connections to an origin over HTTP/1.1, over all its tabs, and an upload
 * sends four parts at once.
 */
export const ServeLimits = z.strictObject({
  /**
   * Connections of one address: 170 browsers with six each. Those of a trusted proxy do not count.
   */
  connectionsOfAddress: positiveLimit(1_024),
  /**
   * Calls of one address under way: 64 people with four parts and four more calls each, or eight
   * pages that load 64 files at the same moment.
   */
  callsOfAddress: positiveLimit(512),
  /**
   * Calls of one address that a server behind works on at a time, each 256 KiB of body as one more;
   * the others wait their turn here. Streams do not count, nor does an answer once it has begun. An
   * office of a hundred makes some ten calls in the same moment.
   */
  turnsOfAddress: positiveLimit(8),
  /**
   * Calls under way altogether, and connections to each server behind: four times what one address
   * may hold.
   */
  callsOfAll: positiveLimit(2_048),
  /**
   * Announced bytes of bodies that are held until they are whole, of one address: 16 of the
   * largest.
   */
  bodyBytesOfAddress: positiveLimit(64 * mebibyte),
  bodyBytesOfAll: positiveLimit(512 * mebibyte),
  /**
   * Bytes that large bodies and answers of one address move in a second while others are there. A
   * processor of two cores, with database, gateway and two services on it, moves some 200 MB in a
   * second and does nothing else then.
   */
  bytesPerSecondOfAddress: positiveLimit(32 * mebibyte),
  /** For the headers of a request. */
  headersMs: positiveLimit(20_000),
  /**
   * For a body that is held until it is whole: as in the service, 350 KB take half a minute on a
   * slow phone.
   */
  bodyMs: positiveLimit(60_000),
  /** For a body that goes on as it arrives: as in the service, 64 MiB at 300 kbit/s. */
  streamedBodyMs: positiveLimit(30 * 60_000),
  /**
   * A connection with a request under way on which no byte comes or goes is closed after this time.
   * Longer than the wait for the service, and enough for a slow line to take a third of the
   * kernel's buffer: sooner, no progress shows.
   */
  idleMs: positiveLimit(75_000),
  /** `Retry-After` of a refusal. */
  retryAfterSeconds: positiveLimit(5),
});
export type ServeLimits = Readonly<z.infer<typeof ServeLimits>>;

export const defaultLimits: ServeLimits = ServeLimits.parse({});

/** The times of a server, as Fastify and Node call them. `bodyMs`: for whole requests. */
export const getServerTimeouts = ({ headersMs, idleMs }: ServeLimits, bodyMs: number) => ({
  connectionTimeout: idleMs,
  requestTimeout: bodyMs,
  http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.ceil(headersMs / 4) },
});

/** How long an answer of the service may take to begin, or pause. */
export const serviceTimeoutMs = 65_000;
