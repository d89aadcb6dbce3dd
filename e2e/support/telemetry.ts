/** Nothing of people is in what processes say of themselves: metrics, spans and logs. */
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";

import type { BrowserContext } from "@playwright/test";
import type { RunningPortal } from "@relicario/tooling/portal";

/** Shorter texts occur by chance. */
const minTextLength = 12;

/** What the stories of this worker typed, and tokens of their calls. */
const typedTexts = new Set<string>();

/** Records long texts, and their long words with digits, which no encoding changes. */
export function recordTyped(...texts: readonly (string | null | undefined)[]): void {
  for (const typedText of texts.map((candidate) => candidate ?? ""))
    for (const part of [typedText, ...(typedText.match(/[\w-]*\d[\w-]*/g) ?? [])])
      if (part.length >= minTextLength) typedTexts.add(part);
}

/** Records the key in a link's fragment. */
export function recordLink(link: string): void {
  recordTyped(link.split("#s=")[1]);
}

/** Records the tokens of a context's calls, by their signatures. */
export function recordTokens(context: BrowserContext): void {
  context.on("request", (request) => {
    const { authorization = "" } = request.headers();
    if (authorization.startsWith("Bearer ")) recordTyped(authorization.split(".").at(-1));
  });
}

export interface TelemetryCollector {
  /** For gateway, service and identity provider. */
  readonly environment: Readonly<Record<"gateway" | "identity" | "service", Readonly<Record<string, string>>>>;
  /** Reads the metrics of the processes that run. */
  readMetrics(portal: RunningPortal): Promise<void>;
  /** Searches metrics, spans and logs, once the portal was stopped. */
  search(): Promise<TelemetrySearch>;
  close(): Promise<void>;
}

interface TelemetrySearch {
  /** Each typed text that was found, after the kind of what has it. */
  readonly findings: readonly string[];
  /** Of each kind, as proof that something was searched. */
  readonly metrics: string;
  readonly spans: string;
  readonly logs: string;
}

/** Receives spans by OTLP over HTTP (JSON) into the portal's data folder. */
export async function startTelemetryCollector(dataFolder: string): Promise<TelemetryCollector> {
  const folder = path.join(dataFolder, "telemetry");
  await mkdir(folder, { recursive: true });
  const collector = createServer((request, response) => {
    void text(request)
      .then((body) => appendFile(path.join(folder, "spans.jsonl"), `${body}\n`))
      .then(() => response.setHeader("content-type", "application/json").end("{}"))
      .catch(() => response.destroy()); // its process ended meanwhile
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`,
  };
  const readAll = async (parent: string, files: readonly string[]): Promise<string> =>
    (await Promise.all(files.map((file) => readFile(path.join(parent, file), "utf8")))).join("\n");
  return {
    environment: { gateway: variables, identity: variables, service: variables },
    async readMetrics({ processes }) {
      const tokenFile = await readFile(path.join(dataFolder, "keys/metrics.json"), "utf8");
      const { token } = JSON.parse(tokenFile) as { token: string };
      for (const name of ["gateway", "identity", "service"].filter(processes.isRunning)) {
        const response = await fetch(`http://localhost:${String(processes.getPort(name))}/metrics`, {
          headers: { authorization: `Bearer ${token}` },
        });
        if (!response.ok) throw new Error(`${name} has no metrics: ${String(response.status)}`);
        await writeFile(path.join(folder, `metrics-${name}.txt`), await response.text());
      }
    },
    async search() {
      const files = await readdir(folder);
      const logFolder = path.join(dataFolder, "logs");
      const kinds = {
        metrics: await readAll(
          folder,
          files.filter((file) => file.startsWith("metrics-")),
        ),
        spans: await readAll(folder, ["spans.jsonl"]),
        logs: await readAll(logFolder, await readdir(logFolder)),
      };
      const findings = Object.entries(kinds).flatMap(([kind, content]) =>
        [...typedTexts].filter((typedText) => content.includes(typedText)).map((typedText) => `${kind}: ${typedText}`),
      );
      return { findings, ...kinds };
    },
    async close() {
      collector.close();
      collector.closeAllConnections();
      await once(collector, "close");
    },
  };
}
