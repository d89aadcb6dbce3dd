import type { RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

const HttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });

/**
 * Base URLs: the service (`api`), remotes by name, and all others by the pattern `*`, in which `*`
 * is replaced by the name.
 */
export const Upstreams = z.object({ api: HttpUrl, "*": HttpUrl.includes("*").optional() }).catchall(HttpUrl);
export type Upstreams = z.infer<typeof Upstreams>;

/** @throws TypeError for a remote without a URL */
export function resolveRemoteAddresses(
  upstreams: Upstreams,
  names: readonly RemoteName[],
): ReadonlyMap<RemoteName, string> {
  return new Map(
    names.map((name) => {
      const address = Object.hasOwn(upstreams, name) ? upstreams[name] : upstreams["*"]?.replace("*", name);
      if (address === undefined) throw new TypeError(`there is no address of ${name}`);
      return [name, address];
    }),
  );
}
