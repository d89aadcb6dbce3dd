/**
 * Lists the scripts that may run in this page: the host's own files, by the hashes in the page, and
 * the files of verified releases. Loads before everything else, so it imports only types.
 *
 * Calls after remotes ran use no method of a prototype: a remote could have replaced it, and so
 * allow any script.
 */
import type { ReleaseRecord } from "@relicario/shared/contract";

/** A hash that no file has. With it an unsigned script fails like a script whose hash differs. */
export const impossibleIntegrity = `sha384-${"A".repeat(64)}`;

/** Without a prototype: what a remote adds to `Object.prototype` is no hash. */
const integrityByUrl = Object.create(null) as Record<string, string | undefined>;

export function getReleaseUrl(origin: string, record: ReleaseRecord): string {
  return `${origin}/r/${record.manifest.name}/${record.release}/`;
}

/** Allows the files below `baseUrl`, each with its hash. */
export function allowFiles(baseUrl: string, files: Readonly<Record<string, string>>): void {
  for (const [file, integrity] of Object.entries(files)) integrityByUrl[baseUrl + file] = integrity;
}

/** The signed hash of a URL, or {@link impossibleIntegrity}. */
export function getIntegrity(url: string): string {
  return integrityByUrl[url] ?? impossibleIntegrity;
}

/** The part of the Trusted Types API used here. https://w3c.github.io/trusted-types/dist/spec/ */
interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (address: string) => string | null },
  ) => unknown;
}

export interface ScriptGlobals {
  readonly location: { readonly origin: string };
  readonly trustedTypes?: TrustedTypes;
}

/**
 * Lets webpack's code look hashes up, and installs the default policy of Trusted Types: a script or
 * worker must be an allowed file. No string becomes HTML or script.
 *
 * @param ownFiles JSON from the page: hashes of the host's files by path
 */
export function guardScripts(globals: ScriptGlobals, functionName: string, ownFiles: string): void {
  const { origin } = globals.location;
  const files: unknown = JSON.parse(ownFiles);
  if (typeof files === "object" && files !== null) {
    for (const [path, integrity] of Object.entries(files))
      if (typeof integrity === "string") integrityByUrl[origin + path] = integrity;
  }
  Object.defineProperty(globals, functionName, { value: getIntegrity });
  globals.trustedTypes?.createPolicy("default", {
    // null: the browser refuses and reports it
    createScriptURL: (address) =>
      (integrityByUrl[address] ?? integrityByUrl[origin + address]) === undefined ? null : address,
  });
}
