/**
 * Benchmark of calls: `pnpm bench:service [--seconds 4] [--rounds 3] [--without memory]`. Measures
 * the service and, alternating, bare Fastify routes with the same responses (bare.ts), on one
 * PostgreSQL server, with ten connections and ten accounts each; then a profile of the service, two
 * services beside one, and the idle memory of the whole system. The last line is JSON; fails when a
 * limit is missed. Linux only: reads /proc.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startDatabaseServer } from "@relicario/tooling/database";
import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";

import { startIssuer } from "../issuer.ts";
import { buildLabel, buildSecret, createPerson, type Person } from "../person.ts";
import { createServiceVariables } from "../service.ts";
import { buildHttpCall, generateLoad, type CallList, type LoadResult } from "./load.ts";
import { readProcessName, readProcessorSeconds, readProportionalMegabytes, findProcessTree } from "./processes.ts";
import { findBusiest, type TimeShare } from "./profile.ts";
import { startServer, type StartedServer } from "./server.ts";

/**
 * Calls per second relative to a bare route with the one necessary query; p99 relative to its
 * median; idle memory in MB.
 */
const limits = { me: 0.6, list: 0.6, favorite: 0.5, p99: 10, memory_mb: 300 } as const;
const callNames = ["me", "list", "favorite"] as const;
type CallName = (typeof callNames)[number];
const servers = ["service", "same", "query"] as const;
type Server = (typeof servers)[number];

const accountCount = 10;
const secretsPerAccount = 100;
const settleSeconds = 10;
const portalPort = 4_271;

const browserHeaders = {
  origin: "http://localhost:3000",
  accept: "application/json",
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en",
};
const pathByName: Readonly<Record<CallName, string>> = {
  me: "/user/me",
  list: `/secrets/store?limit=${String(secretsPerAccount)}`,
  favorite: "/secrets/favorite",
};

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
    without: { type: "string", multiple: true, default: [] },
  },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];

/** Cost of a call at one server: the median round. Microseconds per call. */
interface Cost extends LoadResult {
  readonly serverMicroseconds: number;
  readonly databaseMicroseconds: number;
}

