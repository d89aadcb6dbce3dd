import type { PortalForVisitors, Visitor } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import type { ParsedModule } from "./remote-module.ts";

export interface VisitorSource {
  /**
   * The visitor of the page at this path, created by the first call; closes one of another path.
   * Rejects as the vault's source does; the next call tries again.
   */
  readonly get: (pathname: string) => Promise<Visitor>;
  /**
   * Sets the path of the page opened by a link, null on other pages. Closes the visitor of another
   * path.
   */
  readonly setActivePath: (pathname: string | null) => void;
  /**
   * Closes the visitor, if there is one. The next call of `get` creates a new visitor, which does
   * not have the link key.
   */
  readonly close: () => void;
}

export interface VisitorSourceDeps {
  readonly loadRecovery: () => Promise<Pick<ParsedModule, "provides">>;
  /** The portal that the visitor of this path gets. */
  readonly createVisitorPortal: (pathname: string) => Promise<PortalForVisitors>;
}

/**
 * Loads the recovery remote on demand, and calls its visitor factory once for each page opened by a
 * link.
 */
export function createVisitorSource({ loadRecovery, createVisitorPortal }: VisitorSourceDeps): VisitorSource {
  let currentVisitor: { readonly pathname: string; readonly promise: Promise<Visitor> } | null = null;

  const createVisitor = async (pathname: string): Promise<Visitor> => {
    try {
      const [{ provides }, visitorPortal] = await Promise.all([loadRecovery(), createVisitorPortal(pathname)]);
      if (provides?.visitor === undefined) throw new PortalError("remote_refused");
      return await provides.visitor(visitorPortal);
    } catch (error) {
      const { code } = toPortalError(error);
      if (code === "remote_incompatible") throw error; // reloading helps, trying again does not
      throw new PortalError("vault_unavailable", { cause: error, details: { reason: code } });
    }
  };

  const close = () => {
    const previous = currentVisitor;
    currentVisitor = null;
    previous?.promise.then(
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
      if (currentVisitor !== null) return currentVisitor.promise;
      const entry = { pathname, promise: createVisitor(pathname) };
      currentVisitor = entry;
      entry.promise.catch(() => {
        if (currentVisitor === entry) currentVisitor = null;
      });
      return entry.promise;
    },
    setActivePath,
    close,
  });
}
