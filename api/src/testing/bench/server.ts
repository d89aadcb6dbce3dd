import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface StartedServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a program of this package, as `main.ts`, whose first log line with its port says that it
 * is ready.
 *
 * @param script below `src`
 */
export async function startServer(
  script: string,
  variables: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<StartedServer> {
  const file = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...flags, file], {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
  };
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, portText] = /^\{"ready":true,"port":(\d+)\}$/.exec(line) ?? []; // other log lines are ignored
      if (portText !== undefined) resolve(Number(portText));
    });
    void exited.then(() => {
      reject(new Error(`${script} did not start`));
    });
  });
  return { port, pid: child.pid ?? 0, stop };
}