const folder = mkdtempSync(join(tmpdir(), "relicario-bench-"));
const cleanups: (() => Promise<unknown>)[] = [];
try {
  await measure();
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const database = await startDatabaseServer({
    folder: join(folder, "database"),
    parameters: { shared_preload_libraries: "pg_stat_statements" },
  });
  cleanups.push(() => database.stop());
  await database.createDatabase("relicario");
  const issuer = await startIssuer();
  cleanups.push(() => issuer.stop());
  const variables = {
    ...(await createServiceVariables(issuer.issuer, database.getUrl("relicario"), join(folder, "objects"))),
    SESSION_TTL_SECONDS: "86400",
    // Without this the rate limit of stars would be measured.
    RATE_LIMITS: JSON.stringify({ write: 100_000_000 }),
  };
  const startCleanedServer = async (script: string, flags?: readonly string[]): Promise<StartedServer> => {
    const server = await startServer(script, variables, flags);
    cleanups.push(server.stop);
    return server;
  };
  const service = await startCleanedServer("main.ts");
  const bare = await startCleanedServer("testing/bench/bare.ts");
  const postmaster = await findDatabaseServerPid(database.getUrl("postgres"));
  const client = new Client({ connectionString: database.getUrl("relicario") });
  await client.connect();
  cleanups.push(() => client.end());
  await client.query("create extension pg_stat_statements");

  const people = await Promise.all(
    Array.from({ length: accountCount }, (_, index) =>
      seedAccount(service.port, client, issuer, `person-${String(index)}`),
    ),
  );
  await client.query("vacuum analyze");
  for (const { person, responseBodies } of people) {
    for (const name of callNames) {
      await fetch(`http://127.0.0.1:${String(bare.port)}/answers/${name}`, {
        method: "PUT",
        headers: { account: person.userId, "content-type": "application/json" },
        body: JSON.stringify(responseBodies[name]),
      });
    }
  }
  const buildCallLists = (server: Server, name: CallName): CallList[] =>
    people.map(({ person, secretId }) => {
      const headers =
        server === "service"
          ? { authorization: `Bearer ${person.token}`, ...browserHeaders }
          : { account: person.userId, ...browserHeaders };
      const path = server === "service" ? pathByName[name] : `/${server}/${name}`;
      if (name !== "favorite") return [buildHttpCall("GET", path, headers)];
      return [true, false].map((favorite) =>
        buildHttpCall("PATCH", path, headers, { secret_db_id: secretId, favorite }),
      ) as unknown as CallList;
    });
  const measureLoad = async (server: Server, name: CallName, durationSeconds: number, rate?: number): Promise<Cost> => {
    const { port, pid } = server === "service" ? service : bare;
    const secondsBefore = [readProcessorSeconds([pid]), readProcessorSeconds(findProcessTree(postmaster))] as const;
    const loadResult = await generateLoad(port, buildCallLists(server, name), durationSeconds, rate);
    const toMicrosecondsPerCall = (end: number, start: number): number => ((end - start) * 1e6) / loadResult.calls;
    return {
      ...loadResult,
      serverMicroseconds: toMicrosecondsPerCall(readProcessorSeconds([pid]), secondsBefore[0]),
      databaseMicroseconds: toMicrosecondsPerCall(readProcessorSeconds(findProcessTree(postmaster)), secondsBefore[1]),
    };
  };

  /** Calls per second of two processes relative to one, with the same callers; a median. */
  const measureTwoServices = async (): Promise<Record<CallName, number>> => {
    const second = await startCleanedServer("main.ts");
    const ratioByName = {} as Record<CallName, number>;
    for (const name of callNames) {
      const callLists = buildCallLists("service", name);
      const half = callLists.length / 2;
      const ratiosOfRounds: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const alone = await generateLoad(service.port, callLists, seconds);
        const both = await Promise.all([
          generateLoad(service.port, callLists.slice(0, half), seconds),
          generateLoad(second.port, callLists.slice(half), seconds),
        ]);
        ratiosOfRounds.push(both.reduce((sum, { callsPerSecond }) => sum + callsPerSecond, 0) / alone.callsPerSecond);
      }
      ratioByName[name] = computeMedian(ratiosOfRounds);
    }
    await second.stop();
    return ratioByName;
  };

  // warm-up
  for (const name of callNames) for (const server of servers) await measureLoad(server, name, Math.min(seconds, 3));
  const costs = {} as Record<CallName, Record<Server, Cost>>;
  const statementsPerCall = {} as Record<CallName, number>;
  const p99Ratios = {} as Record<CallName, number>;
  const p99RatiosOfQuery = {} as Record<CallName, number>; // at the same rate, on the same machine
  const profile = {} as Record<CallName, { functions: readonly TimeShare[]; packages: readonly TimeShare[] }>;
  const ratios = {} as Record<CallName, number>;
  for (const name of callNames) {
    const costsByServer: Record<Server, Cost[]> = { service: [], same: [], query: [] };
    await client.query("select pg_stat_statements_reset()");
    let statementCount = 0;
    for (let round = 0; round < rounds; round++) {
      for (const server of servers) {
        if (server === "service") await client.query("select pg_stat_statements_reset()");
        costsByServer[server].push(await measureLoad(server, name, seconds));
        if (server === "service") statementCount += await countStatements(client);
      }
    }
    statementsPerCall[name] = statementCount / costsByServer.service.reduce((sum, { calls }) => sum + calls, 0);
    costs[name] = {
      service: findMedianCost(costsByServer.service),
      same: findMedianCost(costsByServer.same),
      query: findMedianCost(costsByServer.query),
    };
    ratios[name] = computeMedian(
      costsByServer.service.map(
        ({ callsPerSecond }, round) => callsPerSecond / (costsByServer.query[round]?.callsPerSecond ?? NaN),
      ),
    );
    const rate = costs[name].service.callsPerSecond / 2;
    const halfRateCosts = {
      service: await measureLoad("service", name, seconds, rate),
      query: await measureLoad("query", name, seconds, rate),
    };
    p99Ratios[name] = halfRateCosts.service.p99 / halfRateCosts.service.median;
    p99RatiosOfQuery[name] = halfRateCosts.query.p99 / halfRateCosts.query.median;
    printCosts(name, costs[name], statementsPerCall[name], ratios[name], halfRateCosts);
  }

  for (const name of callNames) {
    const profiles = join(folder, `profile-${name}`);
    mkdirSync(profiles);
    const profiledServer = await startCleanedServer("main.ts", ["--cpu-prof", `--cpu-prof-dir=${profiles}`]);
    await generateLoad(profiledServer.port, buildCallLists("service", name), 2);
    const from = process.hrtime.bigint();
    await generateLoad(profiledServer.port, buildCallLists("service", name), seconds);
    const to = process.hrtime.bigint();
    await profiledServer.stop();
    const { functions, packages } = findBusiest(profiles, from, to);
    profile[name] = { functions: functions.slice(0, 10), packages: packages.slice(0, 10) };
    console.log(
      `\n${name}: busiest functions\n${formatShares(profile[name].functions)}\n${name}: busiest packages\n${formatShares(profile[name].packages)}`,
    );
  }

  const twoServices = await measureTwoServices();
  const memory = values.without.includes("memory") ? null : await measureMemoryAtRest();
  const isWithinLimits =
    callNames.every((name) => ratios[name] >= limits[name] && p99Ratios[name] < limits.p99) &&
    (memory === null || memory < limits.memory_mb);
  console.log(
    JSON.stringify({
      bench: "service",
      ok: isWithinLimits,
      ratios,
      p99: p99Ratios,
      p99_of_query: p99RatiosOfQuery,
      memory_mb: memory,
      two_services: twoServices,
      queries: statementsPerCall,
      costs,
      profile,
      limits,
    }),
  );
  process.exitCode = isWithinLimits ? 0 : 1;
}

