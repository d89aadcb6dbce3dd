import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import type { EngineWasm } from "../src/engine-wasm.ts";

interface Binaryen {
  readonly readBinary: (bytes: Uint8Array) => {
    readonly setFeatures: (features: number) => void;
    readonly emitAsmjs: () => string;
  };
  readonly Features: Readonly<
    Record<"MutableGlobals" | "NontrappingFPToInt" | "BulkMemory" | "SignExt" | "Multivalue", number>
  >;
}

/** Binaryen's feature BulkMemoryOpt, which its JavaScript API does not name. */
const bulkMemoryOpt = 1 << 19;

/**
 * Translates the scalar build to JavaScript with the compiler's Binaryen. The results have the same
 * bits.
 */
export async function loadEngineAsJavaScript(wasmFile: string): Promise<EngineWasm> {
  const compilerRequire = createRequire(import.meta.resolve("assemblyscript/asc"));
  const { default: binaryen } = (await import(compilerRequire.resolve("binaryen"))) as { default: Binaryen };
  const { MutableGlobals, NontrappingFPToInt, BulkMemory, SignExt, Multivalue } = binaryen.Features;
  const module = binaryen.readBinary(readFileSync(wasmFile));
  module.setFeatures(MutableGlobals | NontrappingFPToInt | BulkMemory | SignExt | Multivalue | bulkMemoryOpt);
  const scriptBase64 = Buffer.from(module.emitAsmjs()).toString("base64");
  return (await import(`data:text/javascript;base64,${scriptBase64}`)) as EngineWasm;
}

const ReferenceTimes = z.object({ decode: z.number(), enrol: z.number(), blind: z.number(), image_secret: z.string() });
export type ReferenceTimes = z.infer<typeof ReferenceTimes>;

const timingScript = `
import json, sys, time
import rie1
def timed(work):
    before = time.process_time()
    result = work()
    return result, 1000 * (time.process_time() - before)
rgb, decode = timed(lambda: rie1.load_rgb(sys.argv[1]))
(helper, bits), enrol = timed(lambda: rie1.enrol(rgb))
found, blind = timed(lambda: rie1.recover(helper, rgb))
print(json.dumps(dict(decode=decode, enrol=enrol, blind=blind, image_secret=rie1.image_secret(found["bits"]).hex())))
`;

/**
 * Times the reference on one picture: processor time in milliseconds, and the image secret in hex.
 * Null without Python, numpy and PIL.
 */
export async function timeReference(picturePath: string): Promise<ReferenceTimes | null> {
  const python = ["/usr/bin/python3", "/usr/local/bin/python3"].find((path) => existsSync(path));
  if (python === undefined) return null;
  const run = promisify(execFile);
  const cwd = fileURLToPath(new URL("../reference", import.meta.url));
  try {
    await run(python, ["-c", "import numpy, PIL"]);
  } catch {
    return null;
  }
  const { stdout } = await run(python, ["-B", "-c", timingScript, picturePath], {
    cwd,
    env: { ...process.env, OPENBLAS_NUM_THREADS: "1" },
  });
  return ReferenceTimes.parse(JSON.parse(stdout));
}
