import { PortalError } from "@relicario/shared/errors";
import { UserManager, type User, type UserManagerSettings } from "oidc-client-ts";

import type { ActiveNavigator } from "./session-state.ts";
import { toInMemorySettings } from "./oidc-settings.ts";
import { createWindowNavigator, openSignInWindow } from "./sign-in-window.ts";

/** Called when the page, a frame or a popup goes to the provider, and when it has returned. */
export interface NavigatorEvents {
  readonly onStart: (navigator: ActiveNavigator) => void;
  readonly onEnd: (navigator: ActiveNavigator) => void;
}

/** oidc-client-ts with the portal's additions. */
export interface SignInClient {
  readonly manager: UserManager;
  /** Renews the access token with `signinSilent`. Concurrent calls share one renewal. */
  readonly signInSilently: () => Promise<User | null>;
  /**
   * Signs the same person in again in a popup, even if the provider still has a session
   * (`prompt=login`, `max_age=0`). Call it from a click: browsers open a popup only shortly after
   * one. So it reads only session storage before it opens the popup.
   * @throws PortalError `popup_blocked`, `cancelled`, `timed_out`, `login_required`; otherwise the
   *   library's error
   */
  readonly signInAgain: (uiLocales: string) => Promise<User>;
  /**
   * Opens a window for the vault's sign-in, and suggests the person to the provider. Returns the
   * provider's answer. Call it from a click.
   * @throws PortalError `popup_blocked`, `cancelled`, `timed_out`
   */
  readonly openSignIn: (address: string, uiLocales: string, vaultOrigin: string) => Promise<string>;
}

export function createSignInClient(settings: UserManagerSettings, { onStart, onEnd }: NavigatorEvents): SignInClient {
  const manager = new UserManager(settings);
  /** Keeps the popup's user separate until it is known to be the same person. */
  const popupManager = new UserManager(toInMemorySettings(settings), undefined, createWindowNavigator());
  let renewal: Promise<User | null> | null = null;

  const trackNavigator = async <T>(navigator: ActiveNavigator, operation: () => Promise<T>): Promise<T> => {
    onStart(navigator);
    try {
      return await operation();
    } finally {
      onEnd(navigator);
    }
  };

  const signInWithPopup = async (uiLocales: string): Promise<User> => {
    const previousUser = await manager.getUser();
    if (previousUser === null) throw new PortalError("login_required");
    try {
      const user = await popupManager.signinPopup({
        prompt: "login",
        max_age: 0,
        ui_locales: uiLocales,
        ...(previousUser.id_token === undefined ? {} : { extraQueryParams: { id_token_hint: previousUser.id_token } }),
      });
      const currentUser = await manager.getUser(); // the person may have signed out meanwhile
      if (user.profile.sub !== currentUser?.profile.sub) throw new PortalError("login_required");
      await manager.storeUser(user);
      await manager.events.load(user);
      return user;
    } finally {
      await popupManager.removeUser();
    }
  };

  return Object.freeze<SignInClient>({
    manager,
    signInSilently: () => {
      renewal ??= trackNavigator("renewal", () => manager.signinSilent()).finally(() => {
        renewal = null;
      });
      return renewal;
    },
    openSignIn: (address, uiLocales, vaultOrigin) =>
      trackNavigator("sign_in_again", async () => {
        const url = new URL(address);
        const idToken = (await manager.getUser())?.id_token;
        if (idToken !== undefined) url.searchParams.set("id_token_hint", idToken);
        url.searchParams.set("ui_locales", uiLocales);
        return openSignInWindow(url.href, vaultOrigin);
      }),
    signInAgain: (uiLocales) => trackNavigator("sign_in_again", () => signInWithPopup(uiLocales)),
  });
}