/** Stores one secret by a call, the others as rows. */
async function seedAccount(
  port: number,
  client: Client,
  issuer: Awaited<ReturnType<typeof startIssuer>>,
  subject: string,
): Promise<{ person: Person; secretId: string; responseBodies: Record<CallName, unknown> }> {
  const call = async (path: string, token: string | null, method = "GET", body?: unknown): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} answered ${String(response.status)} ${await response.text()}`);
    return response.json();
  };
  const { token } = (await call("/auth/token?app_vendor_id=relicario", null, "POST", {
    token: await issuer.createAccessToken(subject),
  })) as { token: string };
  const person = createPerson(subject, token);
  const { body } = buildSecret(person);
  await call("/secrets/store", token, "POST", body);
  const secretId = body.secret_db_id;
  const ids = Array.from({ length: secretsPerAccount - 1 }, () => uuidv7());
  await client.query(
    `insert into secrets (account_id, id, version, label, size, created_at, updated_at, change)
     select $1, more.id, 1, more.label, 1000, now(), now(), 1 from unnest($2::uuid[], $3::text[]) as more(id, label)`,
    [person.userId, ids, ids.map((id) => buildLabel(person, id, 1))],
  );
  const favorite = await call(pathByName.favorite, token, "PATCH", { secret_db_id: secretId, favorite: true });
  return {
    person,
    secretId,
    responseBodies: { me: await call(pathByName.me, token), list: await call(pathByName.list, token), favorite },
  };
}

/** The server's main process: the parent of a backend. */
async function findDatabaseServerPid(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const backend = rows[0]?.pid ?? 0;
  const parent = findProcessTree(process.pid).find(
    (pid) =>
      findProcessTree(pid)[0] === pid &&
      findProcessTree(pid).slice(1).includes(backend) &&
      !findProcessTree(pid)
        .slice(1)
        .some((other) => findProcessTree(other).slice(1).includes(backend)),
  );
  await client.end();
  if (parent === undefined) throw new Error("the database server's process was not found");
  return parent;
}

/** Statements since the last reset, BEGIN and COMMIT included. */
async function countStatements(client: Client): Promise<number> {
  const { rows } = await client.query<{ calls: string }>(
    "select coalesce(sum(calls), 0) as calls from pg_stat_statements where query not like '%pg_stat_statements%'",
  );
  return Number(rows[0]?.calls);
}

/** Idle memory of the whole system as `npm start` runs it, in MB. */
async function measureMemoryAtRest(): Promise<number> {
  const file = fileURLToPath(new URL("../../../../tooling/src/start/start.ts", import.meta.url));
  const environment = {
    ...process.env,
    PORT: String(portalPort),
    DATA_DIR: join(folder, "portal"),
    MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
  }; // as tooling/bin/run.mjs
  const starter = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "--expose-gc", file], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(starter, "exit");
  try {
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: starter.stdout }).on("line", (line) => {
        if (line.includes(`:${String(portalPort)}`)) resolve();
      });
      void exited.then(() => {
        reject(new Error("the portal did not start"));
      });
    });
    await pause(settleSeconds * 1_000);
    const processes = findProcessTree(starter.pid ?? 0).map((pid) => ({
      name: readProcessName(pid),
      megabytes: readProportionalMegabytes(pid),
    }));
    const total = processes.reduce((sum, { megabytes }) => sum + megabytes, 0);
    const postgres = processes.filter(({ name }) => name.includes("postgres"));
    console.log(`\nat rest: ${total.toFixed(0)} MB in ${String(processes.length)} processes`);
    for (const { name, megabytes } of processes.filter((part) => !postgres.includes(part)))
      console.log(`  ${megabytes.toFixed(0).padStart(4)} MB  ${name}`);
    console.log(
      `  ${postgres
        .reduce((sum, { megabytes }) => sum + megabytes, 0)
        .toFixed(0)
        .padStart(4)} MB  PostgreSQL, ${String(postgres.length)} processes`,
    );
    return total;
  } finally {
    starter.kill("SIGTERM");
    await exited;
  }
}

function findMedianCost(costs: readonly Cost[]): Cost {
  const median = costs.toSorted((a, b) => a.callsPerSecond - b.callsPerSecond)[Math.floor(costs.length / 2)];
  if (median === undefined) throw new Error("no round");
  return median;
}

function computeMedian(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function printCosts(
  name: CallName,
  costs: Record<Server, Cost>,
  statementsPerCall: number,
  ratio: number,
  halfRateCosts: Readonly<Record<"service" | "query", LoadResult>>,
): void {
  console.log(`\n${name.padEnd(10)}calls/s   µs server   µs database   median ms   p99 ms   bytes`);
  for (const server of servers) {
    const { callsPerSecond, serverMicroseconds, databaseMicroseconds, median, p99, bytesPerResponse } = costs[server];
    const figures = [
      [callsPerSecond, 7, 0],
      [serverMicroseconds, 12, 0],
      [databaseMicroseconds, 14, 0],
      [median, 12, 2],
      [p99, 9, 2],
      [bytesPerResponse, 8, 0],
    ] as const;
    console.log(
      `${server.padEnd(10)}${figures.map(([figure, width, digits]) => figure.toFixed(digits).padStart(width)).join("")}`,
    );
  }
  const serviceRate = costs.service.callsPerSecond;
  console.log(
    `${statementsPerCall.toFixed(2)} statements a call; ${ratio.toFixed(2)} of one query, ${(serviceRate / costs.same.callsPerSecond).toFixed(2)} of the same bytes; at half the rate median ${halfRateCosts.service.median.toFixed(2)} ms, p99 ${halfRateCosts.service.p99.toFixed(2)} ms (query ${halfRateCosts.query.median.toFixed(2)}, ${halfRateCosts.query.p99.toFixed(2)})`,
  );
}

function formatShares(shares: readonly TimeShare[]): string {
  return shares.map(({ label, percent }) => `  ${percent.toFixed(1).padStart(5)} %  ${label}`).join("\n");
}
