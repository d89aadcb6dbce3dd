/**
 * Tests faults of whole processes, of `npm run test:faults`; prints `N passed, N failed`.
 *
 * - One process's clock is five minutes ahead, then behind, by libfaketime (Debian's package
 *   `faketime`): sign-in, use, what needs a fresh sign-in and sign-out work as with right clocks,
 *   whichever service answers, and `/readyz` names the offset.
 * - The database answers after 20 seconds: calls are answered 503 in time, and after it as ever.
 * - Two million expired rows: a service that starts listens, answers and deletes them meanwhile.
 */
import { globSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "pg";

import { demoAccount, requireCode, SignInRequest, Visitor } from "../../identity/test-support.ts";
import { buildSecret, createPerson } from "../person.ts";
import { startTestDeployment, type ProcessName, type TestDeployment } from "./test-deployment.ts";

const skewedProcesses = ["service-1", "identity", "gateway"] as const satisfies readonly ProcessName[];

/** Longer than any process waits for its database, with time to spare. */
const answerLimitMs = 16_000;

const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
if (library === undefined) throw new Error("libfaketime is missing: apt-get install faketime");

/** Each returns what went wrong. */
const faults: readonly (readonly [name: string, findProblems: () => Promise<readonly string[]>])[] = [
  ...skewedProcesses.flatMap((name) =>
    [300, -300].map(
      (seconds) =>
        [`clock of ${name} ${formatOffset(seconds)}`, () => findClockProblems(name, seconds, library)] as const,
    ),
  ),
  ["a database that answers after 20 s", findLateDatabaseProblems],
  ["two million expired rows of the service", findExpiredRowProblems],
];
const [wanted = ""] = process.argv.slice(2);
let [passed, failed] = [0, 0];
for (const [name, findProblems] of faults.filter(([faultName]) => faultName.includes(wanted))) {
  const problems = await findProblems();
  console.log(`${name}: ${problems.length === 0 ? "ok" : "failed"}`);
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length === 0) passed += 1;
  else failed += 1;
}
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function formatOffset(seconds: number): string {
  return `${seconds > 0 ? "+" : ""}${String(seconds)} s`;
}

async function findClockProblems(name: ProcessName, seconds: number, faketime: string): Promise<readonly string[]> {
  const fakeClock = {
    LD_PRELOAD: faketime,
    FAKETIME: formatOffset(seconds).replace(" ", ""),
    FAKETIME_DONT_FAKE_MONOTONIC: "1", // timers go on as usual
  };
  const deployment = await startTestDeployment({}, { processEnvironments: { [name]: fakeClock }, usesProvider: true });
  try {
    const problems: string[] = [];
    const [first, second] = deployment.serviceOrigins;
    const gateway = `${deployment.origin}/api`;
    for (const [exchangedAt, usedAt] of [
      [first, second],
      [second, first],
      [gateway, gateway],
    ] as const)
      problems.push(...(await findSessionProblems(deployment, exchangedAt, usedAt)));
    problems.push(...(await findSkewProblems(deployment, name, seconds)));
    return problems;
  } finally {
    await deployment.stop();
  }
}

