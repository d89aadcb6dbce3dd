import { PortalError } from "@relicario/shared/errors";
import { UserManager, type User, type UserManagerSettings } from "oidc-client-ts";

import type { Navigator } from "./machine.ts";

/** How long a person may take in the window of a fresh sign-in. */
export const popupLimitMs = 5 * 60_000;

/** Words of the library where it throws a plain Error. */
const said = { closed: "Popup closed by user", blocked: "Attempted to navigate on a disposed window" } as const;

/** Told when something begins and ends to move a frame or a window to the provider. */
export interface NavigatorEvents {
  readonly started: (navigator: Navigator) => void;
  readonly ended: (navigator: Navigator) => void;
}

/** The sign-in client of oidc-client-ts, and what the portal needs beyond it. */
export class SignInClient extends UserManager {
  readonly #navigators: NavigatorEvents;
  #renewal: Promise<User | null> | null = null;

  constructor(settings: UserManagerSettings, navigators: NavigatorEvents) {
    super(settings);
    this.#navigators = navigators;
  }

  /** One renewal at a time: whoever asks meanwhile gets its answer. */
  override signinSilent(...args: Parameters<UserManager["signinSilent"]>): Promise<User | null> {
    this.#renewal ??= this.#during("renewal", () => super.signinSilent(...args)).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  /**
   * A sign-in in a window beside the page, whatever session the provider still has (`prompt=login`, `max_age=0`), by the
   * same person as before. The window is asked for at once: browsers open one only while a click is fresh.
   * @throws PortalError `popup_blocked`, `cancelled`, `timed_out`, `login_required`; else what the library throws
   */
  signInAgain(uiLocales: string): Promise<User> {
    const late = new AbortController();
    const opening = this._popupNavigator.prepare({ popupSignal: late.signal, popupAbortOnClose: true });
    const timer = setTimeout(() => {
      late.abort("late");
    }, popupLimitMs);
    return this.#during("sign_in_again", async () => {
      const [popup, before] = await Promise.all([opening, this._loadUser()]);
      if (before === null) {
        popup.close();
        throw new PortalError("login_required");
      }
      const request = {
        request_type: "si:p",
        redirect_uri: this.settings.popup_redirect_uri,
        display: "popup",
        prompt: "login",
        max_age: 0,
        ui_locales: uiLocales,
        skipUserInfo: true, // so that `auth_time` is the ID token's own
        ...(before.id_token === undefined ? {} : { id_token_hint: before.id_token }),
      };
      try {
        return await this._signin(request, popup, before.profile.sub);
      } catch (cause) {
        if (late.signal.aborted) throw new PortalError("timed_out", { cause });
        if (cause instanceof Error && cause.message === said.closed) throw new PortalError("cancelled", { cause });
        if (cause instanceof Error && cause.message === said.blocked) throw new PortalError("popup_blocked", { cause });
        throw cause;
      }
    }).finally(() => {
      clearTimeout(timer);
    });
  }

  async #during<T>(navigator: Navigator, work: () => Promise<T>): Promise<T> {
    this.#navigators.started(navigator);
    try {
      return await work();
    } finally {
      this.#navigators.ended(navigator);
    }
  }
}
