import type { Http } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/** Calls limited to the paths that a signed release declares, by whole segments: `/user` allows `/user/me`, not `/users`. */
export function scopedHttp(http: Http, paths: readonly string[]): Http {
  return Object.freeze<Http>({
    request: async (method, path, answer, options) => {
      requireInside(path, paths);
      return http.request(method, path, answer, options);
    },
    stream: async (method, path, options) => {
      requireInside(path, paths);
      return http.stream(method, path, options);
    },
  });
}

function requireInside(path: string, paths: readonly string[]): void {
  if (!isInside(path, paths)) throw new PortalError("forbidden");
}

function isInside(path: string, paths: readonly string[]): boolean {
  if (/[\\%?#]|\/\/|(^|\/)\.{1,2}(\/|$)/.test(path)) return false; // other spellings of a path could bypass the check
  return paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}
