// The way in: `npm start`, `npm test`, `npm run dev`. Plain JavaScript for Node 20 or newer, with
// nothing installed yet:
// installs when something changed, then hands over to TypeScript on Node 24.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const scripts = {
  start: "tooling/src/start/start.ts",
  test: "tooling/src/test/test.ts",
  dev: "tooling/src/start/dev.ts",
  backup: "tooling/src/backup/main.ts",
  portal: "tooling/src/portal/main.ts",
  vendor: "tooling/src/start/vendor.ts",
  build: "tooling/src/bundle/build.ts",
};
const { pnpm } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).config; // the one that wrote the lockfile
const oldestNodeMajor = 20;
const requiredNodeMajor = 24;

const [name, ...scriptArguments] = process.argv.slice(2);
if (!(name in scripts)) fail(`Say what to run: ${Object.keys(scripts).join(", ")}.`, 2);
if (majorOf(process.versions.node) < oldestNodeMajor)
  fail(`Node ${oldestNodeMajor} or newer is needed; this is ${process.version}. See https://nodejs.org`);

await install();
const node = findNode();
const environment = { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH ?? ""}` };
// glibc's own default, named so that it does not grow: what starting needed goes back (mallopt(3))
if (name === "start") environment.MALLOC_TRIM_THRESHOLD_ = String(128 * 1024);
process.exitCode = await run(
  node,
  ["--disable-warning=ExperimentalWarning", "--expose-gc", join(root, scripts[name]), ...scriptArguments],
  environment,
);

/** Installs what the lockfile says, unless nothing changed since the last time. */
async function install() {
  const stampFile = join(root, "node_modules/.installed");
  const stamp = fingerprint();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const startedAt = Date.now();
  console.log("Installing.");
  const code = await run(
    "npx",
    ["--yes", pnpm, "install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=warn"],
    { CI: "true" },
    ["ignore", "inherit", "inherit"],
  );
  if (code !== 0) fail(`The installation failed (exit code ${code}); the lines above say why.`);
  writeFileSync(stampFile, stamp);
  console.log(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function fingerprint() {
  const workspace = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const packages = [...workspace.matchAll(/^ {2}- (\S+)$/gm)]
    .map(([, folder]) => folder)
    .filter((folder) => existsSync(join(root, folder, "package.json")));
  const files = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ...packages.map((folder) => `${folder}/package.json`),
  ];
  const hash = createHash("sha256").update(`${pnpm} ${process.platform} ${process.arch}`);
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** Node 24: the one that was installed for this machine, else the machine's own. */
function findNode() {
  const installed = join(root, "node_modules/.bin/node");
  if (existsSync(installed)) return installed;
  if (majorOf(process.versions.node) >= requiredNodeMajor) return process.execPath;
  fail(
    `On ${process.platform} ${process.arch} Node ${requiredNodeMajor} has to be there already; this is ${process.version}. See https://nodejs.org`,
  );
}

/** Runs a program, passes signals on, and gives its exit code. */
function run(program, args, environment, stdio = "inherit") {
  const child = spawn(program, args, {
    cwd: root,
    stdio,
    env: { ...process.env, ...environment },
    shell: process.platform === "win32" && program === "npx",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // `kill <npm>` ends npm and its shell, and neither passes it on: being left alone means the same.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 500).unref();
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`${program} could not be started: ${error.message}`);
      resolve(1);
    });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

function majorOf(version) {
  return Number(version.split(".")[0]);
}

function fail(message, code = 1) {
  console.error(message);
  process.exit(code);
}
