import { PortalError } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";

import { toCallbackUrl, getCleanPath, isSignInCallback, toSafeReturnPath } from "./callback.ts";
import { getChosenVendorId, takeFragment } from "./fragment.ts";
import { createSignInSettings } from "./oidc-settings.ts";
import { isTransientSignInError, toSignInError } from "./sign-in-errors.ts";
import { authRetryKey, countAuthError, resetAuthErrors } from "./sign-in-flow.ts";

const origin = "http://localhost:3000";
const toUrl = (path: string) => new URL(path, origin);

describe("isSignInCallback", () => {
  it.each([
    ["/?code=c&state=s", true],
    ["/?error=login_required&state=s", true],
    ["/#code=c&state=s", true],
    ["/#error=access_denied&state=s", true],
    ["/?code=c", false],
    ["/?state=s", false],
    ["/home", false],
    ["/#s=abc", false],
  ])("%s: %s", (path, expected) => {
    expect(isSignInCallback(toUrl(path))).toBe(expected);
  });
});

describe("callbackAddress", () => {
  it("moves an answer from the fragment to the query", () => {
    expect(toCallbackUrl(toUrl("/#code=c&state=s"))).toBe(`${origin}/?code=c&state=s`);
    expect(toCallbackUrl(toUrl("/?code=c&state=s"))).toBe(`${origin}/?code=c&state=s`);
  });
});

describe("cleanedAddress", () => {
  it("is the current path", () => {
    expect(getCleanPath(toUrl("/secrets?code=c&state=s#x"))).toBe("/secrets");
  });
});

describe("safeReturnPath", () => {
  it.each([
    ["/secrets?tag=a#b", "/secrets?tag=a#b"],
    ["//evil.example/x", "/home"],
    ["/\\evil.example", "/home"],
    ["https://evil.example/", "/home"],
    ["javascript:alert(1)", "/home"],
    ["/..//evil.example", "/home"],
    [undefined, "/home"],
    [7, "/home"],
  ])("%s leads to %s", (value, expected) => {
    expect(toSafeReturnPath(value, origin)).toBe(expected);
  });
});

describe("takeFragment", () => {
  const take = (path: string) => {
    const stored = new Map<string, string>();
    const fragment = takeFragment(toUrl(path), { setItem: (key, value) => void stored.set(key, value) });
    return { fragment, kept: Object.fromEntries(stored) };
  };

  it("saves what a link carries and gives the address without it; a secret that is handed over is given back, to be wrapped", () => {
    expect(take("/secrets?y=1#s=secret&n=name&id=1&recoverId=2&vendorId=acme&other=3")).toEqual({
      fragment: { address: "/secrets?y=1", secret: { path: "/secrets", s: "secret", n: "name" } },
      kept: { id: "1", recoverId: "2", vendorId: "acme" },
    });
  });

  it.each(["/shared/x", "/p-shared/x", "/request/x"])(
    "takes s for the link key at %s, where n and id mean nothing",
    (path) => {
      expect(take(`${path}?y=1#s=key&n=name&id=1&vendorId=acme`)).toEqual({
        fragment: { address: `${path}?y=1`, secret: { path, s: "key", n: null } },
        kept: { vendorId: "acme" },
      });
    },
  );

  it("reads no s without its n elsewhere, and removes it from the address all the same", () => {
    expect(take("/secrets#s=secret")).toEqual({ fragment: { address: "/secrets", secret: null }, kept: {} });
    expect(take("/secrets#n=name")).toEqual({ fragment: { address: "/secrets", secret: null }, kept: {} });
  });

  it("leaves other fragments, and answers of the provider, alone; a state alone makes no answer", () => {
    expect(take("/help#lost")).toEqual({ fragment: null, kept: {} });
    expect(take("/#code=c&state=s&id=1")).toEqual({ fragment: null, kept: {} });
    expect(take("/shared/x#s=key&state=s").fragment).toEqual({
      address: "/shared/x",
      secret: { path: "/shared/x", s: "key", n: null },
    });
  });
});

