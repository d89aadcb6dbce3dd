import { isIP } from "node:net";

import proxyAddr from "@fastify/proxy-addr";
import ipaddr from "ipaddr.js";
import { z } from "zod";

/** Whether the `X-Forwarded-…` headers of this address are trusted. */
export type ProxyTrustCheck = (address: string, hop: number) => boolean;

/**
 * Trusted proxies, as in the service: `loopback`, `linklocal`, `uniquelocal`, addresses or
 * networks, separated by commas. Empty: none.
 */
export const TrustedProxies = z.string().transform((names, context): ProxyTrustCheck => {
  if (names.trim() === "") return () => false;
  try {
    return proxyAddr.compile(names.split(",").map((name) => name.trim()));
  } catch {
    context.addIssue({ code: "custom", message: "names something that is neither an address nor a network" });
    return z.NEVER;
  }
});

/** IPv4 mapped into IPv6 becomes IPv4. Other texts are returned unchanged. */
export function normalizeAddress(address: string): string {
  return isIP(address) !== 0 ? ipaddr.process(address).toString() : address;
}

/**
 * Returns what limits count as one IP address: of IPv6 the /64, the smallest network that a line
 * gets.
 */
export function getClientNetwork(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : parsed.toString();
}
