import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { z } from "zod";

import { compileCacheEnvironment } from "../compile-cache.ts";
import { rootFolder } from "../paths.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** Prints one JSON line on stdout when it is ready, with its port. */
export interface Child {
  readonly name: string;
  /** The same after each restart. */
  readonly getPort: () => number;
  readonly isRunning: () => boolean;
  readonly start: () => Promise<void>;
  /** SIGTERM; SIGKILL after ten seconds. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, like a crash. */
  readonly kill: () => Promise<void>;
}

export interface ChildWithInput extends Child {
  readonly sendLine: (line: string) => void;
}

export interface ChildSettings {
  readonly name: string;
  /** From the root. */
  readonly script: string;
  readonly buildEnvironment: (port: number) => Readonly<Record<string, string>>;
  /** A free one by default. */
  readonly port?: number;
  readonly logFile: string;
  readonly watch?: boolean;
  readonly onLine?: (line: string) => void;
  /** Called when it ends without `stop` or `kill`. */
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

const ReadyLine = z.object({ ready: z.literal(true), port: z.int() });
const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const preloadScript = join(import.meta.dirname, "end-with-parent.mjs");

export function createChild({
  name,
  script,
  buildEnvironment,
  port: fixedPort = 0,
  logFile,
  watch = false,
  onLine,
  onUnexpectedExit,
}: ChildSettings): ChildWithInput {
  let port = fixedPort;
  let runningProcess: {
    readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
    readonly ended: Promise<void>;
    stopRequested: boolean;
  } | null = null;

  async function start(): Promise<void> {
    if (runningProcess !== null) return;
    mkdirSync(dirname(logFile), { recursive: true });
    rotateLog(logFile);
    const log = createWriteStream(logFile, { flags: "a", mode: 0o600 });
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        "--expose-gc",
        ...(watch ? ["--watch", "--watch-preserve-output"] : []),
        "--import",
        preloadScript,
        script,
      ],
      {
        cwd: rootFolder,
        env: { ...compileCacheEnvironment, ...buildInheritedEnvironment(), ...buildEnvironment(port) },
        stdio: ["pipe", "pipe", "pipe"],
        // Own process group: Ctrl-C reaches only the starter, which stops the others in order.
        detached: true,
      },
    );
    child.stdin.on("error", () => undefined); // `exit` reports that it ended
    child.stderr.pipe(log, { end: false });
    const ended = new Promise<void>((resolve) => {
      child.once("close", () => {
        log.end(resolve);
      });
    });
    const startedProcess = { process: child, ended, stopRequested: false };
    runningProcess = startedProcess;
    child.once("exit", () => {
      if (runningProcess === startedProcess) runningProcess = null;
    });

    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new UserFacingError(`${name} was not ready after ${String(startTimeoutMs / 1000)} s: see ${logFile}`));
      }, startTimeoutMs);
      lines.on("line", (line) => {
        log.write(`${line}\n`);
        onLine?.(line);
        const ready = parseReadyLine(line);
        if (ready === null) return;
        port = ready.port;
        clearTimeout(timeout);
        resolve();
      });
      child.once("error", (cause) => {
        clearTimeout(timeout);
        reject(new UserFacingError(`${name} could not be started: ${cause.message}`, { cause }));
      });
      void ended.then(() => {
        clearTimeout(timeout);
        reject(new UserFacingError(`${name} did not start: ${readLastLogLine(logFile)} (${logFile})`));
      });
    });
    child.once("exit", (code, signal) => {
      if (!startedProcess.stopRequested) onUnexpectedExit(name, signal ?? `exit code ${String(code)}`);
    });
  }

  async function terminate(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (runningProcess === null) return;
    const stoppingProcess = runningProcess;
    stoppingProcess.stopRequested = true;
    stoppingProcess.process.kill(signal);
    const timeout = setTimeout(() => stoppingProcess.process.kill("SIGKILL"), stopTimeoutMs);
    await stoppingProcess.ended;
    clearTimeout(timeout);
  }

  const sendLine = (line: string): void => void runningProcess?.process.stdin.write(`${line}\n`);
  return {
    name,
    getPort: () => port,
    isRunning: () => runningProcess !== null,
    start,
    stop: () => terminate("SIGTERM"),
    kill: () => terminate("SIGKILL"),
    sendLine,
  };
}

/** Without variables that change how Node runs. */
function buildInheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(
    entries.filter(([name]) => !/^(NODE_OPTIONS|NODE_CHANNEL_FD|JEST_WORKER_ID|npm_.*|TEST_.*)$/.test(name)),
  );
}

function parseReadyLine(line: string): z.infer<typeof ReadyLine> | null {
  if (!line.startsWith("{")) return null;
  try {
    return ReadyLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null; // not JSON
  }
}

/** Keeps one former log, with the reason of a crash. */
function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  rmSync(`${file}.1`, { force: true });
  renameSync(file, `${file}.1`);
}

function readLastLogLine(file: string): string {
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return text === "" ? "it logged nothing" : text.slice(text.lastIndexOf("\n") + 1);
}
