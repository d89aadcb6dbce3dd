import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { createTestPortal, type TestPortal } from "../portal/testing/test-portal.ts";
import { addToRegistry } from "../release/registry.ts";
import { makeRelease } from "../release/release.ts";
import { readCompose } from "./compose.ts";

const execFileAsync = promisify(execFile);
const Releases = z.object({
  releases: z.record(z.string(), z.object({ stable: z.string() })),
  disabled: z.array(z.string()).default([]),
});

jest.setTimeout(60_000); // processes start

let portal: TestPortal;
let container: ChildProcess | null = null;
beforeEach(async () => {
  portal = await createTestPortal();
});
afterEach(async () => {
  await stop();
  portal.remove();
});

const getFolder = (name: string): string => join(portal.folder, name);

/** Of the container, with folders of this machine. */
function getEnvironment(): Record<string, string> {
  const { services } = readCompose({ POSTGRES_PASSWORD: "a-password" }, "default");
  return Object.fromEntries(
    Object.entries(services["deployment-signer"]?.environment ?? {}).map(([name, value]) => [
      name,
      name.endsWith("_FOLDER") ? getFolder(value.slice(1)) : value,
    ]),
  );
}

/** Replaces what the image has, as a new image does. @returns the release's name */
async function build(script: string): Promise<string> {
  const packageFolder = portal.build("notes", script);
  const keyPair = await portal.loadTeamKey("notes");
  const webFolder = join(packageFolder, "build/web");
  const { record, folder } = await makeRelease({ remote: "notes", packageFolder, webFolder, keyPair });
  const builtFolder = getFolder("built-releases");
  rmSync(builtFolder, { recursive: true, force: true });
  mkdirSync(builtFolder);
  addToRegistry(builtFolder, "notes", folder, record.release);
  writeFileSync(join(builtFolder, "team-keys.json"), JSON.stringify({ notes: [keyPair.publicKey] }));
  return record.release;
}

async function start(): Promise<void> {
  const script = join(rootFolder, "tooling/src/containers/deployment-signer.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script], {
    env: getEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  container = child;
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(() => ["ended"]),
  ])) as [string];
  expect(line).toContain('"signed":"relicario"');
}

async function stop(): Promise<void> {
  if (container?.exitCode !== null) return;
  container.kill("SIGTERM");
  await once(container, "exit");
}

/** `docker compose exec deployment-signer node tooling/src/portal/main.ts …` */
async function operate(...words: string[]): Promise<string> {
  const script = join(rootFolder, "tooling/src/portal/main.ts");
  const { stdout } = await execFileAsync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, ...words],
    {
      env: getEnvironment(),
    },
  );
  return stdout;
}

function readDeployment(): z.infer<typeof Releases> {
  const { payload } = z
    .object({ payload: z.string() })
    .parse(JSON.parse(readFileSync(join(getFolder("deployments"), "relicario.json"), "utf8")));
  return Releases.parse(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
}

describe("the deployment signer", () => {
  it("adds each image's releases to the registry, and takes operations, whose choices outlast a restart", async () => {
    const first = await build("the first image");
    await start();
    expect(readDeployment().releases).toEqual({ notes: { stable: first } });
    await stop();

    const second = await build("the second image");
    await start();
    expect(readDeployment().releases).toEqual({ notes: { stable: second } });
    expect(existsSync(join(getFolder("releases/notes"), first, "release.json"))).toBe(true); // as remotes serve it
    expect(await operate("status")).toContain(`also there: ${first}`);

    await operate("disable", second, "--reason", "it is bad");
    await operate("rollback", "notes");
    expect(readDeployment()).toEqual({ releases: { notes: { stable: first } }, disabled: [second] });
    await stop();
    await start();
    expect(readDeployment()).toEqual({ releases: { notes: { stable: first } }, disabled: [second] });
    expect(await operate("log")).toMatch(/ disable .*reason=it is bad/);
  });

  it("writes the public keys that the gateway puts into the page", async () => {
    await build("the first image");
    await start();
    const page = JSON.parse(readFileSync(join(getFolder("deployments"), "relicario.page.json"), "utf8")) as unknown;
    expect(page).toMatchObject({ vendor_id: "relicario", portal_keys: [{}], team_keys: { notes: [{}] } });
  });
});
