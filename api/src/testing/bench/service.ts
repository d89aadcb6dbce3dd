/**
 * What a call costs: `pnpm bench:service [--seconds 4] [--rounds 3] [--without memory]`. The
 * service as it is started, and in turns with it bare routes of Fastify with the same answers
 * (bare.ts), in one run on one PostgreSQL server, ten connections and ten accounts each; then where
 * the service's time goes, and what the whole system takes at rest. The last line is JSON; fails
 * when a limit is missed. Linux only: it reads /proc.
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

import { startDatabase } from "@relicario/tooling/database";
import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";

import { makeSessionKey, startIssuer } from "../issuer.ts";
import { buildLabel, buildSecret, createPerson, type Person } from "../person.ts";
import { httpCall, load, type CallList, type LoadResult } from "./load.ts";
import { readProcessName, processorSeconds, proportionalMegabytes, findProcessTree } from "./processes.ts";
import { findBusiest, type TimeShare } from "./profile.ts";

/**
 * Calls a second, beside a bare route that makes the one query that is needed; p99 in medians;
 * memory at rest in MB.
 */
const limits = { me: 0.6, list: 0.6, favorite: 0.5, p99: 10, memory_mb: 300 } as const;
const names = ["me", "list", "favorite"] as const;
type Name = (typeof names)[number];
const servers = ["service", "same", "query"] as const;
type Server = (typeof servers)[number];

const accounts = 10;
const secretsOfAccount = 100;
const restSeconds = 10;
const restPort = 4_271;

