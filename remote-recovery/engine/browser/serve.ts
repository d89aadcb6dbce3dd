import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import webpack from "webpack";

import { createWorkersConfig } from "../webpack/workers.ts";

export const engineFolder = fileURLToPath(new URL("..", import.meta.url));
/** The portal's content security policy, limited to the directives about code. */
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'";

export interface ServedFile {
  readonly type: string;
  readonly body: Uint8Array;
}

export const modulePaths: Readonly<Record<string, string>> = {
  "engine-simd": "build/engine.simd.wasm",
  "engine-scalar": "build/engine.scalar.wasm",
  jpeg: "node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm",
  png: "node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm",
};

/**
 * Serves files, the WASM modules, and an empty page that runs `/page.js` if given, on a free port.
 */
export async function serve(
  files: ReadonlyMap<string, ServedFile>,
): Promise<{ readonly origin: string; readonly close: () => void }> {
  const script = files.has("/page.js") ? '<script src="/page.js"></script>' : "";
  const servedFiles = new Map([
    ...files,
    ["/", { type: "text/html", body: Buffer.from(`<!doctype html><title>engine</title>${script}`) }] as const,
    ...Object.entries(modulePaths).map(
      ([name, path]) =>
        [`/${name}.wasm`, { type: "application/wasm", body: readFileSync(join(engineFolder, path)) }] as const,
    ),
  ]);
  const server = createServer((request, response) => {
    const file = servedFiles.get(decodeURIComponent(request.url ?? ""));
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": file?.type ?? "text/plain",
      "content-security-policy": policy,
    });
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://localhost:${String(address.port)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Bundles one source file like the portal's workers. Relative paths start at the engine's folder.
 */
export async function bundleScript(file: string): Promise<ServedFile> {
  const outputFolder = mkdtempSync(join(tmpdir(), "engine-bundle-"));
  try {
    const compiler = webpack({
      ...createWorkersConfig({
        context: engineFolder,
        entry: { script: resolve(engineFolder, file) },
        outputPath: outputFolder,
      }),
      cache: false,
    });
    const problems = await new Promise<string>((resolve) => {
      compiler.run((error, stats) => {
        resolve(error?.message ?? (stats?.hasErrors() === true ? stats.toString("errors-only") : ""));
      });
    });
    if (problems !== "") throw new Error(problems);
    return { type: "text/javascript", body: readFileSync(join(outputFolder, "script.js")) };
  } finally {
    rmSync(outputFolder, { recursive: true, force: true });
  }
}
