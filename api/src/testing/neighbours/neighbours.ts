/**
 * Tests isolation: `npm run test:neighbours [point]`. One gateway, two services, real sockets. Each
 * attack runs for some seconds while a neighbour, another account at another address, reads its
 * list, signs in or starts uploads. The last line is JSON; fails when a call hung or was refused,
 * when an attack had no effect, or when the 95th percentile exceeds ten times the quiet median.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { maxSealedBytes, StartUploadResponse, uploadPath } from "@relicario/shared/api";

import { createPerson } from "../person.ts";
import { buildRequest } from "../sharing.ts";
import { buildLargeContent } from "../upload.ts";
import type { AttackOrder, AttackerMessage } from "./attacker-main.ts";
import { attacks, storeSmallSecrets, type Attack, type Victim } from "./attacks.ts";
import { createCaller, type Caller } from "./caller.ts";
import { createSignIn } from "./sign-in.ts";
import { startTestDeployment } from "./test-deployment.ts";

/** 95th percentile relative to the quiet median. */
const maxRatio = 10;
const attackSeconds = 8;
/** Milliseconds between two calls of the neighbour, two of its sign-ins, and two of its uploads. */
const intervalMilliseconds = { service: 100, signIn: 500, storage: 400 };
const secretCount = 100;
const neighbourAddress = "127.0.0.3";
/** One per attack: limits used up by an attack would weaken the next. */
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
  /** Responses to the attacker, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Whether the attack had its effect. */
  readonly attacked: boolean;
  /** How many of forty calls after the attack hung. */
  readonly hung_afterwards: number;
  /** Whether a sign-in during the attack succeeded. */
  readonly signs_in: boolean;
  readonly ok: boolean;
}

type Measurements = Readonly<Record<Victim, (seconds: number) => Promise<LatencyReading>>>;

interface Neighbour {
  readonly neighbour: Caller;
  readonly link: AttackOrder["link"];
  readonly measurements: Measurements;
  readonly quietReadings: Readonly<Record<Victim, LatencyReading>>;
}

