import { spawn } from "node:child_process";

import { rootFolder } from "../paths.ts";

export interface Outcome {
  readonly code: number;
  /** What it said, both streams in order. */
  readonly said: string;
}

/** Runs a program from the checkout's root, quietly: what it said is shown when it fails. */
export function run(program: string, args: readonly string[], { environment = {}, show = false }: { environment?: Readonly<Record<string, string>>; show?: boolean } = {}): Promise<Outcome> {
  const child = spawn(program, args, { cwd: rootFolder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said += text;
      if (show) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, said: `${program}: ${error.message}` }));
    child.once("close", (code) => resolve({ code: code ?? 1, said }));
  });
}

/** Runs a script of Node, or a program of `node_modules/.bin`. */
export const node = (args: readonly string[], options?: Parameters<typeof run>[2]): Promise<Outcome> => run(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options);
