/**
 * Builds build/engine.simd.wasm and build/engine.scalar.wasm; does nothing if the sources are
 * unchanged. Run `node remote-recovery/engine/build.ts`, or call {@link buildEngine} in a test's
 * setup.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const engineFolder = fileURLToPath(new URL(".", import.meta.url));
const sourceFolder = join(engineFolder, "assembly");
const outputFolder = join(engineFolder, "build");

const commonOptions = [
  "assembly/index.ts",
  "--baseDir",
  engineFolder,
  "--config",
  "none",
  "--noAssert",
  "--runtime",
  "stub",
  "-O3",
  "--shrinkLevel",
  "0",
  "--memoryBase",
  "2097152", // behind the map of assembly/memory.ts
  "--use",
  "abort=",
];
const variants = {
  "engine.simd.wasm": ["--enable", "simd"],
  "engine.scalar.wasm": [],
} as const;

let pendingBuild: Promise<string> | null = null;

/**
 * Builds unless the files are up to date; concurrent calls share one build. Returns the folder;
 * rejects with asc's messages.
 */
export function buildEngine(): Promise<string> {
  pendingBuild ??= buildIfChanged().finally(() => {
    pendingBuild = null;
  });
  return pendingBuild;
}

async function buildIfChanged(): Promise<string> {
  const sourceFingerprint = computeFingerprint();
  const stampFile = join(outputFolder, "sources.sha256");
  const outputFiles = Object.keys(variants).map((name) => join(outputFolder, name));
  if (
    existsSync(stampFile) &&
    readFileSync(stampFile, "utf8") === sourceFingerprint &&
    outputFiles.every((file) => existsSync(file))
  )
    return outputFolder;
  mkdirSync(outputFolder, { recursive: true });
  const { default: asc } = await import("assemblyscript/asc");
  for (const [name, options] of Object.entries(variants)) {
    const temporaryFile = join("build", `${name}.${String(process.pid)}.part`);
    const messages: string[] = [];
    const stderr = {
      write: (chunk: string | Uint8Array) =>
        void messages.push(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()),
    };
    const { error } = await asc.main([...commonOptions, ...options, "--outFile", temporaryFile], { stderr });
    if (error) throw new Error(`asc failed for ${name}:\n${messages.join("")}`, { cause: error });
    renameSync(join(engineFolder, temporaryFile), join(outputFolder, name));
  }
  writeFileSync(stampFile, sourceFingerprint);
  return outputFolder;
}

function computeFingerprint(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(sourceFolder).sort())
    hash
      .update(name)
      .update("\0")
      .update(readFileSync(join(sourceFolder, name)));
  hash.update(JSON.stringify([commonOptions.filter((option) => option !== engineFolder), variants]));
  const compilerPackage: unknown = JSON.parse(
    readFileSync(join(engineFolder, "node_modules/assemblyscript/package.json"), "utf8"),
  );
  hash.update(JSON.stringify(compilerPackage));
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildEngine();
