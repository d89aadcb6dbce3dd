import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

/**
 * What counts as one address: an IPv4 one (mapped into IPv6 too), or the /64 of an IPv6 one, of
 * which each line has at least one.
 */
export function getAddressGroup(address: string | undefined): string {
  if (address === undefined || isIP(address) === 0) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")
    : parsed.toString();
}
