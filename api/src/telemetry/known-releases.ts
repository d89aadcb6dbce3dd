import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

/**
 * Resolves labels of measurements to names in the signed documents, and everything else to `other`.
 */
export interface KnownReleases {
  /** Labels for a remote and release. */
  readonly resolveLabels: (key: {
    readonly remote: string;
    readonly release: string;
    readonly route?: string;
  }) => Promise<MeasurementLabels>;
}

export interface MeasurementLabels {
  readonly remote: string;
  readonly release: string;
  /** Empty if none was given. */
  readonly route: string;
}

interface KnownRelease {
  readonly remote: string;
  readonly routes: ReadonlySet<string>;
}

const otherLabel = "other";
/** All screens of the host count as one. */
const hostRoute = "host";
/**
 * Least time between two readings of the documents. An unknown release causes one, since it may be
 * in a newer document.
 */
const minReadIntervalMilliseconds = 5_000;
/** Cached per process, since a page may still run a release that no document names any more. */
const maxReleases = 1_000;

const SignedDocument = z.object({ payload: z.string() });
const Deployment = z.object({ release_records: z.record(z.string(), z.string()) });
const ReleaseRecord = z.object({
  release: z.string(),
  manifest: z.object({ name: z.string(), routes: z.array(z.object({ path: z.string() })) }),
});

/**
 * @param folder of the documents that the gateway serves. They are not verified: anyone who can
 *   write there decides what code runs.
 */
export function createKnownReleases(folder: string | undefined, hostVersion: string, now: () => Date): KnownReleases {
  const releases = new Map<string, KnownRelease>();
  let lastReadAt = Number.NEGATIVE_INFINITY;
  let pendingRead: Promise<void> | null = null;

  const readReleases = async (): Promise<void> => {
    if (folder === undefined) return;
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith(".json")) continue;
      // Skips unreadable documents: the host refuses them.
      for (const { release, manifest } of await readRecords(join(folder, name)).catch(() => [])) {
        if (releases.has(release) || releases.size < maxReleases)
          releases.set(release, { remote: manifest.name, routes: new Set(manifest.routes.map(({ path }) => path)) });
      }
    }
  };

  return {
    async resolveLabels({ remote, release, route }) {
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
