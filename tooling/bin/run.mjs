// Entry point of `npm start`, `npm test` and `npm run dev`: installs what changed, then runs
// TypeScript on Node 24. Plain JavaScript for Node 20 or newer, since nothing is installed yet.
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
  relicario: "tooling/src/operate/main.ts",
  vendor: "tooling/src/start/vendor.ts",
  build: "tooling/src/bundle/build.ts",
};
const { pnpm } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).config; // the version that wrote the lockfile
const oldestNodeMajor = 20;
const requiredNodeMajor = 24;

const [name, ...scriptArguments] = process.argv.slice(2);
if (!(name in scripts)) fail(`Name what to run: ${Object.keys(scripts).join(", ")}.`, 2);
if (majorOf(process.versions.node) < oldestNodeMajor)
  fail(`Node ${oldestNodeMajor} or newer is needed; this is ${process.version}. See https://nodejs.org`);

await install();
const node = findNode();
const environment = { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH ?? ""}` };
// Sets glibc's default, which keeps the threshold from growing, so that memory freed after the
// start is returned to the system (mallopt(3)).
if (name === "start") environment.MALLOC_TRIM_THRESHOLD_ = String(128 * 1024);
process.exitCode = await run(
  node,
  ["--disable-warning=ExperimentalWarning", "--expose-gc", join(root, scripts[name]), ...scriptArguments],
  environment,
);

/** Installs from the lockfile, unless nothing changed since the last time. */
async function install() {
  const stampFile = join(root, "node_modules/.installed");
  const sourceFingerprint = computeFingerprint();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === sourceFingerprint) return;
  const startedAt = Date.now();
  console.log("Installing.");
  const code = await run(
    "npx",
    ["--yes", pnpm, "install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=warn"],
    { CI: "true" },
    ["ignore", "inherit", "inherit"],
  );
  if (code !== 0) fail(`The installation failed (exit code ${code}); the lines above say why.`);
  writeFileSync(stampFile, sourceFingerprint);
  console.log(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function computeFingerprint() {
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

/** Finds Node 24: the installed one, else the one that runs this. */
function findNode() {
  const installed = join(root, "node_modules/.bin/node");
  if (existsSync(installed)) return installed;
  if (majorOf(process.versions.node) >= requiredNodeMajor) return process.execPath;
  fail(
    `Install Node ${requiredNodeMajor} yourself on ${process.platform} ${process.arch}; this is ${process.version}. See https://nodejs.org`,
  );
}

/** Runs a program, forwards signals, returns its exit code. */
function run(program, args, environment, stdio = "inherit") {
  const child = spawn(program, args, {
    cwd: root,
    stdio,
    env: { ...process.env, ...environment },
    shell: process.platform === "win32" && program === "npx",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // npm and its shell do not forward `kill`: a changed parent means that they ended.
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
