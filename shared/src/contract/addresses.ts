import { z } from "zod";

/** `https:`, or `http:` on this machine, which browsers trust in the same way. */
export const SecureUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((address) => isSecure(new URL(address)), "is neither https nor on this machine");

export const Origin = SecureUrl.refine((address) => new URL(address).origin === address, "is not an origin");

/**
 * Host names of at least two labels. The last label is not a number, so IP addresses do not match.
 */
const domain = /^[^.]+(?:\.[^.]+)*\.(?![0-9]+$)[^.]+$/;

/**
 * Whether the names of both origins allow the second as the origin of the portal's vault. It must
 * be another origin of the same site, of one of these kinds:
 * - The portal's host with another port, only on this machine.
 * - A host below the portal's host.
 * - A host below the parent domain of the portal's host, if that domain has at least two labels.
 *
 * Only browsers know which of these domains are public suffixes. So the gateway checks
 * `Sec-Fetch-Site`.
 *
 * @param portalOrigin an {@link Origin}, like `vaultOrigin`
 */
export function isSameSiteVault(portalOrigin: string, vaultOrigin: string): boolean {
  const portal = new URL(portalOrigin);
  const vault = new URL(vaultOrigin);
  if (portal.origin === vault.origin || portal.protocol !== vault.protocol) return false;
  if (portal.hostname === vault.hostname) return isLoopback(portal.hostname);
  if (!domain.test(portal.hostname)) return false;
  const parent = portal.hostname.slice(portal.hostname.indexOf(".") + 1);
  return (
    vault.hostname.endsWith(`.${portal.hostname}`) || (domain.test(parent) && vault.hostname.endsWith(`.${parent}`))
  );
}

function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || isLoopback(hostname);
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
