import { isGuarded, mayLeave } from "@relicario/shared/contract";
import { startTransition, useLayoutEffect, useState, type ReactNode } from "react";
import { NavigationType, parsePath, Router, UNSAFE_createBrowserHistory as createBrowserHistory, type Navigator, type To } from "react-router-dom";

type BrowserHistory = ReturnType<typeof createBrowserHistory>;
type Change = Parameters<Parameters<BrowserHistory["listen"]>[0]>[0];

/** The addresses of the page. A screen that holds something unsaved is asked before another path is shown: contract/leaving.ts. */
export function PortalRouter({ children }: { readonly children: ReactNode }) {
  const [history] = useState(() => createBrowserHistory({ window, v5Compat: true }));
  const [{ action, location }, show] = useState({ action: history.action, location: history.location });
  const [{ navigator, watch }] = useState(() => guarded(history));
  useLayoutEffect(
    () =>
      watch((change) => {
        startTransition(() => {
          show(change);
        });
      }),
    [watch],
  );
  return (
    <Router location={location} navigationType={action} navigator={navigator}>
      {children}
    </Router>
  );
}

interface GuardedHistory {
  readonly navigator: Navigator;
  readonly watch: (show: (change: Change) => void) => () => void;
}

function guarded(history: BrowserHistory): GuardedHistory {
  /** The path that is on the screen; the address may be ahead of it while somebody is asked. */
  let shown = history.location.pathname;
  let asking = false;
  /** A step of ours is under way: back to what is on the screen, and then this is asked; or on, after the answer. */
  let ours: { readonly then: () => void } | "redo" | null = null;

  const leave = (pathname: string, go: () => void): void => {
    if (pathname === shown || !isGuarded()) {
      go();
      return;
    }
    if (asking) return; // one question at a time
    asking = true;
    void mayLeave(pathname)
      .then((may) => {
        if (may) go();
      })
      .finally(() => {
        asking = false;
      });
  };

  return {
    navigator: {
      createHref: (to) => history.createHref(to),
      encodeLocation: (to) => new URL(history.createHref(to), window.location.origin),
      go: (steps) => {
        history.go(steps);
      },
      push: (to, state) => {
        leave(pathOf(to, shown), () => {
          history.push(to, state);
        });
      },
      replace: (to, state) => {
        leave(pathOf(to, shown), () => {
          history.replace(to, state);
        });
      },
    },
    watch: (show) => {
      const accept = (change: Change) => {
        shown = change.location.pathname;
        show(change);
      };
      return history.listen((change) => {
        const { delta } = change;
        if (ours !== null && ours !== "redo") {
          const { then } = ours;
          ours = null;
          then();
          return;
        }
        // What `push` and `replace` did was asked before; the browser's own buttons have already gone.
        if (ours === "redo" || change.action !== NavigationType.Pop || delta === null || change.location.pathname === shown || !isGuarded()) {
          ours = null;
          accept(change);
          return;
        }
        const then = () => {
          leave(change.location.pathname, () => {
            ours = "redo";
            history.go(delta);
          });
        };
        ours = { then };
        history.go(-delta);
      });
    },
  };
}

function pathOf(to: To, shown: string): string {
  return (typeof to === "string" ? parsePath(to) : to).pathname ?? shown;
}
