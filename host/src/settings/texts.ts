import type { Language, ReleaseRecord } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { FetchTexts, Texts } from "@relicario/shared/i18n";
import { z } from "zod";

import type { VerifiedDeployment } from "../deployment/verify.ts";
import { getReleaseUrl } from "../deployment/integrity.ts";
import { loadLimits } from "../remotes/load-with-retry.ts";

const TextFile: z.ZodType<Texts> = z.record(z.string(), z.unknown());

/**
 * Loads the host's namespaces that the first screen needs. They are bundled with the host's code,
 * so that no remote is needed for them.
 */
export async function loadHostTexts(language: Language): Promise<Readonly<Record<string, Texts>>> {
  const { texts } =
    language === "es"
      ? await import(/* webpackChunkName: "texts-es" */ "./texts-es.ts")
      : await import(/* webpackChunkName: "texts-en" */ "./texts-en.ts");
  return texts;
}

/** Namespaces of the host's lazily loaded screens and tours. */
const lazyNamespaces: readonly string[] = ["help", "joyride"];

async function loadLazyTexts(language: Language): Promise<Readonly<Record<string, Texts>>> {
  const { texts } = language === "es" ? await import("./lazy-texts-es.ts") : await import("./lazy-texts-en.ts");
  return texts;
}

/**
 * Maximum number of concurrent fetches of a remote's texts. Over HTTP/1.1 a browser opens six
 * connections per origin, so a remote that does not respond leaves some of them.
 */
const maxParallelTexts = 3;

/**
 * Creates a function that fetches remotes' texts from the releases of the verified deployment. It
 * passes the signed hash as integrity, so that the browser refuses other bytes. It rejects with
 * `remote_unreachable` or `remote_refused`.
 */
export function createTextFetcher(
  verified: VerifiedDeployment,
  origin: string,
  fetch: typeof globalThis.fetch,
): FetchTexts {
  /**
   * URLs of failed texts. Their next fetch bypasses the browser's cache, which may have stored
   * wrong bytes as immutable.
   */
  const failedUrls = new Set<string>();
  const limiters = new Map<ReleaseRecord, ConcurrencyLimiter>();
  const getLimiter = (record: ReleaseRecord): ConcurrencyLimiter => {
    const limiter = limiters.get(record) ?? createConcurrencyLimiter(maxParallelTexts);
    limiters.set(record, limiter);
    return limiter;
  };
  return async (language, namespace) => {
    const hostText = (await (lazyNamespaces.includes(namespace) ? loadLazyTexts(language) : loadHostTexts(language)))[
      namespace
    ];
    if (hostText !== undefined) return hostText;
    const record = findOwner(verified, namespace);
    const file = `locales/${language}/${namespace}.json`;
    const integrity = record?.files[file];
    if (record === null || integrity === undefined) throw new PortalError("remote_refused");
    const address = `${getReleaseUrl(origin, record)}${file}`;
    return getLimiter(record)(async () => {
      let response: Response;
      try {
        response = await fetch(address, {
          integrity,
          credentials: "omit",
          signal: AbortSignal.timeout(loadLimits.attemptMs),
          ...(failedUrls.has(address) && { cache: "reload" }),
        });
      } catch (cause) {
        failedUrls.add(address);
        throw new PortalError("remote_unreachable", { cause });
      }
      if (!response.ok) throw new PortalError("remote_unreachable");
      return TextFile.parse(await response.json());
    });
  };
}

type ConcurrencyLimiter = <T>(run: () => Promise<T>) => Promise<T>;

function createConcurrencyLimiter(concurrency: number): ConcurrencyLimiter {
  let tails: readonly Promise<unknown>[] = Array.from({ length: concurrency }, () => Promise.resolve());
  return (run) => {
    const [first, ...others] = tails;
    const result = Promise.resolve(first).then(run);
    tails = [...others, result.catch(() => undefined)];
    return result;
  };
}

function findOwner(verified: VerifiedDeployment, namespace: string): ReleaseRecord | null {
  for (const remote of verified.remotes.values()) {
    if (remote.status === "verified" && remote.record.manifest.namespaces.includes(namespace)) return remote.record;
  }
  return null;
}
