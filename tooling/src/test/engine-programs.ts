import { hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { PooledServerPrograms } from "../database/pooled-server.ts";
import { rootFolder } from "../paths.ts";
import { canInstallPackages, installPackages } from "./install-packages.ts";
import { run } from "./run.ts";

/**
 * PgBouncer (ISC) as Debian 13 has it, with the SHA-256 of its source. Debian 12's 1.18 keeps no
 * prepared statements.
 */
const pgBouncerVersion = "1.24.1";
const sourceUrl = `http://deb.debian.org/debian/pool/main/p/pgbouncer/pgbouncer_${pgBouncerVersion}.orig.tar.gz`;
const sourceSha256 = "da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0";
const builtProgram = join(rootFolder, `.cache/pgbouncer/pgbouncer-${pgBouncerVersion}`);

/** Debian 12's. */
const postgresFolder = "/usr/lib/postgresql/15/bin";

/**
 * Installs PostgreSQL 15 and builds PgBouncer, unless they are here.
 *
 * @throws Error that names Debian's packages when they cannot be installed
 */
export async function installEnginePrograms(): Promise<PooledServerPrograms> {
  const missing = [
    ...(existsSync(join(postgresFolder, "postgres")) ? [] : ["postgresql-15"]),
    ...(existsSync(builtProgram) || existsSync("/usr/include/event2/event.h") ? [] : ["libevent-dev"]),
  ];
  if (missing.length > 0 && !(canInstallPackages() && (await installPackages(missing))))
    throw new Error(`The engines need ${missing.join(", ")}: apt-get install ${missing.join(" ")}.`);
  if (!existsSync(builtProgram)) await buildPgBouncer();
  return {
    postgres: {
      initdb: join(postgresFolder, "initdb"),
      postgres: join(postgresFolder, "postgres"),
      localeFlags: ["--locale=C.UTF-8"],
    },
    pgBouncer: builtProgram,
  };
}

/** Builds the source in a minute, without DNS of its own. */
async function buildPgBouncer(): Promise<void> {
  console.log(`  Building PgBouncer ${pgBouncerVersion}.`);
  const source = Buffer.from(await (await fetch(sourceUrl)).arrayBuffer());
  if (hash("sha256", source, "hex") !== sourceSha256) throw new Error(`${sourceUrl} is not the file that was tried`);
  const folder = mkdtempSync(join(tmpdir(), "relicario-pgbouncer-"));
  try {
    const archive = join(folder, "source.tar.gz");
    writeFileSync(archive, source);
    for (const [program = "", ...args] of [
      ["tar", "--extract", "--gzip", "--strip-components=1", `--file=${archive}`],
      ["./configure", "--without-cares"],
      ["make", "pgbouncer"],
    ]) {
      const { code, output } = await run(program, args, { folder });
      if (code !== 0) throw new Error(`PgBouncer could not be built:\n${output}`);
    }
    mkdirSync(join(builtProgram, ".."), { recursive: true });
    const program = `${builtProgram}.${String(process.pid)}`;
    writeFileSync(program, readFileSync(join(folder, "pgbouncer")), { mode: 0o755 });
    renameSync(program, builtProgram);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