const browserHeaders = {
  origin: "http://localhost:3000",
  accept: "application/json",
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en",
};
const pathByName: Readonly<Record<Name, string>> = {
  me: "/user/me",
  list: `/secrets/store?limit=${String(secretsOfAccount)}`,
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

/** Of one name at one server: the round in the middle. Times in microseconds a call. */
interface Cost extends LoadResult {
  readonly serverMicros: number;
  readonly databaseMicros: number;
}

interface StartedServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
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
  const database = await startDatabase({
    folder: join(folder, "database"),
    settings: { shared_preload_libraries: "pg_stat_statements" },
  });
  cleanups.push(() => database.stop());
  await database.createDatabase("relicario");
  const issuer = await startIssuer();
  cleanups.push(() => issuer.stop());
  const variables = {
    DATABASE_URL: database.url("relicario"),
    OBJECTS_URL: join(folder, "objects"),
    MAIL_URL: join(folder, "outbox"),
    IDP_AUTHORITY: issuer.issuer,
    IDP_CLIENT_ID: "relicario-portal",
    PUBLIC_ORIGIN: "http://localhost:3000",
    SESSION_KEYS: JSON.stringify({ keys: [await makeSessionKey()] }),
    SESSION_TTL_SECONDS: "86400",
    RECORD_KEY: Buffer.alloc(32, 7).toString("base64url"),
    STOP_WAIT_SECONDS: "0",
    // Nobody sets a star a thousand times a second: without this the bench would measure refusals.
    RATE_LIMITS: JSON.stringify({ write: 100_000_000 }),
  };
  const service = await start("main.ts", variables);
  const bare = await start("testing/bench/bare.ts", variables);
  const postmaster = await serverPid(database.url("postgres"));
  const client = new Client({ connectionString: database.url("relicario") });
  await client.connect();
  cleanups.push(() => client.end());
  await client.query("create extension pg_stat_statements");

  const people = await Promise.all(
    Array.from({ length: accounts }, (_, index) => seed(service.port, client, issuer, `person-${String(index)}`)),
  );
  await client.query("vacuum analyze");
  for (const { person, answers } of people) {
    for (const name of names) {
      await fetch(`http://127.0.0.1:${String(bare.port)}/answers/${name}`, {
        method: "PUT",
        headers: { account: person.userId, "content-type": "application/json" },
        body: JSON.stringify(answers[name]),
      });
    }
  }
  const callsOf = (server: Server, name: Name): CallList[] =>
    people.map(({ person, secretId }) => {
      const headers =
        server === "service"
          ? { authorization: `Bearer ${person.token}`, ...browserHeaders }
          : { account: person.userId, ...browserHeaders };
      const path = server === "service" ? pathByName[name] : `/${server}/${name}`;
      if (name !== "favorite") return [httpCall("GET", path, headers)];
      return [true, false].map((favorite) =>
        httpCall("PATCH", path, headers, { secret_db_id: secretId, favorite }),
      ) as unknown as CallList;
    });
  const run = async (server: Server, name: Name, time: number, rate?: number): Promise<Cost> => {
    const { port, pid } = server === "service" ? service : bare;
    const before = [processorSeconds([pid]), processorSeconds(findProcessTree(postmaster))] as const;
    const measured = await load(port, callsOf(server, name), time, rate);
    const micros = (end: number, start: number): number => ((end - start) * 1e6) / measured.calls;
    return {
      ...measured,
      serverMicros: micros(processorSeconds([pid]), before[0]),
      databaseMicros: micros(processorSeconds(findProcessTree(postmaster)), before[1]),
    };
  };

  for (const name of names) for (const server of servers) await run(server, name, Math.min(seconds, 3)); // warms up
  const costs = {} as Record<Name, Record<Server, Cost>>;
  const queries = {} as Record<Name, number>;
  const p99 = {} as Record<Name, number>;
  const p99OfQuery = {} as Record<Name, number>; // at the same rate, on the same machine
  const profile = {} as Record<Name, { functions: readonly TimeShare[]; packages: readonly TimeShare[] }>;
  const ratios = {} as Record<Name, number>;
  for (const name of names) {
    const costsOfServers: Record<Server, Cost[]> = { service: [], same: [], query: [] };
    await client.query("select pg_stat_statements_reset()");
    let statementCount = 0;
    for (let round = 0; round < rounds; round++) {
      for (const server of servers) {
        if (server === "service") await client.query("select pg_stat_statements_reset()");
        costsOfServers[server].push(await run(server, name, seconds));
        if (server === "service") statementCount += await countStatements(client);
      }
    }
    queries[name] = statementCount / costsOfServers.service.reduce((sum, { calls }) => sum + calls, 0);
    costs[name] = {
      service: medianCost(costsOfServers.service),
      same: medianCost(costsOfServers.same),
      query: medianCost(costsOfServers.query),
    };
    ratios[name] = medianOf(
      costsOfServers.service.map(
        ({ callsPerSecond }, round) => callsPerSecond / (costsOfServers.query[round]?.callsPerSecond ?? NaN),
      ),
    );
    const rate = costs[name].service.callsPerSecond / 2;
    const halfRateCosts = {
      service: await run("service", name, seconds, rate),
      query: await run("query", name, seconds, rate),
    };
    p99[name] = halfRateCosts.service.p99 / halfRateCosts.service.median;
    p99OfQuery[name] = halfRateCosts.query.p99 / halfRateCosts.query.median;
    printCosts(name, costs[name], queries[name], ratios[name], halfRateCosts);
  }

  for (const name of names) {
    const profiles = join(folder, `profile-${name}`);
    mkdirSync(profiles);
    const profiled = await start("main.ts", variables, ["--cpu-prof", `--cpu-prof-dir=${profiles}`]);
    await load(profiled.port, callsOf("service", name), 2);
    const from = process.hrtime.bigint();
    await load(profiled.port, callsOf("service", name), seconds);
    const to = process.hrtime.bigint();
    await profiled.stop();
    const { functions, packages } = findBusiest(profiles, from, to);
    profile[name] = { functions: functions.slice(0, 10), packages: packages.slice(0, 10) };
    console.log(
      `\n${name}: busiest functions\n${formatShares(profile[name].functions)}\n${name}: busiest packages\n${formatShares(profile[name].packages)}`,
    );
  }

  const memory = values.without.includes("memory") ? null : await measureMemoryAtRest();
  const ok =
    names.every((name) => ratios[name] >= limits[name] && p99[name] < limits.p99) &&
    (memory === null || memory < limits.memory_mb);
  console.log(
    JSON.stringify({
      bench: "service",
      ok,
      ratios,
      p99,
      p99_of_query: p99OfQuery,
      memory_mb: memory,
      queries,
      costs,
      profile,
      limits,
    }),
  );
  process.exitCode = ok ? 0 : 1;
}

