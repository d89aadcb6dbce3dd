import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

/** Shown to the account's owner: enough to recognise a sign-in, too little to locate a person. */
export interface CallerInfo {
  /** Browser and system by its user agent; null when unknown. */
  readonly device: string | null;
  readonly address: string | null;
}

export function readCallerInfo({ headers, ip }: Pick<FastifyRequest, "headers" | "ip">): CallerInfo {
  return { device: parseDevice(headers["user-agent"] ?? ""), address: shortenAddress(ip) };
}

/** Order matters: most browsers name others too. */
const browsers: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
];
const systems: readonly (readonly [string, RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
];

/** Uses only names of these lists: nothing from the header is stored or shown. */
export function parseDevice(userAgent: string): string | null {
  const names = [browsers, systems].flatMap((list) => list.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? []);
  return names.length === 0 ? null : names.join(", ");
}

/**
 * An IPv4 address without its last number, an IPv6 one as its first three groups of eight; null for
 * anything else.
 */
export function shortenAddress(address: string): string | null {
  if (isIP(address) === 0) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6)
    return `${parsed.parts
      .slice(0, 3)
      .map((part) => part.toString(16))
      .join(":")}:x`;
  return `${parsed.octets.slice(0, 3).join(".")}.x`;
}
