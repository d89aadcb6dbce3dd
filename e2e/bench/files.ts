/**
 * The story of `large-file.spec.ts` with 1 GiB: `pnpm bench:files [mebibytes]`. The last line is
 * JSON; the exit code is not zero when the story fails or a budget is missed.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { z } from "zod";

/** `heap` in bytes, checked by the story itself; `longest_task` in milliseconds. */
const limits = { heap: 150_000_000, longest_task: 50 } as const;
const Figures = z.looseObject({
  send_longest_task: z.number(),
  resume_longest_task: z.number(),
  save_longest_task: z.number(),
});
const mebibytes = process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? "1024";
const e2eFolder = path.join(import.meta.dirname, "..");
const folder = await mkdtemp(path.join(tmpdir(), "relicario-bench-"));
const figuresFile = path.join(folder, "figures.json");
try {
  const playwright = createRequire(import.meta.url).resolve("@playwright/test/cli");
  const child = spawn(process.execPath, [playwright, "test", "large-file"], {
    cwd: e2eFolder,
    stdio: "inherit",
    env: { ...process.env, RELICARIO_FILE_MIB: mebibytes, RELICARIO_FIGURES: figuresFile },
  });
  const passed = await new Promise<boolean>((resolve) => {
    child.on("exit", (code) => {
      resolve(code === 0);
    });
  });
  // null: the story ended before anything was measured
  const content: unknown = await readFile(figuresFile, "utf8").then(JSON.parse, () => null);
  const { data: figures = null } = Figures.safeParse(content);
  const ok =
    passed &&
    figures !== null &&
    [figures.send_longest_task, figures.resume_longest_task, figures.save_longest_task].every(
      (longestTask) => longestTask <= limits.longest_task,
    );
  console.log(JSON.stringify({ bench: "files", ok, figures, limits }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
