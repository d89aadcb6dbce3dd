import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

/**
 * What counts name: what the signed documents name, and `other` for whatever else somebody sends.
 */
export interface KnownReleases {
  /** Names under which something of this remote and release is counted. */
  readonly labelsOf: (key: {
    readonly remote: string;
    readonly release: string;
    readonly route?: string;
  }) => Promise<MeasurementLabels>;
}

export interface MeasurementLabels {
  readonly remote: string;
  readonly release: string;
  /** Empty where none was asked for. */
  readonly route: string;
}

interface KnownRelease {
  readonly remote: string;
  readonly routes: ReadonlySet<string>;
}

const otherLabel = "other";
/** All screens of the host are one. */
const hostRoute = "host";
/**
 * What is not known may have been signed since; documents are read again for it, at most so often.
 */
const minReadIntervalMilliseconds = 5_000;
/** Releases that a process remembers; a page may still run one that no document names any more. */
const maxReleases = 1_000;

const SignedDocument = z.object({ payload: z.string() });
const Deployment = z.object({ release_records: z.record(z.string(), z.string()) });
const ReleaseRecord = z.object({
  release: z.string(),
  manifest: z.object({ name: z.string(), routes: z.array(z.object({ path: z.string() })) }),
});

/**
 * @param folder of the documents, which the gateway serves; whoever can write there decides what
 *   code runs, so they are not verified here
 */
export function createKnownReleases(folder: string | undefined, hostVersion: string, now: () => Date): KnownReleases {
  const releases = new Map<string, KnownRelease>();
  let lastReadAt = Number.NEGATIVE_INFINITY;
  let pendingRead: Promise<void> | null = null;

  const readReleases = async (): Promise<void> => {
    if (folder === undefined) return;
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith(".json")) continue;
      // One that cannot be read is for the host to refuse: the others count.
      for (const { release, manifest } of await readRecords(join(folder, name)).catch(() => [])) {
        if (releases.has(release) || releases.size < maxReleases)
          releases.set(release, { remote: manifest.name, routes: new Set(manifest.routes.map(({ path }) => path)) });
      }
    }
  };

  return {
    async labelsOf({ remote, release, route }) {
      if (remote === "host")
        return {
          remote,
          release: release === hostVersion ? release : otherLabel,
          route: route === undefined ? "" : hostRoute,
        };
      const timestamp = now().getTime();
      if (!releases.has(release) && timestamp - lastReadAt >= minReadIntervalMilliseconds) {
        lastReadAt = timestamp;
        pendingRead = readReleases();
      }
      await pendingRead;
      const knownRelease = releases.get(release);
      if (knownRelease?.remote !== remote)
        return { remote: otherLabel, release: otherLabel, route: route === undefined ? "" : otherLabel };
      return { remote, release, route: route === undefined ? "" : knownRelease.routes.has(route) ? route : otherLabel };
    },
  };
}

async function readRecords(file: string): Promise<z.infer<typeof ReleaseRecord>[]> {
  const { payload } = SignedDocument.parse(JSON.parse(await readFile(file, "utf8")));
  return Object.values(Deployment.parse(parseB64uJson(payload)).release_records).flatMap((record) => {
    const parsed = ReleaseRecord.safeParse(parseB64uJson(record.split(".")[1] ?? ""));
    return parsed.success ? [parsed.data] : [];
  });
}

function parseB64uJson(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
