import type { Http, Language } from "@relicario/shared/contract";
import type { UserManager } from "oidc-client-ts";
import { z } from "zod";

import { fragmentNames } from "./fragment.ts";
import type { LockListeners } from "./lock-listeners.ts";
import type { SessionEvent } from "./machine.ts";
import { isFirstToSignOut, signOut } from "./sign-out.ts";
import { heldSession, type TokenExchange } from "./token-exchange.ts";

export interface SessionEndDeps {
  readonly manager: Pick<UserManager, "events" | "removeUser" | "revokeTokens" | "signoutRedirect">;
  readonly window: Pick<Window, "history" | "location" | "navigator" | "sessionStorage">;
  /** The other tabs of this origin; null where the browser has no such channel. */
  readonly channel: BroadcastChannel | null;
  readonly exchange: Pick<TokenExchange, "clear" | "getState">;
  /** Calls without a token of their own. */
  readonly publicHttp: Http;
  readonly lockListeners: Pick<LockListeners, "run">;
  readonly dispatch: (event: SessionEvent) => void;
  readonly stopRenewal: () => void;
  /** Clears the query cache and everything else that holds data of the person. */
  readonly clearCaches: () => void;
  readonly language: () => Language;
  readonly log: (step: string, error: unknown) => void;
}

/** Ending the session: by the person, in another tab, or at the provider. */
export interface SessionEnd {
  readonly signOut: () => Promise<void>;
  /** The session is being ended; this page will not be signed in again. */
  readonly hasBegun: () => boolean;
  /** The session ended in another tab or at the provider, and this page was loaded anew for that reason. */
  readonly endedElsewhere: () => boolean;
}

const signedOutMessage = "signed_out";

/** State of the history entry of a page that was loaded anew because the session ended elsewhere. */
const endedElsewhereMark = { signedOut: true } as const;
const EndedElsewhereMark = z.object({ signedOut: z.literal(true) });

export function createSessionEnd(deps: SessionEndDeps): SessionEnd {
  const { manager, window, channel, exchange, publicHttp, lockListeners, dispatch, log } = deps;
  const { location, history, sessionStorage: storage } = window;
  const endedElsewhere = EndedElsewhereMark.safeParse(history.state).success;
  let begun = false;

  const clearAll = (): void => {
    exchange.clear();
    deps.clearCaches();
    for (const key of fragmentNames) storage.removeItem(key);
  };

  /** Removes everything that belongs to the person and loads the page anew. */
  const startAnew = async (): Promise<void> => {
    deps.stopRenewal();
    await lockListeners.run("sign_out");
    clearAll();
    await manager.removeUser();
    history.replaceState(endedElsewhereMark, "", "/");
    location.reload();
  };

  /**
   * The session ended in another tab or at the provider. The page that is loaded anew does not go to the provider by itself: it
   * could be signed in again while the other tab has not ended the provider's session yet.
   */
  const handleEndElsewhere = async (): Promise<void> => {
    if (begun) return;
    begun = true;
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    await startAnew();
  };

  manager.events.addUserSignedOut(() => {
    void handleEndElsewhere();
  });
  channel?.addEventListener("message", ({ data }) => {
    if (data === signedOutMessage) void handleEndElsewhere();
  });

  return {
    hasBegun: () => begun,
    endedElsewhere: () => endedElsewhere,
    signOut: async () => {
      if (begun) return;
      begun = true;
      dispatch({ type: "navigator_started", navigator: "sign_out" });
      deps.stopRenewal();
      if (!(await isFirstToSignOut(window.navigator.locks))) {
        await startAnew();
        return;
      }
      await signOut({
        listeners: lockListeners,
        endProductSession: async () => {
          const held = heldSession(exchange.getState());
          if (held === null) return;
          await publicHttp.request("DELETE", "/auth/token", z.unknown(), { headers: { authorization: `Bearer ${held.token}` } });
        },
        revokeTokens: () => manager.revokeTokens(["access_token"]),
        clearCaches: clearAll,
        tellOtherTabs: () => channel?.postMessage(signedOutMessage),
        redirect: () => manager.signoutRedirect({ extraQueryParams: { ui_locales: deps.language() } }),
        leaveAnyway: async () => {
          await manager.removeUser();
          location.replace("/");
        },
        log,
      });
    },
  };
}
