import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

import { readCompose, type Container } from "@relicario/tooling/containers/compose";
import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";

import { requireCode, findFreePort, SignInRequest, Visitor } from "./test-support.ts";

/*
 * Runs the default profile of deploy/compose/compose.yaml as processes, with the file's commands
 * and environment. Only what a container network provides is replaced: names and ports become free
 * local ports, volumes become folders, the database is that of the tests, and the portal's page is
 * a stub.
 */

jest.setTimeout(120_000); // four processes start

const repositoryRoot = join(__dirname, "../../..");
let folder: string;
let databases: Record<"relicario" | "relicario_identity", TestDatabase>;
let origin: string;
let issuer: string;
/** Services that are not started yet. */
let compose: ReturnType<typeof readCompose>;
let pathReplacements: readonly (readonly [from: string, to: string])[];
const runningProcesses: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-compose-"));
  compose = readCompose({ POSTGRES_PASSWORD: "of-no-use-here", WITH_DEMO_ACCOUNT: "yes" }, "default");
  databases = {
    relicario: await createTestDatabase("empty_template", () => Promise.resolve()),
    relicario_identity: await createTestDatabase("empty_template", () => Promise.resolve()),
  };
  const [gatewayPort, identityPort, servicePort] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ].map(String) as [string, string, string];
  origin = `http://localhost:${gatewayPort}`;
  issuer = `http://localhost:${identityPort}/realms/relicario`;
  pathReplacements = [
    ["http://localhost:3000", origin],
    ["http://localhost:3001", `http://localhost:${identityPort}`],
    ["http://identity:3001", `http://127.0.0.1:${identityPort}`],
    ["http://service:8080", `http://127.0.0.1:${servicePort}`],
    ["postgresql://relicario:of-no-use-here@postgres:5432/relicario_identity", databases.relicario_identity.url],
    ["postgresql://relicario:of-no-use-here@postgres:5432/relicario", databases.relicario.url],
    ["/relicario/host/dist", join(folder, "host")],
    ["/built-releases", join(folder, "built-releases")],
  ];
  await writeFileInFolder(join(folder, "built-releases/team-keys.json"), "{}"); // no remotes: a sign-in needs none
  for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
    await writeFileInFolder(
      join(folder, "host", page),
      '<!doctype html><script type="application/json" id="portal-page">{}</script>',
    );
  await writeFileInFolder(join(folder, "host/vault/static/controller.0123abcd.js"), "");
  await Promise.all([
    startContainer("identity", { IDENTITY_PORT: identityPort }),
    startContainer("service", { API_PORT: servicePort }),
    startContainer("deployment-signer", {}, /^\{"signed":/),
  ]);
  await startContainer("gateway", { GATEWAY_PORT: gatewayPort });
});

afterAll(async () => {
  for (const child of runningProcesses) {
    if (child.exitCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  for (const database of Object.values(databases)) await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function writeFileInFolder(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Runs the container's command and environment on this machine. Resolves with its ready line. */
async function startContainer(
  name: string,
  ports: Readonly<Record<string, string>>,
  readyPattern = /^\{"ready":true/,
): Promise<void> {
  const container: Container | undefined = compose.services[name];
  if (container?.command === undefined) throw new Error(`${name} has no command`);
  const mounts = container.volumes.map((volume): readonly [string, string] => [
    volume.split(":")[1] ?? "",
    join(folder, volume.split(":")[0] ?? ""),
  ]);
  const relocate = (text: string): string =>
    [...pathReplacements, ...mounts].reduce(
      (result, [from, to]) => (from.startsWith("/") ? (result === from ? to : result) : result.replaceAll(from, to)),
      text,
    );
  const environment = Object.fromEntries(
    Object.entries({ KEYS_FOLDER: "/keys", ...container.environment }).map(([variable, text]) => [
      variable,
      relocate(text),
    ]),
  );
  for (const [, mount] of mounts) await mkdir(mount, { recursive: true });

  const [, ...commandArguments] = container.command;
  const child = spawn(process.execPath, commandArguments, {
    cwd: repositoryRoot,
    env: { PATH: process.env["PATH"], ...environment, ...ports },
    stdio: ["ignore", "pipe", "pipe"],
  });
  runningProcesses.push(child);
  let errorOutput = "";
  child.stderr.on("data", (piece: Buffer) => {
    errorOutput += piece.toString();
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (readyPattern.test(line)) resolve();
    });
    child.once("exit", () => {
      reject(new Error(`${name} ended: ${errorOutput}`));
    });
  });
}

describe("the default profile of compose.yaml", () => {
  it("signs a person in, through the provider's public name and the service behind the gateway", async () => {
    const demoAccount = JSON.parse(await readFile(join(folder, "identity-keys/demo-account.json"), "utf8")) as {
      email: string;
      password: string;
    };
    const request = new SignInRequest(issuer);
    const visitor = new Visitor();
    const signInPage = await visitor.get(request.buildUrl({ redirect_uri: `${origin}/` }));
    const finalPage = await visitor.submit(signInPage, { name: demoAccount.email, password: demoAccount.password });
    expect(finalPage.url.origin).toBe(origin);
    const tokens = (await (
      await request.redeem(requireCode(finalPage, origin), { redirect_uri: `${origin}/` }, { origin })
    ).json()) as { access_token: string };

    const exchangeResponse = await fetch(`${origin}/api/auth/token?app_vendor_id=relicario`, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify({ token: tokens.access_token }),
    });
    expect(exchangeResponse.status).toBe(200);
    const { token } = (await exchangeResponse.json()) as { token: string };
    const meResponse = await fetch(`${origin}/api/user/me`, { headers: { authorization: `Bearer ${token}` } });
    expect({ status: meResponse.status, ...((await meResponse.json()) as object) }).toMatchObject({
      status: 200,
      username: "demo",
    });
    expect((await fetch(`${origin}/api/auth/certs`)).status).toBe(200);
  });
});
