import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

/**
 * What counts name: what the signed documents name, and `other` for whatever else somebody sends.
 */
export interface KnownReleases {
  /** Names under which something of this remote and release is counted. */
  readonly labelsOf: (asked: {
    readonly remote: string;
    readonly release: string;
    readonly route?: string;
  }) => Promise<Labels>;
}

export interface Labels {
  readonly remote: string;
  readonly release: string;
  /** Empty where none was asked for. */
  readonly route: string;
}

interface KnownRelease {
  readonly remote: string;
  readonly routes: ReadonlySet<string>;
}

const other = "other";
/** All screens of the host are one. */
const hostRoute = "host";
/**
 * What is not known may have been signed since; documents are read again for it, at most so often.
 */
const readAgainMs = 5_000;
/** Releases that a process remembers; a page may still run one that no document names any more. */
const mostReleases = 1_000;

const Signed = z.object({ payload: z.string() });
const Deployment = z.object({ release_records: z.record(z.string(), z.string()) });
const Record = z.object({
  release: z.string(),
  manifest: z.object({ name: z.string(), routes: z.array(z.object({ path: z.string() })) }),
});

/**
 * @param folder of the documents, which the gateway serves; whoever can write there decides what
 *   code runs, so they are not verified here
 */
export function createKnownReleases(folder: string | undefined, hostVersion: string, now: () => Date): KnownReleases {
  const known = new Map<string, KnownRelease>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const read = async (): Promise<void> => {
    if (folder === undefined) return;
    for (const name of await readdir(folder).catch(() => [])) {
      if (!name.endsWith(".json")) continue;
      // One that cannot be read is for the host to refuse: the others count.
      for (const { release, manifest } of await recordsOf(join(folder, name)).catch(() => [])) {
        if (known.has(release) || known.size < mostReleases)
          known.set(release, { remote: manifest.name, routes: new Set(manifest.routes.map(({ path }) => path)) });
      }
    }
  };

  return {
    async labelsOf({ remote, release, route }) {
      if (remote === "host")
        return {
          remote,
          release: release === hostVersion ? release : other,
          route: route === undefined ? "" : hostRoute,
        };
      const at = now().getTime();
      if (!known.has(release) && at - readAt >= readAgainMs) {
        readAt = at;
        reading = read();
      }
      await reading;
      const found = known.get(release);
      if (found?.remote !== remote) return { remote: other, release: other, route: route === undefined ? "" : other };
      return { remote, release, route: route === undefined ? "" : found.routes.has(route) ? route : other };
    },
  };
}

async function recordsOf(file: string): Promise<z.infer<typeof Record>[]> {
  const { payload } = Signed.parse(JSON.parse(await readFile(file, "utf8")));
  return Object.values(Deployment.parse(fromB64u(payload)).release_records).flatMap((record) => {
    const parsed = Record.safeParse(fromB64u(record.split(".")[1] ?? ""));
    return parsed.success ? [parsed.data] : [];
  });
}

function fromB64u(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
