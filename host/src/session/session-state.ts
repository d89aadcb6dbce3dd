import type { ErrorCode } from "@relicario/shared/errors";

/** The provider's claims about the person, without tokens. */
export interface SessionUser {
  readonly issuer: string;
  readonly subject: string;
  /** `auth_time` of the ID token, in seconds since 1970. Absent when the ID token has none. */
  readonly authTime?: number;
  /** Shown until the service has returned the user name. */
  readonly name: string;
}

/** Why the page, a hidden frame or a popup is at the identity provider. */
export type ActiveNavigator = "sign_in" | "sign_in_again" | "sign_out" | "renewal";

/**
 * State of sign-in (specification, section 4). `loading` while a navigator is active. `user` and
 * `code` then have the values of the state before, so that screens stay during a renewal.
 */
export type SessionState =
  | {
      readonly status: "loading";
      readonly navigator: ActiveNavigator | null;
      readonly user: SessionUser | null;
      readonly code: ErrorCode | null;
    }
  | { readonly status: "authenticated"; readonly user: SessionUser }
  | { readonly status: "unauthenticated" }
  | { readonly status: "error"; readonly code: ErrorCode; readonly user: SessionUser | null };

export type SessionEvent =
  /** Session storage was read: a user with an unexpired access token, or null. */
  | { readonly type: "initialised"; readonly user: SessionUser | null }
  | { readonly type: "navigator_started"; readonly navigator: ActiveNavigator }
  | { readonly type: "user_loaded"; readonly user: SessionUser }
  /** Removed here, or signed out at the provider or in another tab. */
  | { readonly type: "user_unloaded" }
  | { readonly type: "failed"; readonly code: ErrorCode }
  /**
   * A navigator ended without changing the user, for example a renewal that timed out and will be
   * retried.
   */
  | { readonly type: "navigator_ended"; readonly navigator: ActiveNavigator };

export const initialSessionState: SessionState = { status: "loading", navigator: null, user: null, code: null };

export function reduceSessionState(state: SessionState, event: SessionEvent): SessionState {
  // During a sign-out, no event signs the person in again.
  if (state.status === "loading" && state.navigator === "sign_out")
    return event.type === "user_unloaded" ? { ...state, user: null } : state;
  switch (event.type) {
    case "initialised":
      return toSettledState(event.user);
    case "navigator_started":
      return { status: "loading", navigator: event.navigator, user: getUser(state), code: getErrorCode(state) };
    case "user_loaded":
      return { status: "authenticated", user: event.user };
    case "user_unloaded":
      return { status: "unauthenticated" };
    case "failed":
      return { status: "error", code: event.code, user: getUser(state) };
    case "navigator_ended":
      if (state.status !== "loading" || state.navigator !== event.navigator) return state;
      return state.code === null ? toSettledState(state.user) : { status: "error", code: state.code, user: state.user };
  }
}

/** The signed-in user, also while a navigator is active. */
export function getUser(state: SessionState): SessionUser | null {
  return state.status === "unauthenticated" ? null : state.user;
}

/**
 * Whether the page knows who is signed in: session storage was read, and no sign-in is in progress.
 */
export function isSettled(state: SessionState): boolean {
  return state.status !== "loading" || state.user !== null || state.navigator === "sign_out";
}

/** The last failure, also while a navigator is active. */
export function getErrorCode(state: SessionState): ErrorCode | null {
  return state.status === "error" || state.status === "loading" ? state.code : null;
}

function toSettledState(user: SessionUser | null): SessionState {
  return user === null ? { status: "unauthenticated" } : { status: "authenticated", user };
}
