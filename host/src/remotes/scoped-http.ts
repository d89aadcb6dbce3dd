import type { Http } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/** Calls limited to the paths that a signed release declares, by whole segments: `/user` allows `/user/me`, not `/users`. */
export function scopedHttp(http: Http, paths: readonly string[]): Http {
  return Object.freeze<Http>({
    request: async (method, path, answer, options) => {
      if (!isInside(path, paths)) throw new PortalError("forbidden");
      return http.request(method, path, answer, options);
    },
  });
}

function isInside(path: string, paths: readonly string[]): boolean {
  if (/[\\%?#]|\/\/|(^|\/)\.{1,2}(\/|$)/.test(path)) return false; // no way around by another spelling
  return paths.some((allowed) => path === allowed || path.startsWith(`${allowed}/`));
}
