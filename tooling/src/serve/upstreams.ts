import type { RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

const HttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });

/**
 * Addresses as the gateway reaches them: the service (`api`), remotes by name, and of all others by
 * one pattern, `*`, in which `*` stands for the name.
 */
export const Upstreams = z.object({ api: HttpUrl, "*": HttpUrl.includes("*").optional() }).catchall(HttpUrl);
export type Upstreams = z.infer<typeof Upstreams>;

/** Where each of these remotes is. Throws for one that has no address. */
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
