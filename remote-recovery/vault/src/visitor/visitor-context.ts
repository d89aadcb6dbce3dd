import type { Engine } from "@relicario/engine";
import { base64urlBytes, fromBase64url } from "@relicario/shared/api";
import type { HttpClient, LinkSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import { createClaims, type ViewClaims } from "../service/claims.ts";
import type { Pause } from "../service/send-with-retry.ts";

/** State of a page opened by a link, in its worker. Has no access to an account. */
export interface VisitorContext {
  readonly http: HttpClient;
  readonly engine: Engine;
  /** Milliseconds since 1970 */
  readonly now: () => number;
  readonly pause: Pause;
  readonly claims: ViewClaims;
  /** Returns the link that was opened in this tab; null if there is none. */
  readonly getLink: () => Promise<Link | null>;
}

interface Link {
  /** Path of the URL, without a trailing slash. */
  readonly path: string;
  /** 32 bytes. Secret. */
  readonly key: Bytes;
}

export interface VisitorDeps extends Omit<VisitorContext, "getLink" | "claims"> {
  /** Returns the link's secret once, then null. */
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

const LinkKey = base64urlBytes(32, { exact: true });

export function openVisitorContext({ takeLinkSecret, ...deps }: VisitorDeps): VisitorContext {
  let linkPromise: Promise<Link | null> | null = null;
  return {
    ...deps,
    claims: createClaims(deps.now),
    getLink: async () => {
      const currentPromise = (linkPromise ??= takeLinkSecret().then(parseLink));
      const link = await currentPromise.catch((error: unknown) => {
        if (linkPromise === currentPromise) linkPromise = null;
        throw error;
      });
      if (link === null && linkPromise === currentPromise) linkPromise = null; // a link may still be opened
      return link;
    },
  };
}

/**
 * Returns the link key if the link has one of these paths.
 *
 * @returns 32 bytes, which the caller must not wipe because the context still uses them
 * @throws PortalError `link_incomplete` without a key, or for another path
 */
export async function requireLinkKey(visitor: VisitorContext, ...paths: readonly string[]): Promise<Bytes> {
  const link = await visitor.getLink();
  if (link === null || !paths.includes(link.path)) throw new PortalError("link_incomplete");
  return link.key;
}

function parseLink(linkSecret: LinkSecret | null): Link | null {
  if (linkSecret === null || !LinkKey.safeParse(linkSecret.s).success) return null;
  return { path: linkSecret.path.replace(/\/$/, ""), key: fromBase64url(linkSecret.s) };
}
