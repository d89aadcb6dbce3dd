import { randomInt } from "node:crypto";
import { lookup } from "node:dns/promises";
import { createServer } from "node:net";

import { getErrorCode } from "../error-code.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** Consecutive ports, in this order. Those of parts that are not started stay unused. */
export interface Ports {
  readonly gateway: number;
  readonly identity: number;
  readonly secondGateway: number;
  readonly development: number;
  /** Port of the gateway too, for the origin of its vault. */
  readonly vault: number;
  readonly secondVault: number;
}

const vendorPorts = ["gateway", "vault"] as const;
const secondVendorPorts = ["secondGateway", "secondVault"] as const;

/**
 * Chooses consecutive ports from `requested` on; 0 finds free ones.
 *
 * @throws UserFacingError when a port that is needed is taken
 */
export async function choosePorts(
  requested: number,
  { hasIdentity = true, hasSecondVendor = false } = {},
): Promise<Ports> {
  if (requested !== 0) {
    const ports = derivePorts(requested);
    const usedPorts = [
      ...vendorPorts,
      ...(hasIdentity ? (["identity"] as const) : []),
      ...(hasSecondVendor ? secondVendorPorts : []),
    ];
    for (const name of usedPorts) {
      const conflict = await findConflict(ports[name]);
      if (conflict !== null)
        throw new UserFacingError(
          `Port ${String(ports[name])} ${conflict}. Choose another with PORT, for example: PORT=${String(suggestPort(requested))} npm start`,
        );
    }
    return ports;
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    const ports = derivePorts(randomInt(20_000, 32_000)); // below the system's ephemeral ports
    if ((await Promise.all(Object.values(ports).map(findConflict))).every((conflict) => conflict === null))
      return ports;
  }
  throw new UserFacingError("There are no 6 free ports next to each other on this machine.");
}

export function derivePorts(gateway: number): Ports {
  return {
    gateway,
    identity: gateway + 1,
    secondGateway: gateway + 2,
    development: gateway + 3,
    vault: gateway + 4,
    secondVault: gateway + 5,
  };
}

/** Null when the port of `localhost` is free. */
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
    // Other errors count as free, such as that of an address which this machine lacks (often
    // `::1`).
    probe.once("error", (error) => resolve(getErrorCode(error) ?? "unknown"));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

function suggestPort(port: number): number {
  return port < 60_000 ? port + 1000 : 3000;
}
