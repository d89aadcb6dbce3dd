import { pageStorage, type HttpClient, type Language } from "@relicario/shared/contract";
import type { UserManager } from "oidc-client-ts";
import { z } from "zod";

import type { Person } from "../device/accounts.ts";
import type { SessionEndKind, Sweeps } from "../device/sweeps.ts";
import { withTimeout } from "./with-timeout.ts";
import { linkStorageKeys } from "./fragment.ts";
import type { LockListeners } from "./lock-listeners.ts";
import type { SessionEvent } from "./session-state.ts";
import { isFirstToSignOut, signOut, signOutStepLimitMs } from "./sign-out.ts";
import type { Tabs } from "./tabs.ts";
import { getSessionToken, type TokenExchange } from "./token-exchange.ts";

export interface SessionEndDeps {
  readonly manager: Pick<UserManager, "removeUser" | "revokeTokens" | "signoutRedirect">;
  readonly window: Pick<Window, "history" | "location" | "navigator">;
  readonly tabs: Tabs;
  readonly exchange: Pick<TokenExchange, "clear" | "getState">;
  /** HTTP client without a token. */
  readonly publicHttp: HttpClient;
  readonly lockListeners: Pick<LockListeners, "run">;
  readonly sweeps: Pick<Sweeps, "prepare">;
  /**
   * Whether the provider has refused a renewal, so that the page asks the person to sign in again
   * and keeps what was typed.
   */
  readonly isSignInRequired: () => boolean;
  /** The person who is signed in or, while the session is ending, was signed in. */
  readonly getPerson: () => Person | null;
  readonly dispatch: (event: SessionEvent) => void;
  readonly stopAccessTokenRenewal: () => void;
  readonly clearCaches: () => void;
  readonly getLanguage: () => Language;
  readonly log: (step: string, error: unknown) => void;
}

/** Ends the session, on request or because it ended in another tab or at the provider. */
export interface SessionEnd {
  readonly signOut: () => Promise<void>;
  /**
   * Signs out, and wipes the person's account from this device in every tab, whatever kind of
   * device it is.
   */
  readonly forgetDevice: () => Promise<void>;
  /** Handles that the provider no longer has the person's session. */
  readonly handleProviderSignOut: () => void;
  /** Whether the session is ending. This page then signs in no one any more. */
  readonly isEnding: () => boolean;
  /** Whether this page was reloaded because the session ended in another tab or at the provider. */
  readonly hasEndedElsewhere: () => boolean;
}

/** History state of a page that was reloaded because the session ended elsewhere. */
const endedElsewhereMark = { signedOut: true } as const;
const EndedElsewhereMark = z.object({ signedOut: z.literal(true) });

export function createSessionEnd(deps: SessionEndDeps): SessionEnd {
  const { manager, window, tabs, exchange, publicHttp, lockListeners, dispatch, log } = deps;
  const { location, history } = window;
  const storage = pageStorage.session;
  const endedElsewhere = EndedElsewhereMark.safeParse(history.state).success;
  let isEnding = false;

  const clearAll = (): void => {
    exchange.clear();
    deps.clearCaches();
    for (const key of linkStorageKeys) storage.removeItem(key);
  };

  /**
   * Marks what to wipe. The returned function locks, then wipes. The next page repeats a wipe that
   * fails.
   */
  const prepareLockAndWipe = (kind: SessionEndKind) => {
    const sweep = deps.sweeps.prepare(kind, deps.getPerson());
    return async (): Promise<void> => {
      await lockListeners.run("sign_out");
      await withTimeout(sweep(), signOutStepLimitMs).catch((error: unknown) => {
        log("sweep", error);
      });
    };
  };

  /** Removes all data of the person and reloads the page. */
  const clearAndReload = async (lockAndWipe: () => Promise<void>): Promise<void> => {
    deps.stopAccessTokenRenewal();
    await lockAndWipe();
    clearAll();
    await manager.removeUser();
    history.replaceState(endedElsewhereMark, "", "/");
    location.reload();
  };

  /**
   * Handles a session that ended in another tab or at the provider. The reloaded page does not
   * redirect to the provider, because that could sign the person in again: the other tab may not
   * have ended the provider's session yet.
   */
  const handleEndElsewhere = async (kind: SessionEndKind): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    await clearAndReload(prepareLockAndWipe(kind));
  };

  tabs.onMessage((kind) => {
    if (kind === "sign_out" || kind === "forget") void handleEndElsewhere(kind);
  });

  const endSession = async (kind: SessionEndKind): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    const lockAndWipe = prepareLockAndWipe(kind);
    tabs.broadcast(kind, deps.getPerson()); // after the mark, so that the sweep is not lost when all tabs close now
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    deps.stopAccessTokenRenewal();
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
    handleProviderSignOut: () => {
      // The provider ended its session after a time-out: no one signed out.
      if (!deps.isSignInRequired()) void handleEndElsewhere("sign_out");
    },
    isEnding: () => isEnding,
    hasEndedElsewhere: () => endedElsewhere,
    signOut: () => endSession("sign_out"),
    forgetDevice: () => endSession("forget"),
  };
}
