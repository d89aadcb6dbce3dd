/**
 * An attacker, in a process of its own so that its work is not counted as that of a neighbour:
 * begins when told, and ends with its parent.
 */
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

import { attacks, createAttacker } from "./attacks.ts";
import { createCaller } from "./caller.ts";

export interface AttackOrder {
  readonly origin: string;
  readonly address: string;
  readonly attackIndex: number;
  readonly subject: string;
  readonly token: string;
  readonly accessToken: string;
}

/**
 * What it tells its parent. `answers` counts status codes; 0 stands for a connection that broke or
 * hung, `held` for those that wait.
 */
export type AttackerMessage =
  | { readonly kind: "started" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "answers"; readonly answers: Readonly<Record<string, number>> };

const sendMessage = (message: AttackerMessage): void => void process.send?.(message);

process.once("message", (order: AttackOrder) => {
  setPriority(19); // elsewhere it would have a machine of its own
  attack(order).catch((error: unknown) => {
    sendMessage({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  });
});
process.once("disconnect", () => process.exit(0));

async function attack({
  origin,
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
    createAttacker({ caller: createCaller(origin, address, token), subject, token, accessToken, count: countStatus }),
  );
  sendMessage({ kind: "started" });
  process.on("message", () => {
    sendMessage({ kind: "answers", answers: answerCounts });
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
