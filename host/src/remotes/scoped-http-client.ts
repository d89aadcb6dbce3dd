import { plainPath, type HttpClient, type HttpMethod, type HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/**
 * Limits calls to the paths that a signed release declares, and the paths below them: `/user`
 * allows `/user/me`, not `/users`.
 *
 * A remote cannot change a call after the check: methods and paths must be primitive strings, and
 * options are read once.
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

/** Copies the options, because a remote's getters could return another value at each read. */
function copyOptions(options: HttpRequestOptions = {}): HttpRequestOptions {
  const { body, query, headers, signal } = options;
  return {
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query: { ...query } }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function isInside(path: string, paths: readonly string[]): boolean {
  return plainPath.test(path) && paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}
