import { PortalError } from "@relicario/shared/errors";
import { SessionMonitor, UserManager, type User, type UserManagerSettings } from "oidc-client-ts";

import type { Navigator } from "./machine.ts";
import { inMemory } from "./oidc-settings.ts";
import { createWindowNavigator } from "./sign-in-window.ts";

/** Told when something begins and ends to move a frame or a window to the provider. */
export interface NavigatorEvents {
  readonly started: (navigator: Navigator) => void;
  readonly ended: (navigator: Navigator) => void;
}

/** oidc-client-ts, and what the portal makes of it. */
export interface SignInClient {
  /** Who is signed in. */
  readonly manager: UserManager;
  /** Begins to ask the provider's frame whether its session ended. */
  readonly monitorSession: () => void;
  /** `signinSilent`, one at a time: whoever asks meanwhile gets its answer. */
  readonly renew: () => Promise<User | null>;
  /**
   * A sign-in in a window beside the page, whatever session the provider still has (`prompt=login`, `max_age=0`), by the
   * same person as before. Browsers open a window only while a click is fresh: nothing but session storage is read before.
   * @throws PortalError `popup_blocked`, `cancelled`, `timed_out`, `login_required`; else what the library throws
   */
  readonly signInAgain: (uiLocales: string) => Promise<User>;
}

export function createSignInClient(settings: UserManagerSettings, { started, ended }: NavigatorEvents): SignInClient {
  const manager = new UserManager(settings);
  /** Keeps whoever signs in in the window apart, until it is known who that is. */
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
      const current = await manager.getUser(); // they may have signed out meanwhile
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