describe("the counter of errors", () => {
  it("rises by one per error, reaches its limit at 2, and begins anew after a success", () => {
    sessionStorage.clear();
    expect(countAuthError(sessionStorage)).toBe(false);
    expect(sessionStorage.getItem(authRetryKey)).toBe("1");
    expect(countAuthError(sessionStorage)).toBe(true);
    resetAuthErrors(sessionStorage);
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
    expect(countAuthError(sessionStorage)).toBe(false);
  });

  it("takes a value that is no number for none", () => {
    sessionStorage.setItem(authRetryKey, "x");
    expect(countAuthError(sessionStorage)).toBe(false);
  });
});

describe("signInError", () => {
  it.each(["login_required", "consent_required", "interaction_required", "account_selection_required"] as const)(
    "names %s",
    (error) => {
      expect(toSignInError(new ErrorResponse({ error })).code).toBe(error);
    },
  );

  it.each<[string, unknown, string]>([
    ["any other answer of the provider", new ErrorResponse({ error: "server_error" }), "login_failed"],
    ["a provider that cannot be reached", new TypeError("Failed to fetch"), "login_failed"],
    ["a frame that is late", new ErrorTimeout("late"), "timed_out"],
    ["anything else, whatever its message says", new Error("login_required"), "login_failed"],
    ["an error of ours", new PortalError("offline"), "offline"],
  ])("%s", (_name, error, code) => {
    expect(toSignInError(error).code).toBe(code);
  });
});

describe("isTransientSignInError", () => {
  it.each<[string, unknown, boolean]>([
    ["a provider that cannot be reached", new TypeError("Failed to fetch"), true],
    ["a frame that is late", new ErrorTimeout("late"), true],
    ["an answer that is no answer", new Error("Bad Gateway (502)"), true],
    ["a provider that has trouble", new ErrorResponse({ error: "server_error" }), true],
    ["a provider that has too much to do", new ErrorResponse({ error: "temporarily_unavailable" }), true],
    ["nobody is signed in", new ErrorResponse({ error: "login_required" }), false],
    ["a client that is unknown", new ErrorResponse({ error: "invalid_client" }), false],
  ])("%s: %s", (_name, error, expected) => {
    expect(isTransientSignInError(error)).toBe(expected);
  });
});

describe("chosenVendor", () => {
  it.each([
    ["none was named", null, "relicario"],
    ["a link named one", "acme", "acme"],
    ["a link reset it", "", "relicario"],
  ])("when %s", (_name, storedVendor, expected) => {
    expect(getChosenVendorId({ getItem: () => storedVendor }, "relicario")).toBe(expected);
  });
});

describe("signInSettings", () => {
  it("takes authority, client and scope from the deployment, and every address to come back to from the portal's own origin", () => {
    const identity = {
      authority: "https://id.acme.example/realms/acme",
      client_id: "acme-portal",
      scope: "openid email",
    };
    const portal = "https://portal.acme.example";
    expect(createSignInSettings(identity, portal, sessionStorage)).toMatchObject({
      ...identity,
      redirect_uri: `${portal}/`,
      post_logout_redirect_uri: `${portal}/`,
      silent_redirect_uri: `${portal}/silent-renew.html`,
      popup_redirect_uri: `${portal}/silent-renew.html`,
    });
  });

  it("holds the numbers of the specification", () => {
    expect(
      createSignInSettings(
        { authority: "http://localhost:3001/realms/relicario", client_id: "relicario-portal", scope: "openid" },
        origin,
        sessionStorage,
      ),
    ).toMatchObject({
      response_type: "code",
      silentRequestTimeoutInSeconds: 10,
      requestTimeoutInSeconds: 10,
      loadUserInfo: true,
      monitorSession: false,
      checkSessionIntervalInSeconds: 2,
      staleStateAgeInSeconds: 900,
      validateSubOnSilentRenew: true,
      redirect_uri: `${origin}/`,
      silent_redirect_uri: `${origin}/silent-renew.html`,
      scope: "openid", // and so no refresh token
    });
  });
});
