import {
  initialSessionState,
  reduceSessionState,
  getUser,
  type SessionEvent,
  type SessionState,
  type SessionUser,
} from "./session-state.ts";

const alba: SessionUser = { issuer: "http://localhost:3001/realms/relicario", subject: "s-1", name: "alba" };
const bea: SessionUser = { ...alba, subject: "s-2", name: "bea" };

const starting = initialSessionState;
const authenticated: SessionState = { status: "authenticated", user: alba };
const unauthenticated: SessionState = { status: "unauthenticated" };
const signingIn: SessionState = { status: "loading", navigator: "sign_in", user: null, code: null };
const signingOut: SessionState = { status: "loading", navigator: "sign_out", user: alba, code: null };
const renewing: SessionState = { status: "loading", navigator: "renewal", user: alba, code: null };
const failed: SessionState = { status: "error", code: "login_failed", user: null };
const signingInAgain: SessionState = { status: "loading", navigator: "sign_in_again", user: alba, code: null };
const failedWhileSignedIn: SessionState = { status: "error", code: "login_required", user: alba };

const transitions: readonly [string, SessionState, SessionEvent, SessionState][] = [
  ["a stored user is found at the start", starting, { type: "initialised", user: alba }, authenticated],
  ["no user is found at the start", starting, { type: "initialised", user: null }, unauthenticated],

  ["signing in begins", unauthenticated, { type: "navigator_started", navigator: "sign_in" }, signingIn],
  [
    "signing in begins again after an error",
    failed,
    { type: "navigator_started", navigator: "sign_in" },
    { ...signingIn, code: "login_failed" },
  ],
  ["signing in ends with a user", signingIn, { type: "user_loaded", user: alba }, authenticated],
  ["signing in fails", signingIn, { type: "failed", code: "login_failed" }, failed],
  ["signing in ends without a result", signingIn, { type: "navigator_ended", navigator: "sign_in" }, unauthenticated],

  [
    "a renewal begins, and the user is kept",
    authenticated,
    { type: "navigator_started", navigator: "renewal" },
    renewing,
  ],
  ["a renewal ends with a newer user", renewing, { type: "user_loaded", user: alba }, authenticated],
  [
    "a renewal times out and is tried again later",
    renewing,
    { type: "navigator_ended", navigator: "renewal" },
    authenticated,
  ],
  ["a renewal fails, and the user is kept", renewing, { type: "failed", code: "login_required" }, failedWhileSignedIn],
  [
    "a renewal ends without a result, and the previous error is kept",
    { ...renewing, code: "login_required" },
    { type: "navigator_ended", navigator: "renewal" },
    failedWhileSignedIn,
  ],
  ["a renewal clears an error", failedWhileSignedIn, { type: "user_loaded", user: alba }, authenticated],

  [
    "signing in again begins, and the user is kept",
    authenticated,
    { type: "navigator_started", navigator: "sign_in_again" },
    signingInAgain,
  ],
  [
    "signing in again begins after an error",
    failedWhileSignedIn,
    { type: "navigator_started", navigator: "sign_in_again" },
    { ...signingInAgain, code: "login_required" },
  ],
  [
    "signing in again is cancelled",
    signingInAgain,
    { type: "navigator_ended", navigator: "sign_in_again" },
    authenticated,
  ],
  [
    "a renewal ends while the popup is open",
    signingInAgain,
    { type: "navigator_ended", navigator: "renewal" },
    signingInAgain,
  ],

  ["signing out begins", authenticated, { type: "navigator_started", navigator: "sign_out" }, signingOut],
  ["the user is removed while signing out", signingOut, { type: "user_unloaded" }, { ...signingOut, user: null }],
  [
    "a renewal ends while signing out, which does not sign in again",
    signingOut,
    { type: "user_loaded", user: bea },
    signingOut,
  ],

  [
    "a renewal begins while signing out, which changes nothing",
    signingOut,
    { type: "navigator_started", navigator: "renewal" },
    signingOut,
  ],
  [
    "a renewal fails while signing out, which changes nothing",
    signingOut,
    { type: "failed", code: "login_required" },
    signingOut,
  ],

  ["the user signs out elsewhere", authenticated, { type: "user_unloaded" }, unauthenticated],
  ["the user is removed after an error", failedWhileSignedIn, { type: "user_unloaded" }, unauthenticated],
  [
    "an error occurs, and the user is kept",
    authenticated,
    { type: "failed", code: "login_required" },
    failedWhileSignedIn,
  ],

  [
    "a navigator ends that is not active, which changes nothing",
    authenticated,
    { type: "navigator_ended", navigator: "renewal" },
    authenticated,
  ],
  [
    "a navigator ends that is not active, and an error is kept",
    failedWhileSignedIn,
    { type: "navigator_ended", navigator: "renewal" },
    failedWhileSignedIn,
  ],
];

describe("reduceSessionState", () => {
  it("starts as loading", () => {
    expect(initialSessionState.status).toBe("loading");
  });

  it.each(transitions)("when %s", (_name, before, event, after) => {
    expect(reduceSessionState(before, event)).toEqual(after);
  });

  it("is loading while any navigator is active", () => {
    for (const navigator of ["sign_in", "sign_in_again", "sign_out", "renewal"] as const) {
      expect(reduceSessionState(authenticated, { type: "navigator_started", navigator }).status).toBe("loading");
    }
  });
});

describe("getUser", () => {
  it("returns the signed-in user, also while a navigator is active", () => {
    expect(
      [starting, unauthenticated, authenticated, renewing, failedWhileSignedIn].map((state) => getUser(state)?.name),
    ).toEqual([undefined, undefined, "alba", "alba", "alba"]);
  });
});
