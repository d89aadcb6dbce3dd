import type { HttpClient, Language } from "@relicario/shared/contract";
import type { UserManager } from "oidc-client-ts";
import { z } from "zod";

import type { Person } from "../device/accounts.ts";
import type { SessionEndKind, Sweeps } from "../device/sweeps.ts";
import { withTimeout } from "./with-timeout.ts";
import { storedParameterNames } from "./fragment.ts";
import type { LockListeners } from "./lock-listeners.ts";
import type { SessionEvent } from "./machine.ts";
import { isFirstToSignOut, signOut, signOutStepLimitMs } from "./sign-out.ts";
import type { Tabs } from "./tabs.ts";
import { getSessionToken, type TokenExchange } from "./token-exchange.ts";

export interface SessionEndDeps {
  readonly manager: Pick<UserManager, "events" | "removeUser" | "revokeTokens" | "signoutRedirect">;
  readonly window: Pick<Window, "history" | "location" | "navigator" | "sessionStorage">;
  readonly tabs: Tabs;
  readonly exchange: Pick<TokenExchange, "clear" | "getState">;
  /** Calls without a token of their own. */
  readonly publicHttp: HttpClient;
  readonly lockListeners: Pick<LockListeners, "run">;
  /** What this device keeps. */
  readonly sweeps: Pick<Sweeps, "begin">;
  /** Who is signed in, or was until this began. */
  readonly getPerson: () => Person | null;
  readonly dispatch: (event: SessionEvent) => void;
  readonly stopRenewal: () => void;
  /** Clears the query cache and everything else that holds data of the person. */
  readonly clearCaches: () => void;
  readonly getLanguage: () => Language;
  readonly log: (step: string, error: unknown) => void;
}

/** Ending the session: by the person, in another tab, or at the provider. */
export interface SessionEnd {
  readonly signOut: () => Promise<void>;
  /**
   * The same, and whatever the person called this device, nothing of their account stays on it; in
   * every tab at once.
   */
  readonly forgetDevice: () => Promise<void>;
  /** The session is being ended; this page will not be signed in again. */
  readonly isEnding: () => boolean;
  /**
   * The session ended in another tab or at the provider, and this page was loaded anew for that
   * reason.
   */
  readonly hasEndedElsewhere: () => boolean;
}

/**
 * State of the history entry of a page that was loaded anew because the session ended elsewhere.
 */
const endedElsewhereMark = { signedOut: true } as const;
const EndedElsewhereMark = z.object({ signedOut: z.literal(true) });

export function createSessionEnd(deps: SessionEndDeps): SessionEnd {
  const { manager, window, tabs, exchange, publicHttp, lockListeners, dispatch, log } = deps;
  const { location, history, sessionStorage: storage } = window;
  const endedElsewhere = EndedElsewhereMark.safeParse(history.state).success;
  let isEnding = false;

  const clearAll = (): void => {
    exchange.clear();
    deps.clearCaches();
    for (const key of storedParameterNames) storage.removeItem(key);
  };

  /**
   * Marks what this device is to lose. What is given back ends what holds keys and plaintext, then
   * wipes; what fails is done when a page starts.
   */
  const beginSweep = (kind: SessionEndKind) => {
    const sweep = deps.sweeps.begin(kind, deps.getPerson());
    return async (): Promise<void> => {
      await lockListeners.run("sign_out");
      await withTimeout(sweep(), signOutStepLimitMs).catch((error: unknown) => {
        log("sweep", error);
      });
    };
  };

  /** Removes everything that belongs to the person and loads the page anew. */
  const clearAndReload = async (lockAndWipe: () => Promise<void>): Promise<void> => {
    deps.stopRenewal();
    await lockAndWipe();
    clearAll();
    await manager.removeUser();
    history.replaceState(endedElsewhereMark, "", "/");
    location.reload();
  };

  /**
   * The session ended in another tab or at the provider. The page that is loaded anew does not go
   * to the provider by itself: it could be signed in again while the other tab has not ended the
   * provider's session yet.
   */
  const handleEndElsewhere = async (kind: SessionEndKind): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    await clearAndReload(beginSweep(kind));
  };

  manager.events.addUserSignedOut(() => {
    void handleEndElsewhere("sign_out");
  });
  tabs.onMessage((kind) => {
    if (kind !== "lock") void handleEndElsewhere(kind);
  });

  const endSession = async (kind: SessionEndKind): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    const lockAndWipe = beginSweep(kind);
    tabs.broadcast(kind, deps.getPerson()); // once it is marked: it is finished though all tabs were closed now
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    deps.stopRenewal();
    if (!(await isFirstToSignOut(window.navigator.locks))) {
      await clearAndReload(lockAndWipe);
      return;
    }
    await signOut({
      lockAndWipe,
      endProductSession: async () => {
        const sessionToken = getSessionToken(exchange.getState());
        if (sessionToken === null) return;
        await publicHttp.request("DELETE", "/auth/token", z.unknown(), {
          headers: { authorization: `Bearer ${sessionToken.token}` },
        });
      },
      revokeTokens: () => manager.revokeTokens(["access_token"]),
      clearCaches: clearAll,
      redirect: () => manager.signoutRedirect({ extraQueryParams: { ui_locales: deps.getLanguage() } }),
      leaveWithoutProvider: async () => {
        await manager.removeUser();
        location.replace("/");
      },
      log,
    });
  };

  return {
    isEnding: () => isEnding,
    hasEndedElsewhere: () => endedElsewhere,
    signOut: () => endSession("sign_out"),
    forgetDevice: () => endSession("forget"),
  };
}
