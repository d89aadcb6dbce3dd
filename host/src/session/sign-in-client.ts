import { PortalError } from "@relicario/shared/errors";
import { SessionMonitor, UserManager, type User, type UserManagerSettings } from "oidc-client-ts";

import type { ActiveNavigator } from "./machine.ts";
import { toInMemorySettings } from "./oidc-settings.ts";
import { createWindowNavigator } from "./sign-in-window.ts";

/** Called when a frame or a window goes to the provider and when it has come back. */
export interface NavigatorEvents {
  readonly onStart: (navigator: ActiveNavigator) => void;
  readonly onEnd: (navigator: ActiveNavigator) => void;
}

/** oidc-client-ts, and what the portal adds to it. */
export interface SignInClient {
  /** Manages the signed-in user. */
  readonly manager: UserManager;
  /** Starts to check by a frame of the provider whether the provider's session has ended. */
  readonly monitorSession: () => void;
  /** `signinSilent`; concurrent calls share one. */
  readonly renew: () => Promise<User | null>;
  /**
   * A sign-in in a window beside the page, whatever session the provider still has (`prompt=login`,
   * `max_age=0`), by the same person as before. Browsers open a window only shortly after a click:
   * nothing but session storage is read before.
   * @throws PortalError `popup_blocked`, `cancelled`, `timed_out`, `login_required`; else what the
   *   library throws
   */
  readonly signInAgain: (uiLocales: string) => Promise<User>;
}

export function createSignInClient(settings: UserManagerSettings, { onStart, onEnd }: NavigatorEvents): SignInClient {
  const manager = new UserManager(settings);
  /** Keeps the user of the window apart until it is known to be the same person. */
  const popupManager = new UserManager(toInMemorySettings(settings), undefined, createWindowNavigator());
  let monitor: SessionMonitor | null = null;
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
      const current = await manager.getUser(); // the person may have signed out meanwhile
      if (user.profile.sub !== current?.profile.sub) throw new PortalError("login_required");
      await manager.storeUser(user);
      await manager.events.load(user);
      return user;
    } finally {
      await popupManager.removeUser();
    }
  };

  return Object.freeze<SignInClient>({
    manager,
    monitorSession: () => {
      monitor ??= new SessionMonitor(manager);
    },
    renew: () => {
      renewal ??= trackNavigator("renewal", () => manager.signinSilent()).finally(() => {
        renewal = null;
      });
      return renewal;
    },
    signInAgain: (uiLocales) => trackNavigator("sign_in_again", () => signInWithPopup(uiLocales)),
  });
}