/** Signs in and out; the session is exchanged at one service and used at another. */
async function findSessionProblems(
  deployment: TestDeployment,
  exchangedAt: string,
  usedAt: string,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const expectStatus = async (subject: string, expected: number, response: Response): Promise<string> => {
    const text = await response.text();
    if (response.status !== expected)
      problems.push(`${subject}: ${String(response.status)} instead of ${String(expected)} ${text}`);
    return text;
  };
  const signIn = async (): Promise<string> => {
    const request = new SignInRequest(deployment.providerIssuer);
    const visitor = new Visitor();
    const page = await visitor.get(request.buildUrl());
    const { username, password } = demoAccount;
    const code = requireCode(await visitor.submit(page, { name: username, password }));
    const body = (await (await request.redeem(code)).json()) as { access_token: string };
    return body.access_token;
  };
  const exchange = (origin: string, token: string): Promise<Response> =>
    fetch(`${origin}/auth/token?app_vendor_id=relicario`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
  const accessToken = await signIn();
  const exchangeText = await expectStatus("sign-in", 200, await exchange(exchangedAt, accessToken));
  const { token = "" } = JSON.parse(exchangeText) as { token?: string };
  const call = (method: string, path: string): Promise<Response> =>
    fetch(`${usedAt}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  await expectStatus("a call", 200, await call("GET", "/user/me"));
  await expectStatus("what needs a fresh sign-in", 204, await call("DELETE", "/user/me"));
  await expectStatus("calling it off", 204, await call("POST", "/user/me/restore"));
  await expectStatus("sign-out", 204, await call("DELETE", "/auth/token"));
  for (const origin of new Set([exchangedAt, usedAt]))
    await expectStatus("the old access token after sign-out", 401, await exchange(origin, accessToken));
  await expectStatus("the next sign-in", 200, await exchange(exchangedAt, await signIn()));
  return problems;
}

/** `/readyz` of each service says by how much the others are ahead of it. */
async function findSkewProblems(
  { serviceOrigins }: TestDeployment,
  name: ProcessName,
  seconds: number,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [index, origin] of serviceOrigins.entries()) {
    const { clock_skew_seconds: skews } = (await (await fetch(`${origin}/readyz`)).json()) as {
      clock_skew_seconds: Readonly<Record<"identity_provider" | "database", number>>;
    };
    const isSkewed = name === `service-${String(index + 1)}`;
    const expected = {
      identity_provider: (name === "identity" ? seconds : 0) - (isSkewed ? seconds : 0),
      database: isSkewed ? -seconds : 0,
    };
    for (const peer of ["identity_provider", "database"] as const)
      if (Math.abs(skews[peer] - expected[peer]) > 2)
        problems.push(`/readyz of service-${String(index + 1)}: ${peer} ${String(skews[peer])} s ahead`);
  }
  return problems;
}

async function findLateDatabaseProblems(): Promise<readonly string[]> {
  const deployment = await startTestDeployment();
  try {
    const problems: string[] = [];
    const token = await deployment.signIn("ana");
    const person = createPerson("ana", token);
    const { body } = buildSecret(person);
    const api = `${deployment.origin}/api`;
    const authorization = `Bearer ${token}`;
    const provider = new URL(deployment.providerIssuer);
    const calls: readonly (readonly [subject: string, call: () => Promise<Response>])[] = [
      ["a read", () => fetch(`${api}/secrets/store`, { headers: { authorization } })],
      [
        "a write",
        () =>
          fetch(`${api}/secrets/store`, {
            method: "POST",
            headers: { authorization, "content-type": "application/json" },
            body: JSON.stringify(body),
          }),
      ],
      ["readiness", () => fetch(`${api}/readyz`)],
      ["a sign-in page", () => fetch(new SignInRequest(deployment.providerIssuer).buildUrl(), { redirect: "manual" })],
      ["readiness of the provider", () => fetch(new URL("/readyz", provider))],
    ];
    const aliveUrls = [`${api}/healthz`, new URL("/healthz", provider).href];
    const expectAnswers = async (expect: (response: Response, milliseconds: number) => boolean): Promise<void> => {
      await Promise.all(
        calls.map(async ([subject, call]) => {
          const startedAt = performance.now();
          const response = await call();
          const milliseconds = performance.now() - startedAt;
          if (!expect(response, milliseconds))
            problems.push(`${subject}: ${String(response.status)} after ${milliseconds.toFixed()} ms`);
        }),
      );
    };
    deployment.setDatabaseDelay(20_000);
    const answers = expectAnswers(
      (response, milliseconds) =>
        response.status === 503 && response.headers.has("retry-after") && milliseconds < answerLimitMs,
    );
    for (const url of aliveUrls) {
      const startedAt = performance.now();
      const { status } = await fetch(url);
      if (status !== 200 || performance.now() - startedAt > 1_000) problems.push(`${url}: ${String(status)}, late`);
    }
    await answers;
    deployment.setDatabaseDelay(0);
    await deployment.waitUntilReady();
    await expectAnswers(({ status }) => status < 400);
    const listed = await fetch(`${api}/secrets/store`, { headers: { authorization } });
    const { total } = (await listed.json()) as { total: number };
    if (total !== 1) problems.push(`the write is there ${String(total)} times`);
    return problems;
  } finally {
    deployment.setDatabaseDelay(0);
    await deployment.stop();
  }
}

async function findExpiredRowProblems(): Promise<readonly string[]> {
  const deployment = await startTestDeployment();
  const client = new Client({ connectionString: deployment.databaseUrl() });
  try {
    const problems: string[] = [];
    const token = await deployment.signIn("ana");
    await client.connect();
    await client.query(`insert into rate_limits (subject, rule, window_start, calls)
      select 'old ' || n, 'write', now() - interval '60 days', 1 from generate_series(1, 1000000) n`);
    await client.query(`insert into sessions (account_id, id, expires_at)
      select md5('account ' || n % 2000)::uuid, gen_random_uuid(), now() - interval '400 days' from generate_series(1, 1000000) n`);
    const countRows = async (): Promise<number> =>
      Number(
        (
          await client.query<{ count: string }>(
            `select (select count(*) from rate_limits where subject like 'old %')
              + (select count(*) from sessions where expires_at < now() - interval '300 days') as count`,
          )
        ).rows[0]?.count,
      );
    await deployment.kill("service-1");
    await deployment.kill("service-2");
    await deployment.waitUntilReady();
    if ((await countRows()) === 0) problems.push("no row was left when it listened: the test shows nothing");
    let slowestMs = 0;
    for (const startedAt = performance.now(); (await countRows()) > 0;) {
      const calledAt = performance.now();
      const { status } = await fetch(`${deployment.origin}/api/user/me`, {
        headers: { authorization: `Bearer ${token}` },
      });
      slowestMs = Math.max(slowestMs, performance.now() - calledAt);
      if (status !== 200) problems.push(`a call meanwhile: ${String(status)}`);
      if (performance.now() - startedAt > 300_000) return [...problems, `${String(await countRows())} rows are left`];
      await pause(200);
    }
    console.log(`  slowest call meanwhile: ${slowestMs.toFixed()} ms`);
    return problems;
  } finally {
    await client.end();
    await deployment.stop();
  }
}
