/**
 * Whether somebody is served while another account, from another address, does its worst: `npm run
 * test:neighbours [point]`. One gateway, two services, real sockets. Each attack runs for some
 * seconds, while somebody else reads their list. The last line is JSON; fails when a call hung or
 * was refused, when an attack did not do what it says, or where the 95th percentile was above ten
 * times the quiet median.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { createPerson } from "../person.ts";
import type { Order, Told } from "./attacker-main.ts";
import { attacks, storeSmall, type Attack } from "./attacks.ts";
import { createCaller, type Caller } from "./calls.ts";
import { startStand, type Stand } from "./stand.ts";

/** Of the 95th percentile to the median of the quiet. */
const mostOften = 10;
const secondsOfAttack = 8;
/** Between two calls of the neighbour, in milliseconds. */
const everyMs = 100;
const secrets = 100;
const neighbourAddress = "127.0.0.3";
/** Of its own for each attack: what the one before used up would spare the next one. */
const addressOfAttack = (index: number): string => `127.0.1.${String(index + 1)}`;

interface Reading {
  readonly calls: number;
  readonly median_ms: number;
  readonly p95_ms: number;
  readonly longest_ms: number;
  readonly hung: number;
  readonly refused: number;
}

interface Outcome extends Reading {
  readonly point: string;
  readonly attack: string;
  readonly ratio: number;
  /** What the attacker was answered, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Whether it was answered as an attack of its kind is. */
  readonly attacked: boolean;
  /** Of forty calls afterwards. */
  readonly hung_afterwards: number;
  /** Somebody who signs in meanwhile. */
  readonly signs_in: boolean;
  readonly ok: boolean;
}

const [wanted] = process.argv.slice(2);
const stand = await startStand();
try {
  const token = await stand.signIn("neighbour");
  const neighbour = createCaller(stand.origin, neighbourAddress, token);
  await storeSmall({ caller: neighbour, person: createPerson("neighbour", token) }, secrets);
  await readList(neighbour, 2); // warm
  const quiet = await readList(neighbour, secondsOfAttack);
  console.log(lineOf("quiet", quiet));
  const outcomes: Outcome[] = [];
  for (const [index, attack] of attacks.entries()) {
    if (wanted !== undefined && attack.point !== wanted) continue;
    const outcome = await suffer(stand, neighbour, attack, index, quiet);
    outcomes.push(outcome);
    console.log(
      `${lineOf(`${attack.point} ${attack.name}`, outcome)}  ×${outcome.ratio.toFixed(1)}${outcome.ok ? "" : "  FAILED"}  attacker: ${JSON.stringify(outcome.answers)}`,
    );
  }
  const ok = outcomes.every((outcome) => outcome.ok);
  console.log(JSON.stringify({ test: "neighbours", ok, quiet, outcomes, limits: { ratio: mostOften } }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await stand.stop();
}

async function suffer(
  stand: Stand,
  neighbour: Caller,
  { point, name, least }: Attack,
  index: number,
  quiet: Reading,
): Promise<Outcome> {
  const subject = `attacker-${String(index)}`;
  const process_ = fork(join(import.meta.dirname, "attacker-main.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  try {
    const order: Order = {
      origin: stand.origin,
      address: addressOfAttack(index),
      attack: index,
      subject,
      token: await stand.signIn(subject),
      accessToken: await stand.accessToken(subject),
    };
    process_.send(order);
    const begun = await told(process_);
    if (begun.said !== "begun") throw new Error(`${name}: ${JSON.stringify(begun)}`);
    const reading = await readList(neighbour, secondsOfAttack);
    const signsIn = await stand.signIn(`newcomer-${String(index)}`).then(
      () => true,
      () => false,
    );
    process_.send("answers");
    const said = await told(process_);
    const answers = said.said === "answers" ? said.answers : {};
    const attacked = Object.entries(least).every(([what, count]) => (answers[what] ?? 0) >= count);
    const ratio = reading.p95_ms / quiet.median_ms;
    const ended = once(process_, "exit");
    process_.kill("SIGKILL");
    await ended;
    const afterwards = await Promise.allSettled(Array.from({ length: 40 }, () => neighbour.call("/secrets/store")));
    const hungAfterwards = afterwards.filter(({ status }) => status === "rejected").length;
    await stand.whole();
    return {
      ...{ point, attack: name, ...reading, ratio, answers, attacked },
      ...{
        hung_afterwards: hungAfterwards,
        signs_in: signsIn,
        ok:
          reading.hung === 0 &&
          reading.refused === 0 &&
          hungAfterwards === 0 &&
          signsIn &&
          attacked &&
          ratio < mostOften,
      },
    };
  } finally {
    process_.kill("SIGKILL");
  }
}

async function told(attacker: ReturnType<typeof fork>): Promise<Told> {
  const ended = once(attacker, "exit").then(([code]): never => {
    throw new Error(`an attacker ended with ${String(code)}`);
  });
  const [message] = await Promise.race([once(attacker, "message") as Promise<[Told]>, ended]);
  return message;
}

/**
 * A call every so often, whether the one before was answered or not: else a stand-still of seconds
 * would be one call among hundreds.
 */
async function readList(caller: Caller, seconds: number): Promise<Reading> {
  const took: number[] = [];
  let [hung, refused] = [0, 0];
  const read = async (): Promise<void> => {
    const began = performance.now();
    const answer = await caller.call("/secrets/store").catch(() => null);
    took.push(performance.now() - began);
    if (answer === null) hung++;
    else if (answer.status !== 200) refused++;
  };
  const calls: Promise<void>[] = [];
  for (let left = (seconds * 1_000) / everyMs; left > 0; left--) {
    calls.push(read());
    await pause(everyMs);
  }
  await Promise.all(calls);
  took.sort((one, other) => one - other);
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? 0;
  return { calls: took.length, median_ms: at(0.5), p95_ms: at(0.95), longest_ms: at(1), hung, refused };
}

function lineOf(
  name: string,
  { calls, median_ms: median, p95_ms: p95, longest_ms: longest, hung, refused }: Reading,
): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`.padStart(11);
  return `${name.padEnd(44)}${String(calls).padStart(6)} calls  median${ms(median)}  p95${ms(p95)}  longest${ms(longest)}  hung ${String(hung)}  refused ${String(refused)}`;
}