const [selectedPoint] = process.argv.slice(2);
const deployment = await startTestDeployment();
try {
  const token = await deployment.signIn("neighbour");
  const neighbour = createCaller(deployment.origin, neighbourAddress, token);
  const person = createPerson("neighbour", token);
  await storeSmallSecrets({ caller: neighbour, person }, secretCount);
  const request = buildRequest(person, { max_size: maxSealedBytes });
  const requestResponse = await neighbour.callJson("POST", "/requests", request.body);
  if (requestResponse.status !== 200) throw new Error(`a request was answered with ${String(requestResponse.status)}`);
  const link = { request_id: request.requestId, link_auth: request.linkAuth };
  const uploadForm = await buildLargeContent({ bytes: 1 }).buildStartForm({ size: String(1024 ** 3) });
  const measureSignIns = (browserKind: "known" | "new"): Measurements[Victim] => {
    const signIn = createSignIn(deployment.providerIssuer, neighbourAddress, browserKind);
    return (seconds) => measure(signIn, intervalMilliseconds.signIn, seconds);
  };
  const measurements: Measurements = {
    service: (seconds) =>
      measure(
        async () => (await neighbour.call("/secrets/store")).status === 200,
        intervalMilliseconds.service,
        seconds,
      ),
    provider: measureSignIns("known"),
    "new browser": measureSignIns("new"),
    storage: (seconds) =>
      measure(
        async () => {
          const { status, body } = await neighbour.call("/v2/secrets/secret", { method: "POST", ...uploadForm });
          if (status !== 200) return false;
          const { upload_id: id } = StartUploadResponse.parse(JSON.parse(body.toString()));
          return (await neighbour.call(uploadPath(id), { method: "DELETE" })).status < 300;
        },
        intervalMilliseconds.storage,
        seconds,
      ),
  };
  for (const take of Object.values(measurements)) await take(2); // warm-up
  const quietReadings = {
    service: await measurements.service(attackSeconds),
    provider: await measurements.provider(attackSeconds),
    "new browser": await measurements["new browser"](attackSeconds),
    storage: await measurements.storage(attackSeconds),
  };
  for (const [name, reading] of Object.entries(quietReadings)) console.log(formatLine(`quiet ${name}`, reading));
  const outcomes: Outcome[] = [];
  for (const [index, attack] of attacks.entries()) {
    if (selectedPoint !== undefined && attack.auditPoint !== selectedPoint) continue;
    const outcome = await measureAttack({ neighbour, link, measurements, quietReadings }, attack, index);
    outcomes.push(outcome);
    console.log(
      `${formatLine(`${attack.auditPoint} ${attack.name}`, outcome)}  ×${outcome.ratio.toFixed(1)}${outcome.ok ? "" : "  FAILED"}  attacker: ${JSON.stringify(outcome.answers)}`,
    );
  }
  const ok = outcomes.every((outcome) => outcome.ok);
  console.log(JSON.stringify({ test: "neighbours", ok, quiet: quietReadings, outcomes, limits: { ratio: maxRatio } }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await deployment.stop();
}

async function measureAttack(
  { neighbour, link, measurements, quietReadings }: Neighbour,
  { auditPoint, name, victim = "service", minimumAnswers }: Attack,
  index: number,
): Promise<Outcome> {
  const quietReading = quietReadings[victim];
  const subject = `attacker-${String(index)}`;
  const attackerProcess = fork(join(import.meta.dirname, "attacker-main.ts"), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  try {
    const order: AttackOrder = {
      origin: deployment.origin,
      serviceOrigin: deployment.serviceOrigins[0],
      providerIssuer: deployment.providerIssuer,
      databaseUrl: deployment.databaseUrl(),
      link,
      address: getAttackerAddress(index),
      attackIndex: index,
      subject,
      token: await deployment.signIn(subject),
      accessToken: await deployment.createAccessToken(subject),
    };
    attackerProcess.send(order);
    const startedMessage = await receiveMessage(attackerProcess);
    if (startedMessage.kind !== "started") throw new Error(`${name}: ${JSON.stringify(startedMessage)}`);
    const reading = await measurements[victim](attackSeconds);
    const couldSignIn = await deployment.signIn(`newcomer-${String(index)}`).then(
      () => true,
      () => false,
    );
    attackerProcess.send("answers");
    const answersMessage = await receiveMessage(attackerProcess);
    const answers = answersMessage.kind === "answers" ? answersMessage.answerCounts : {};
    const wasEffective = Object.entries(minimumAnswers).every(([status, count]) => (answers[status] ?? 0) >= count);
    const ratio = reading.p95_ms / quietReading.median_ms;
    const exited = once(attackerProcess, "exit");
    attackerProcess.kill("SIGKILL");
    await exited;
    const callsAfterwards = await Promise.allSettled(
      Array.from({ length: 40 }, () => neighbour.call("/secrets/store")),
    );
    const hungAfterwards = callsAfterwards.filter(({ status }) => status === "rejected").length;
    await deployment.waitUntilReady();
    return {
      ...{ point: auditPoint, attack: name, ...reading, ratio, answers, attacked: wasEffective },
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
 * Calls at fixed intervals, without waiting for responses: otherwise a stall of seconds would count
 * as one call among hundreds.
 */
async function measure(call: () => Promise<boolean>, intervalMs: number, seconds: number): Promise<LatencyReading> {
  const durations: number[] = [];
  let [hungCount, refusedCount] = [0, 0];
  const measureCall = async (): Promise<void> => {
    const startedAt = performance.now();
    const wasAnswered = await call().catch(() => null);
    durations.push(performance.now() - startedAt);
    if (wasAnswered === null) hungCount++;
    else if (!wasAnswered) refusedCount++;
  };
  const calls: Promise<void>[] = [];
  for (let remaining = (seconds * 1_000) / intervalMs; remaining > 0; remaining--) {
    calls.push(measureCall());
    await pause(intervalMs);
  }
  await Promise.all(calls);
  durations.sort((a, b) => a - b);
  const getPercentile = (fraction: number): number =>
    durations[Math.min(durations.length - 1, Math.floor(fraction * durations.length))] ?? 0;
  return {
    calls: durations.length,
    median_ms: getPercentile(0.5),
    p95_ms: getPercentile(0.95),
    longest_ms: getPercentile(1),
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
