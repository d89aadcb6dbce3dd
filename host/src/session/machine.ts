import type { ErrorCode } from "@relicario/shared/errors";

/** What the identity provider tells about the person, without tokens. */
export interface SessionUser {
  readonly issuer: string;
  readonly subject: string;
  /** The ID token's own `auth_time`, seconds since 1970; left out when it has none. */
  readonly authTime?: number;
  /** Shown until the service has told the user name. */
  readonly name: string;
}

/** Why the browser, a hidden frame or a window is at the identity provider. */
export type ActiveNavigator = "sign_in" | "sign_in_again" | "sign_out" | "renewal";

/**
 * The state of sign-in (specification, section 4). It is `loading` while a navigator is active.
 * Then `user` is who was signed in before, so that screens stay during a renewal, and `code` is the
 * error that was there before.
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
  /** Session storage was read: a user whose access token has not expired, or null. */
  | { readonly type: "initialised"; readonly user: SessionUser | null }
  | { readonly type: "navigator_started"; readonly navigator: ActiveNavigator }
  | { readonly type: "user_loaded"; readonly user: SessionUser }
  /** Removed here, signed out at the provider, or signed out in another tab. */
  | { readonly type: "user_unloaded" }
  | { readonly type: "failed"; readonly code: ErrorCode }
  /**
   * A navigator ended without changing the user, such as a renewal that timed out and is repeated.
   */
  | { readonly type: "navigator_ended"; readonly navigator: ActiveNavigator };

export const initialSessionState: SessionState = { status: "loading", navigator: null, user: null, code: null };

export function nextSession(state: SessionState, event: SessionEvent): SessionState {
  // During sign-out, nothing signs the person in again.
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
 * Whether the page knows if somebody is signed in: what the tab remembers was read, and no sign-in
 * is under way.
 */
export function isSettled(state: SessionState): boolean {
  return state.status !== "loading" || state.user !== null || state.navigator === "sign_out";
}

function getErrorCode(state: SessionState): ErrorCode | null {
  return state.status === "error" || state.status === "loading" ? state.code : null;
}

function toSettledState(user: SessionUser | null): SessionState {
  return user === null ? { status: "unauthenticated" } : { status: "authenticated", user };
}
