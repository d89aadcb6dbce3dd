/**
 * An attacker, in a process of its own so that its work is not counted as that of a neighbour:
 * begins when told, and ends with its parent.
 */
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

import { attacks, createAttacker } from "./attacks.ts";
import { createCaller } from "./calls.ts";

export interface Order {
  readonly origin: string;
  readonly address: string;
  readonly attack: number;
  readonly subject: string;
  readonly token: string;
  readonly accessToken: string;
}

/**
 * What it tells its parent. `answers` counts status codes; 0 stands for a connection that broke or
 * hung, `held` for those that wait.
 */
export type Told =
  | { readonly said: "begun" }
  | { readonly said: "failed"; readonly why: string }
  | { readonly said: "answers"; readonly answers: Readonly<Record<string, number>> };

const tell = (told: Told): void => void process.send?.(told);

process.once("message", (order: Order) => {
  setPriority(19); // elsewhere it would have a machine of its own
  attack(order).catch((error: unknown) => {
    tell({ said: "failed", why: error instanceof Error ? error.message : String(error) });
  });
});
process.once("disconnect", () => process.exit(0));

async function attack({ origin, address, attack: index, subject, token, accessToken }: Order): Promise<void> {
  const chosen = attacks[index];
  if (chosen === undefined) throw new Error(`there is no attack ${String(index)}`);
  const answers: Record<string, number> = {};
  const count = (what: string, by: 1 | -1 = 1): void => {
    answers[what] = (answers[what] ?? 0) + by;
  };
  const once = await chosen.begin(
    createAttacker({ caller: createCaller(origin, address, token), subject, token, accessToken, count }),
  );
  tell({ said: "begun" });
  process.on("message", () => {
    tell({ said: "answers", answers });
  });
  const lane = async (): Promise<never> => {
    for (;;) {
      const answer = await once().catch(() => null);
      const status = typeof answer === "object" && answer !== null && "status" in answer ? String(answer.status) : "0";
      count(status);
      if (status === "0") await pause(100);
    }
  };
  await Promise.all(Array.from({ length: chosen.lanes }, lane));
}
