import { randomInt } from "node:crypto";
import { lookup } from "node:dns/promises";
import { createServer } from "node:net";

import { codeOf } from "../error-code.ts";
import { Complaint } from "./complaint.ts";

/** The gateway's port and, right behind it, the identity provider's. */
export interface Ports {
  readonly gateway: number;
  readonly identity: number;
}

/** Checks both ports before anything starts; 0 finds a free pair. @throws Complaint when one is taken */
export async function choosePorts(wanted: number): Promise<Ports> {
  if (wanted !== 0) {
    for (const port of [wanted, wanted + 1]) {
      const objection = await objectionTo(port);
      if (objection !== null) throw new Complaint(`Port ${String(port)} ${objection}. Choose another with PORT, for example: PORT=${String(elsewhere(wanted))} npm start`);
    }
    return { gateway: wanted, identity: wanted + 1 };
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    const gateway = randomInt(20_000, 32_000); // below the range from which the system takes ports of its own
    if ((await objectionTo(gateway)) === null && (await objectionTo(gateway + 1)) === null) return { gateway, identity: gateway + 1 };
  }
  throw new Complaint("There are no two free ports next to each other on this machine.");
}

/** Why this port of `localhost` cannot be taken; null when it can. */
async function objectionTo(port: number): Promise<string | null> {
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
    probe.once("error", (error) => resolve(codeOf(error) ?? "unknown"));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

function elsewhere(port: number): number {
  return port < 60_000 ? port + 1000 : 3000;
}
