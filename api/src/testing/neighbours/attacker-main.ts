/**
 * An attacker in its own process, so that its work does not count as a neighbour's: starts on a
 * message, and ends with its parent.
 */
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "pg";

import { attacks, createAttacker, type RequestLink } from "./attacks.ts";
import { createCaller } from "./caller.ts";

export interface AttackOrder {
  readonly origin: string;
  readonly serviceOrigin: string;
  readonly providerIssuer: string;
  readonly databaseUrl: string;
  readonly link: RequestLink;
  readonly address: string;
  readonly attackIndex: number;
  readonly subject: string;
  readonly token: string;
  readonly accessToken: string;
}

/**
 * Messages to the parent. `answerCounts` is by status code; 0 is a broken or hanging connection,
 * `held` a waiting one.
 */
export type AttackerMessage =
  | { readonly kind: "started" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "answers"; readonly answerCounts: Readonly<Record<string, number>> };

const sendMessage = (message: AttackerMessage): void => void process.send?.(message);

process.once("message", (order: AttackOrder) => {
  setPriority(19); // a real attacker has its own machine
  attack(order).catch((error: unknown) => {
    sendMessage({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  });
});
process.once("disconnect", () => process.exit(0));

async function attack({
  origin,
  serviceOrigin,
  providerIssuer,
  databaseUrl,
  link,
  address,
  attackIndex: index,
  subject,
  token,
  accessToken,
}: AttackOrder): Promise<void> {
  const chosenAttack = attacks[index];
  if (chosenAttack === undefined) throw new Error(`there is no attack ${String(index)}`);
  const answerCounts: Record<string, number> = {};
  const countStatus = (status: string, step: 1 | -1 = 1): void => {
    answerCounts[status] = (answerCounts[status] ?? 0) + step;
  };
  const attackOnce = await chosenAttack.prepare(
    createAttacker({
      caller: createCaller(origin, address, token),
      service: createCaller(serviceOrigin, address, token),
      provider: createCaller(providerIssuer.replace("localhost", "127.0.0.1"), address, null),
      providerIssuer,
      address,
      link,
      query: async (text) => {
        const client = new Client({ connectionString: databaseUrl });
        await client.connect();
        await client.query(text);
        await client.end();
      },
      subject,
      token,
      accessToken,
      countStatus,
    }),
  );
  sendMessage({ kind: "started" });
  process.on("message", () => {
    sendMessage({ kind: "answers", answerCounts });
  });
  const runLane = async (): Promise<never> => {
    for (;;) {
      const response = await attackOnce().catch(() => null);
      const status =
        typeof response === "object" && response !== null && "status" in response ? String(response.status) : "0";
      countStatus(status);
      if (status === "0") await pause(100);
    }
  };
  await Promise.all(Array.from({ length: chosenAttack.concurrency }, runLane));
}
