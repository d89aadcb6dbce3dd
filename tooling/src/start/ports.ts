import { randomInt } from "node:crypto";
import { lookup } from "node:dns/promises";
import { createServer } from "node:net";

import { getErrorCode } from "../error-code.ts";
import { UserFacingError } from "../user-facing-error.ts";

/**
 * The gateway's port and, right behind it, the identity provider's; then that of the second
 * vendor's gateway, where there is one, and that of a remote in development.
 */
export interface Ports {
  readonly gateway: number;
  readonly identity: number;
  readonly secondGateway: number;
  readonly development: number;
}

/**
 * Checks so many ports in a row before anything starts, two or three; 0 finds four free ones.
 * @throws UserFacingError when one is taken
 */
export async function choosePorts(requested: number, count: 2 | 3 = 2): Promise<Ports> {
  const consecutivePorts = (first: number, length: number): number[] =>
    Array.from({ length }, (_, offset) => first + offset);
  if (requested !== 0) {
    for (const port of consecutivePorts(requested, count)) {
      const conflict = await findConflict(port);
      if (conflict !== null)
        throw new UserFacingError(
          `Port ${String(port)} ${conflict}. Choose another with PORT, for example: PORT=${String(suggestPort(requested))} npm start`,
        );
    }
    return derivePorts(requested);
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    const gateway = randomInt(20_000, 32_000); // below the range from which the system takes ports of its own
    if ((await Promise.all(consecutivePorts(gateway, 4).map(findConflict))).every((conflict) => conflict === null))
      return derivePorts(gateway);
  }
  throw new UserFacingError("There are no 4 free ports next to each other on this machine.");
}

/** The ports of a portal by its first. */
export function derivePorts(gateway: number): Ports {
  return { gateway, identity: gateway + 1, secondGateway: gateway + 2, development: gateway + 3 };
}

/** Why this port of `localhost` cannot be taken; null when it can. */
async function findConflict(port: number): Promise<string | null> {
  for (const { address } of await lookup("localhost", { all: true })) {
    const code = await tryToListen(port, address);
    if (code === "EADDRINUSE") return "is in use by another program";
    if (code === "EACCES") return "is not open to you";
  }
  return null;
}

function tryToListen(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    // An address that this machine does not have (`::1`, often) is not taken either.
    probe.once("error", (error) => resolve(getErrorCode(error) ?? "unknown"));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

function suggestPort(port: number): number {
  return port < 60_000 ? port + 1000 : 3000;
}
