import type { HttpClient, HttpMethod, HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/**
 * Calls limited to the paths that a signed release declares, by whole segments: `/user` allows
 * `/user/me`, not `/users`. What is checked is what is sent: methods and paths are primitive
 * strings, and options are read once.
 */
export function createScopedHttpClient(http: HttpClient, paths: readonly string[]): HttpClient {
  const allowed = [...paths];
  return Object.freeze<HttpClient>({
    request: async (method, path, schema, options) => {
      requireAllowed(method, path, allowed);
      return http.request(method, path, schema, copyOptions(options));
    },
    stream: async (method, path, options) => {
      requireAllowed(method, path, allowed);
      return http.stream(method, path, copyOptions(options));
    },
  });
}

const methods: ReadonlySet<unknown> = new Set<HttpMethod>(["GET", "POST", "PUT", "PATCH", "DELETE"]);

function requireAllowed(method: unknown, path: unknown, paths: readonly string[]): void {
  if (!methods.has(method) || typeof path !== "string" || !isInside(path, paths)) throw new PortalError("forbidden");
}

/** Of an object whose members are functions of the remote, each call could give another value. */
function copyOptions(options: HttpRequestOptions = {}): HttpRequestOptions {
  const { body, query, headers, signal } = options;
  return {
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query: { ...query } }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Of letters, digits, `.`, `_`, `~` and `-` alone: in any other spelling what is fetched could be
 * another path than the one that is checked.
 */
const plainPath = /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/;

function isInside(path: string, paths: readonly string[]): boolean {
  return plainPath.test(path) && paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}
