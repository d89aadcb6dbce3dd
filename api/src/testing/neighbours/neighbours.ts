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
import type { AttackOrder, AttackerMessage } from "./attacker-main.ts";
import { attacks, storeSmallSecrets, type Attack } from "./attacks.ts";
import { createCaller, type Caller } from "./caller.ts";
import { startTestDeployment, type TestDeployment } from "./test-deployment.ts";

/** Of the 95th percentile to the median of the quiet. */
const maxRatio = 10;
const attackSeconds = 8;
/** Between two calls of the neighbour, in milliseconds. */
const intervalMilliseconds = 100;
const secretCount = 100;
const neighbourAddress = "127.0.0.3";
/** Of its own for each attack: what the one before used up would spare the next one. */
const getAttackerAddress = (index: number): string => `127.0.1.${String(index + 1)}`;

interface LatencyReading {
  readonly calls: number;
  readonly median_ms: number;
  readonly p95_ms: number;
  readonly longest_ms: number;
  readonly hung: number;
  readonly refused: number;
}

interface Outcome extends LatencyReading {
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

const [selectedPoint] = process.argv.slice(2);
const deployment = await startTestDeployment();
try {
  const token = await deployment.signIn("neighbour");
  const neighbour = createCaller(deployment.origin, neighbourAddress, token);
  await storeSmallSecrets({ caller: neighbour, person: createPerson("neighbour", token) }, secretCount);
  await readList(neighbour, 2); // warm
  const quiet = await readList(neighbour, attackSeconds);
  console.log(formatLine("quiet", quiet));
  const outcomes: Outcome[] = [];
  for (const [index, attack] of attacks.entries()) {
    if (selectedPoint !== undefined && attack.point !== selectedPoint) continue;
    const outcome = await measureAttack(deployment, neighbour, attack, index, quiet);
    outcomes.push(outcome);
    console.log(
      `${formatLine(`${attack.point} ${attack.name}`, outcome)}  ×${outcome.ratio.toFixed(1)}${outcome.ok ? "" : "  FAILED"}  attacker: ${JSON.stringify(outcome.answers)}`,
    );
  }
  const ok = outcomes.every((outcome) => outcome.ok);
  console.log(JSON.stringify({ test: "neighbours", ok, quiet, outcomes, limits: { ratio: maxRatio } }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await deployment.stop();
}

async function measureAttack(
  deployment: TestDeployment,
  neighbour: Caller,
  { point, name, minimumAnswers }: Attack,
  index: number,
  quiet: LatencyReading,
): Promise<Outcome> {
  const subject = `attacker-${String(index)}`;
  const attackerProcess = fork(join(import.meta.dirname, "attacker-main.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  try {
    const order: AttackOrder = {
      origin: deployment.origin,
      address: getAttackerAddress(index),
      attackIndex: index,
      subject,
      token: await deployment.signIn(subject),
      accessToken: await deployment.accessToken(subject),
    };
    attackerProcess.send(order);
    const startedMessage = await receiveMessage(attackerProcess);
    if (startedMessage.kind !== "started") throw new Error(`${name}: ${JSON.stringify(startedMessage)}`);
    const reading = await readList(neighbour, attackSeconds);
    const couldSignIn = await deployment.signIn(`newcomer-${String(index)}`).then(
      () => true,
      () => false,
    );
    attackerProcess.send("answers");
    const answersMessage = await receiveMessage(attackerProcess);
    const answers = answersMessage.kind === "answers" ? answersMessage.answers : {};
    const wasEffective = Object.entries(minimumAnswers).every(([status, count]) => (answers[status] ?? 0) >= count);
    const ratio = reading.p95_ms / quiet.median_ms;
    const exited = once(attackerProcess, "exit");
    attackerProcess.kill("SIGKILL");
    await exited;
    const afterwards = await Promise.allSettled(Array.from({ length: 40 }, () => neighbour.call("/secrets/store")));
    const hungAfterwards = afterwards.filter(({ status }) => status === "rejected").length;
    await deployment.waitUntilReady();
    return {
      ...{ point, attack: name, ...reading, ratio, answers, attacked: wasEffective },
      ...{
        hung_afterwards: hungAfterwards,
        signs_in: couldSignIn,
        ok:
          reading.hung === 0 &&
          reading.refused === 0 &&
          hungAfterwards === 0 &&
          couldSignIn &&
          wasEffective &&
          ratio < maxRatio,
      },
    };
  } finally {
    attackerProcess.kill("SIGKILL");
  }
}

async function receiveMessage(attacker: ReturnType<typeof fork>): Promise<AttackerMessage> {
  const exited = once(attacker, "exit").then(([code]): never => {
    throw new Error(`an attacker ended with ${String(code)}`);
  });
  const [message] = await Promise.race([once(attacker, "message") as Promise<[AttackerMessage]>, exited]);
  return message;
}

/**
 * A call every so often, whether the one before was answered or not: else a stand-still of seconds
 * would be one call among hundreds.
 */
async function readList(caller: Caller, seconds: number): Promise<LatencyReading> {
  const durations: number[] = [];
  let [hungCount, refusedCount] = [0, 0];
  const read = async (): Promise<void> => {
    const startedAt = performance.now();
    const answer = await caller.call("/secrets/store").catch(() => null);
    durations.push(performance.now() - startedAt);
    if (answer === null) hungCount++;
    else if (answer.status !== 200) refusedCount++;
  };
  const calls: Promise<void>[] = [];
  for (let remaining = (seconds * 1_000) / intervalMilliseconds; remaining > 0; remaining--) {
    calls.push(read());
    await pause(intervalMilliseconds);
  }
  await Promise.all(calls);
  durations.sort((a, b) => a - b);
  const percentile = (fraction: number): number =>
    durations[Math.min(durations.length - 1, Math.floor(fraction * durations.length))] ?? 0;
  return {
    calls: durations.length,
    median_ms: percentile(0.5),
    p95_ms: percentile(0.95),
    longest_ms: percentile(1),
    hung: hungCount,
    refused: refusedCount,
  };
}

function formatLine(
  name: string,
  { calls, median_ms: median, p95_ms: p95, longest_ms: longest, hung, refused }: LatencyReading,
): string {
  const formatMilliseconds = (value: number): string => `${value.toFixed(1)} ms`.padStart(11);
  return `${name.padEnd(44)}${String(calls).padStart(6)} calls  median${formatMilliseconds(median)}  p95${formatMilliseconds(p95)}  longest${formatMilliseconds(longest)}  hung ${String(hung)}  refused ${String(refused)}`;
}
