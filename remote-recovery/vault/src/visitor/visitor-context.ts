import type { Engine } from "@relicario/engine";
import { base64urlBytes, fromBase64url } from "@relicario/shared/api";
import type { HttpClient, LinkSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import { createClaims, type ViewClaims } from "../service/claims.ts";
import type { Pause } from "../service/send-with-retry.ts";

/**
 * The visitor of one page, as its worker holds it between operations. Nothing that it is made of
 * leads to an account.
 */
export interface VisitorContext {
  readonly http: HttpClient;
  readonly engine: Engine;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly pause: Pause;
  readonly claims: ViewClaims;
  /** The link that was opened in this tab; null while there was none. */
  readonly getLink: () => Promise<Link | null>;
}

interface Link {
  /** Of the address, without a slash at its end. */
  readonly path: string;
  /** 32 bytes. Secret. */
  readonly key: Bytes;
}

export interface VisitorDeps extends Omit<VisitorContext, "getLink" | "claims"> {
  /** Gives what the link carried, once. */
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

const LinkKey = base64urlBytes(32, { exact: true });

export function openVisitorContext({ takeLinkSecret, ...deps }: VisitorDeps): VisitorContext {
  let linkPromise: Promise<Link | null> | null = null;
  return {
    ...deps,
    claims: createClaims(deps.now),
    getLink: async () => {
      const current = (linkPromise ??= takeLinkSecret().then(parseLink));
      const link = await current.catch((error: unknown) => {
        if (linkPromise === current) linkPromise = null;
        throw error;
      });
      if (link === null && linkPromise === current) linkPromise = null; // one may be opened yet
      return link;
    },
  };
}

/**
 * The link key of one of these paths.
 *
 * @returns 32 bytes that stay the context's: do not wipe them.
 * @throws PortalError `link_incomplete` when the link had none, or was that of another path.
 */
export async function requireLinkKey(visitor: VisitorContext, ...paths: readonly string[]): Promise<Bytes> {
  const link = await visitor.getLink();
  if (link === null || !paths.includes(link.path)) throw new PortalError("link_incomplete");
  return link.key;
}

function parseLink(secret: LinkSecret | null): Link | null {
  if (secret === null || !LinkKey.safeParse(secret.s).success) return null;
  return { path: secret.path.replace(/\/$/, ""), key: fromBase64url(secret.s) };
}