/** One secret by a call; of the others the rows that these calls read. */
async function seed(
  port: number,
  client: Client,
  issuer: Awaited<ReturnType<typeof startIssuer>>,
  subject: string,
): Promise<{ person: Person; secretId: string; answers: Record<Name, unknown> }> {
  const call = async (path: string, token: string | null, method = "GET", body?: unknown): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} answered ${String(answer.status)} ${await answer.text()}`);
    return answer.json();
  };
  const { token } = (await call("/auth/token?app_vendor_id=relicario", null, "POST", {
    token: await issuer.accessToken(subject),
  })) as { token: string };
  const person = createPerson(subject, token);
  const { body } = buildSecret(person);
  await call("/secrets/store", token, "POST", body);
  const secretId = body.secret_db_id;
  const ids = Array.from({ length: secretsOfAccount - 1 }, () => uuidv7());
  await client.query(
    `insert into secrets (account_id, id, version, label, size, created_at, updated_at, change)
     select $1, more.id, 1, more.label, 1000, now(), now(), 1 from unnest($2::uuid[], $3::text[]) as more(id, label)`,
    [person.userId, ids, ids.map((id) => buildLabel(person, id, 1))],
  );
  const favorite = await call(pathByName.favorite, token, "PATCH", { secret_db_id: secretId, favorite: true });
  return {
    person,
    secretId,
    answers: { me: await call(pathByName.me, token), list: await call(pathByName.list, token), favorite },
  };
}

async function start(
  script: string,
  variables: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<StartedServer> {
  const file = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...flags, file], {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
  };
  cleanups.push(stop);
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, portText] = /^\{"ready":true,"port":(\d+)\}$/.exec(line) ?? []; // lines of its log are dropped
      if (portText !== undefined) resolve(Number(portText));
    });
    void exited.then(() => {
      reject(new Error(`${script} did not start`));
    });
  });
  return { port, pid: child.pid ?? 0, stop };
}

/** The server's first process: the parent of the one that answers. */
async function serverPid(url: string): Promise<number> {
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

/** Statements that the server was given since the last reset, BEGIN and COMMIT among them. */
async function countStatements(client: Client): Promise<number> {
  const { rows } = await client.query<{ calls: string }>(
    "select coalesce(sum(calls), 0) as calls from pg_stat_statements where query not like '%pg_stat_statements%'",
  );
  return Number(rows[0]?.calls);
}

/** The whole system as `npm start` runs it, what starts it included, nobody calling. In MB. */
async function measureMemoryAtRest(): Promise<number> {
  const file = fileURLToPath(new URL("../../../../tooling/src/start/start.ts", import.meta.url));
  const environment = {
    ...process.env,
    PORT: String(restPort),
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
        if (line.includes(`:${String(restPort)}`)) resolve();
      });
      void exited.then(() => {
        reject(new Error("the portal did not start"));
      });
    });
    await pause(restSeconds * 1_000);
    const parts = findProcessTree(starter.pid ?? 0).map((pid) => ({
      name: readProcessName(pid),
      megabytes: proportionalMegabytes(pid),
    }));
    const total = parts.reduce((sum, { megabytes }) => sum + megabytes, 0);
    const postgres = parts.filter(({ name }) => name.includes("postgres"));
    console.log(`\nat rest: ${total.toFixed(0)} MB in ${String(parts.length)} processes`);
    for (const { name, megabytes } of parts.filter((part) => !postgres.includes(part)))
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

function medianCost(costs: readonly Cost[]): Cost {
  const median = costs.toSorted((a, b) => a.callsPerSecond - b.callsPerSecond)[Math.floor(costs.length / 2)];
  if (median === undefined) throw new Error("no round");
  return median;
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function printCosts(
  name: Name,
  costs: Record<Server, Cost>,
  queries: number,
  ratio: number,
  halfRateCosts: Readonly<Record<"service" | "query", LoadResult>>,
): void {
  console.log(`\n${name.padEnd(10)}calls/s   µs server   µs database   median ms   p99 ms   bytes`);
  for (const server of servers) {
    const { callsPerSecond, serverMicros, databaseMicros, median, p99, bytesPerAnswer } = costs[server];
    const figures = [
      [callsPerSecond, 7, 0],
      [serverMicros, 12, 0],
      [databaseMicros, 14, 0],
      [median, 12, 2],
      [p99, 9, 2],
      [bytesPerAnswer, 8, 0],
    ] as const;
    console.log(
      `${server.padEnd(10)}${figures.map(([figure, width, digits]) => figure.toFixed(digits).padStart(width)).join("")}`,
    );
  }
  const serviceRate = costs.service.callsPerSecond;
  console.log(
    `${queries.toFixed(2)} statements a call; ${ratio.toFixed(2)} of one query, ${(serviceRate / costs.same.callsPerSecond).toFixed(2)} of the same bytes; at half the rate median ${halfRateCosts.service.median.toFixed(2)} ms, p99 ${halfRateCosts.service.p99.toFixed(2)} ms (query ${halfRateCosts.query.median.toFixed(2)}, ${halfRateCosts.query.p99.toFixed(2)})`,
  );
}

function formatShares(shares: readonly TimeShare[]): string {
  return shares.map(({ what, percent }) => `  ${percent.toFixed(1).padStart(5)} %  ${what}`).join("\n");
}
