/**
 * Which scripts may run in this page: the host's own files, by the hashes that its page names, and
 * those of verified releases. Loaded before everything else, so it imports nothing that runs.
 */
import type { ReleaseRecord } from "@relicario/shared/contract";

/** A hash that no file has: what nobody signed fails like any script whose hash differs. */
export const impossibleIntegrity = `sha384-${"A".repeat(64)}`;

/** Hashes by address. */
const integrityByUrl = new Map<string, string>();

/** Where the files of a release lie. */
export function getReleaseUrl(origin: string, record: ReleaseRecord): string {
  return `${origin}/r/${record.manifest.name}/${record.release}/`;
}

/** Allows files below `base`, each with its hash. */
export function allowFiles(baseUrl: string, files: Readonly<Record<string, string>>): void {
  for (const [file, integrity] of Object.entries(files)) integrityByUrl.set(baseUrl + file, integrity);
}

/** The hash that was signed for an address, or {@link impossibleIntegrity}. */
export function getIntegrity(url: string): string {
  return integrityByUrl.get(url) ?? impossibleIntegrity;
}

/** Of the Trusted Types API, what is used here. https://w3c.github.io/trusted-types/dist/spec/ */
interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (address: string, type: string, sink: string) => string | null },
  ) => unknown;
}

export interface ScriptGlobals {
  readonly location: { readonly origin: string };
  readonly trustedTypes?: TrustedTypes;
}

/**
 * Gives webpack's code the way to ask for hashes, and makes the default policy of Trusted Types: a
 * script has the address of an allowed file, a worker that of a blob of this page. No text becomes
 * HTML or script.
 *
 * @param ownFiles JSON of the page: hashes of the host's files by their paths
 */
export function guardScripts(globals: ScriptGlobals, functionName: string, ownFiles: string): void {
  const files: unknown = JSON.parse(ownFiles);
  if (typeof files === "object" && files !== null) {
    for (const [path, integrity] of Object.entries(files))
      if (typeof integrity === "string") integrityByUrl.set(globals.location.origin + path, integrity);
  }
  Object.defineProperty(globals, functionName, { value: getIntegrity });
  globals.trustedTypes?.createPolicy("default", {
    createScriptURL: (address, _type, sink) => {
      const allowed =
        sink === "Worker constructor"
          ? address.startsWith(`blob:${globals.location.origin}/`)
          : integrityByUrl.has(new URL(address, globals.location.origin).href);
      return allowed ? address : null; // null: the browser refuses it, and reports it
    },
  });
}
