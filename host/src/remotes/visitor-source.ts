import { sharedDownloadPath } from "@relicario/shared/api";
import type { PortalForVisitors, Visitor } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import type { LoadedModule } from "./remote-module.ts";
import { createScopedHttpClient } from "./scoped-http.ts";

/**
 * All that a visitor calls: to look at a share, open it and fetch its content, and to answer a
 * request. A link for signed-in people is opened with the session's token, which leads no further
 * than this.
 */
const visitorPaths = [
  "/share/get-public-secret",
  "/share/get-secret",
  sharedDownloadPath,
  "/requests/get",
  "/requests/answer",
];

export interface VisitorSource {
  /**
   * The visitor of the page at this path, created by the first call. One of another path is closed.
   * Rejects with `vault_unavailable`; the next call tries again.
   */
  readonly get: (pathname: string) => Promise<Visitor>;
  /**
   * Tells which page opened by a link is shown now, if any: a visitor of another path is closed.
   */
  readonly setActivePath: (pathname: string | null) => void;
  /** Closes the visitor, if there is one: the next call creates another, which has no link key. */
  readonly close: () => void;
}

export interface VisitorSourceDeps {
  readonly loadRecovery: () => Promise<Pick<LoadedModule, "provides">>;
  /** The portal as the visitor of this path sees it. */
  readonly portal: (pathname: string) => Promise<PortalForVisitors>;
}

/**
 * Loads the recovery remote on demand and calls its visitor factory once for each page opened by a
 * link.
 */
export function createVisitorSource({ loadRecovery, portal }: VisitorSourceDeps): VisitorSource {
  let currentVisitor: { readonly pathname: string; readonly visitor: Promise<Visitor> } | null = null;

  const createVisitor = async (pathname: string): Promise<Visitor> => {
    try {
      const [{ provides }, visitorPortal] = await Promise.all([loadRecovery(), portal(pathname)]);
      if (provides?.visitor === undefined) throw new PortalError("remote_refused");
      return await provides.visitor({
        ...visitorPortal,
        http: createScopedHttpClient(visitorPortal.http, visitorPaths),
      });
    } catch (error) {
      const { code } = toPortalError(error);
      throw new PortalError("vault_unavailable", { cause: error, details: { reason: code } });
    }
  };

  const close = () => {
    const previous = currentVisitor;
    currentVisitor = null;
    previous?.visitor.then(
      (visitor) => {
        visitor.close();
      },
      () => undefined, // one that failed to load holds nothing
    );
  };

  const setActivePath = (pathname: string | null) => {
    if (currentVisitor?.pathname !== pathname) close();
  };

  return Object.freeze<VisitorSource>({
    get: (pathname) => {
      setActivePath(pathname);
      if (currentVisitor !== null) return currentVisitor.visitor;
      const entry = { pathname, visitor: createVisitor(pathname) };
      currentVisitor = entry;
      entry.visitor.catch(() => {
        if (currentVisitor === entry) currentVisitor = null;
      });
      return entry.visitor;
    },
    setActivePath,
    close,
  });
}
