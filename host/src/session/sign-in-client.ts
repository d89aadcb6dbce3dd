import { PortalError } from "@relicario/shared/errors";
import { SessionMonitor, UserManager, type User, type UserManagerSettings } from "oidc-client-ts";

import type { Navigator } from "./machine.ts";
import { inMemory } from "./oidc-settings.ts";
import { createWindowNavigator } from "./sign-in-window.ts";

/** Called when a frame or a window goes to the provider and when it has come back. */
export interface NavigatorEvents {
  readonly started: (navigator: Navigator) => void;
  readonly ended: (navigator: Navigator) => void;
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

export function createSignInClient(settings: UserManagerSettings, { started, ended }: NavigatorEvents): SignInClient {
  const manager = new UserManager(settings);
  /** Keeps the user of the window apart until it is known to be the same person. */
  const beside = new UserManager(inMemory(settings), undefined, createWindowNavigator());
  let monitor: SessionMonitor | null = null;
  let renewal: Promise<User | null> | null = null;

  const during = async <T>(navigator: Navigator, work: () => Promise<T>): Promise<T> => {
    started(navigator);
    try {
      return await work();
    } finally {
      ended(navigator);
    }
  };

  const signInBeside = async (uiLocales: string): Promise<User> => {
    const before = await manager.getUser();
    if (before === null) throw new PortalError("login_required");
    try {
      const user = await beside.signinPopup({
        prompt: "login",
        max_age: 0,
        ui_locales: uiLocales,
        ...(before.id_token === undefined ? {} : { extraQueryParams: { id_token_hint: before.id_token } }),
      });
      const current = await manager.getUser(); // the person may have signed out meanwhile
      if (user.profile.sub !== current?.profile.sub) throw new PortalError("login_required");
      await manager.storeUser(user);
      await manager.events.load(user);
      return user;
    } finally {
      await beside.removeUser();
    }
  };

  return Object.freeze<SignInClient>({
    manager,
    monitorSession: () => {
      monitor ??= new SessionMonitor(manager);
    },
    renew: () => {
      renewal ??= during("renewal", () => manager.signinSilent()).finally(() => {
        renewal = null;
      });
      return renewal;
    },
    signInAgain: (uiLocales) => during("sign_in_again", () => signInBeside(uiLocales)),
  });
}
