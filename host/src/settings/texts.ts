import type { Language, ReleaseRecord } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { FetchTexts, Texts } from "@relicario/shared/i18n";
import { z } from "zod";

import type { VerifiedDeployment } from "../deployment/verify.ts";
import { releaseAddress } from "../deployment/integrity.ts";
import { loadLimits } from "../remotes/load-with-retry.ts";

const TextFile: z.ZodType<Texts> = z.record(z.string(), z.unknown());

/**
 * The namespaces of the host that the first screen needs. They are part of its code, so that they
 * need no remote.
 */
export async function hostTexts(language: Language): Promise<Readonly<Record<string, Texts>>> {
  const { texts } =
    language === "es"
      ? await import(/* webpackChunkName: "texts-es" */ "./texts-es.ts")
      : await import(/* webpackChunkName: "texts-en" */ "./texts-en.ts");
  return texts;
}

/** The host's other namespaces: those of screens and tours that are loaded lazily. */
const more: readonly string[] = ["help", "joyride"];

async function moreTexts(language: Language): Promise<Readonly<Record<string, Texts>>> {
  const { texts } = language === "es" ? await import("./more-texts-es.ts") : await import("./more-texts-en.ts");
  return texts;
}

/**
 * Texts of one remote that are fetched at once. A browser opens six connections to an origin over
 * HTTP/1.1: a slow remote leaves some.
 */
const textsAtOnce = 3;

/**
 * Fetches texts of remotes from the releases of the verified deployment. The hash of the signed
 * record is passed as integrity, so that the browser refuses a text that the team did not sign.
 * `remote_unreachable`, `remote_refused`.
 */
export function pinnedTexts(verified: VerifiedDeployment, origin: string, fetch: typeof globalThis.fetch): FetchTexts {
  /**
   * The browser may keep the wrong bytes of these as immutable: they are fetched past its cache.
   */
  const failed = new Set<string>();
  const queues = new Map<ReleaseRecord, Queue>();
  const queueOf = (record: ReleaseRecord): Queue => {
    const queue = queues.get(record) ?? createQueue(textsAtOnce);
    queues.set(record, queue);
    return queue;
  };
  return async (language, namespace) => {
    const own = (await (more.includes(namespace) ? moreTexts(language) : hostTexts(language)))[namespace];
    if (own !== undefined) return own;
    const record = ownerOf(verified, namespace);
    const file = `locales/${language}/${namespace}.json`;
    const integrity = record?.files[file];
    if (record === null || integrity === undefined) throw new PortalError("remote_refused");
    const address = `${releaseAddress(origin, record)}${file}`;
    return queueOf(record)(async () => {
      let response: Response;
      try {
        response = await fetch(address, {
          integrity,
          credentials: "omit",
          signal: AbortSignal.timeout(loadLimits.attemptMs),
          ...(failed.has(address) && { cache: "reload" }),
        });
      } catch (cause) {
        failed.add(address);
        throw new PortalError("remote_unreachable", { cause });
      }
      if (!response.ok) throw new PortalError("remote_unreachable");
      return TextFile.parse(await response.json());
    });
  };
}

type Queue = <T>(run: () => Promise<T>) => Promise<T>;

function createQueue(lanes: number): Queue {
  let ends: readonly Promise<unknown>[] = Array.from({ length: lanes }, () => Promise.resolve());
  return (run) => {
    const [first, ...others] = ends;
    const result = Promise.resolve(first).then(run);
    ends = [...others, result.catch(() => undefined)];
    return result;
  };
}

function ownerOf(verified: VerifiedDeployment, namespace: string): ReleaseRecord | null {
  for (const remote of verified.remotes.values()) {
    if (remote.status === "verified" && remote.record.manifest.namespaces.includes(namespace)) return remote.record;
  }
  return null;
}
