import { PortalError } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";

import { toCallbackUrl, getCleanPath, isSignInCallback, toSafeReturnPath } from "./sign-in-callback.ts";
import { getChosenVendorId, getExposedPath, parseFragment, storeItems } from "./fragment.ts";
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

describe("toCallbackUrl", () => {
  it("moves a response from the fragment to the query", () => {
    expect(toCallbackUrl(toUrl("/#code=c&state=s"))).toBe(`${origin}/?code=c&state=s`);
    expect(toCallbackUrl(toUrl("/?code=c&state=s"))).toBe(`${origin}/?code=c&state=s`);
  });
});

describe("getCleanPath", () => {
  it("is the current path", () => {
    expect(getCleanPath(toUrl("/secrets?code=c&state=s#x"))).toBe("/secrets");
  });
});

describe("toSafeReturnPath", () => {
  it.each([
    ["/secrets?tag=a#b", "/secrets?tag=a#b"],
    ["//evil.example/x", "/home"],
    ["/\\evil.example", "/home"],
    ["https://evil.example/", "/home"],
    ["javascript:alert(1)", "/home"],
    ["/..//evil.example", "/home"],
    [undefined, "/home"],
    [7, "/home"],
  ])("returns for %s: %s", (value, expected) => {
    expect(toSafeReturnPath(value, origin)).toBe(expected);
  });
});

describe("parseFragment", () => {
  const parse = (path: string) => parseFragment(new URL(`${origin}${path}`));
  const key = "q-8_Jb0hVQ3s3DkW7xZ-_2mN4tYp6LrC9uEaGiOwKdA";
  const id = "Zm9vYmFyLWJhel9xdXV4IQ";

  it("returns the parameters of a link, and the address without them", () => {
    expect(parse("/secrets?y=1#s=secret&n=name&id=1&recoverId=2&vendorId=acme&other=3")).toEqual({
      address: "/secrets?y=1",
      secret: { path: "/secrets", s: "secret", n: "name" },
      items: { id: "1", recoverId: "2", vendorId: "acme" },
    });
  });

  it.each(["shared", "p-shared", "request"])("returns s as the link key below /%s/, and ignores n and id", (kind) => {
    expect(parse(`/${kind}/${id}?y=1#s=${key}&n=name&id=1&vendorId=acme`)).toEqual({
      address: `/${kind}/${id}`,
      secret: { path: `/${kind}/${id}`, s: key, n: null },
      items: { vendorId: "acme" },
    });
  });

  it("marks a link whose key was in the path, and removes the key from the address", () => {
    expect(parse(`/Shared/${id}%23s=${key}.`)).toEqual({
      address: `/shared/${id}`,
      secret: { path: `/shared/${id}`, s: key, n: null },
      items: { exposedLink: `/shared/${id}` },
    });
  });

  it.each(["%23", "%2523"])("marks a damaged link whose key was in the path after %s", (sign) => {
    expect(parse(`/shared/x${sign}s=${key}`)).toEqual({
      address: "/shared/x",
      secret: null,
      items: { exposedLink: "/shared/x" },
    });
    expect(parse(`/shared/x${sign}s=${key}#y`)?.items).toEqual({ exposedLink: "/shared/x" });
    expect(parse(`/shared/x${sign}s=`)?.items).toEqual({});
    expect(parse(`/secrets${sign}s=${key}`)?.items).toEqual({});
  });

  it("marks a damaged link whose key came in the query", () => {
    expect(parse(`/shared/x?s=${key}`)).toEqual({
      address: "/shared/x",
      secret: null,
      items: { exposedLink: "/shared/x" },
    });
  });

  it("removes what is left of a key from the address", () => {
    expect(parse(`/shared/${id}#s=${key.slice(0, 20)}`)).toEqual({ address: `/shared/${id}`, secret: null, items: {} });
    expect(parse("/shared/x#s=key")).toEqual({ address: "/shared/x", secret: null, items: {} });
  });

  it("at other paths ignores s without n or n without s, and removes them from the address", () => {
    expect(parse("/secrets#s=secret")).toEqual({ address: "/secrets", secret: null, items: {} });
    expect(parse("/secrets#n=name")).toEqual({ address: "/secrets", secret: null, items: {} });
  });

  it.each([
    "vendorId=a%20b",
    "vendorId=../secrets",
    `vendorId=${"a".repeat(80)}`,
    "id=%3Cb%3E",
    `recoverId=${"1".repeat(65)}`,
    "recoverId=",
    "releaseOverride=x",
  ])("drops a parameter with an invalid value: %s", (parameter) => {
    expect(parse(`/home#${parameter}`)).toEqual({ address: "/home", secret: null, items: {} });
  });

  it("keeps an empty vendor, which resets a vendor chosen earlier", () => {
    expect(parse("/home#vendorId=")?.items).toEqual({ vendorId: "" });
  });

  it("reads a fragment whose number sign was encoded, and keeps it if it has no known parameter", () => {
    expect(parse("/home%23vendorId=acme")).toEqual({ address: "/home", secret: null, items: { vendorId: "acme" } });
    expect(parse("/validate-email%23value=a&nonce=b")?.address).toBe("/validate-email#value=a&nonce=b");
  });

  it("replaces several slashes at the start by one", () => {
    expect(parse("//secrets?tag=a#b")).toEqual({ address: "/secrets?tag=a#b", secret: null, items: {} });
    expect(parse("///secrets")?.address).toBe("/secrets");
  });

  it("ignores other fragments and the provider's responses, but not a state without code or error", () => {
    expect(parse("/help#lost")).toBeNull();
    expect(parse(`/shared/${id}`)).toBeNull();
    expect(parse("/#code=c&state=s&id=1")).toBeNull();
    expect(parse(`/shared/${id}#s=${key}&state=s`)).toEqual({
      address: `/shared/${id}`,
      secret: { path: `/shared/${id}`, s: key, n: null },
      items: {},
    });
  });
});

describe("storeItems", () => {
  it("keeps the path of an exposed link in memory when storage is full, and stores the other items", () => {
    const stored = new Map<string, string>();
    const log = jest.fn();
    const fullStorage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => {
        if (key === "exposedLink" && stored.size === 0) throw new DOMException("full", "QuotaExceededError");
        stored.set(key, value);
      },
    };
    expect(storeItems({ exposedLink: "/shared/x", vendorId: "acme" }, fullStorage, log)).toBe(false);
    expect(getExposedPath(fullStorage)).toBe("/shared/x");
    expect(log).toHaveBeenCalledTimes(1);
    expect(stored.get("vendorId")).toBe("acme");
    expect(storeItems({ exposedLink: "/shared/y" }, fullStorage, log)).toBe(true); // space again
    expect(getExposedPath(fullStorage)).toBe("/shared/y");
  });
});

describe("the counter of failed sign-ins", () => {
  it("rises by one per error, reaches its limit at 2, and is reset by a success", () => {
    sessionStorage.clear();
    expect(countAuthError(sessionStorage)).toBe(false);
    expect(sessionStorage.getItem(authRetryKey)).toBe("1");
    expect(countAuthError(sessionStorage)).toBe(true);
    resetAuthErrors(sessionStorage);
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
    expect(countAuthError(sessionStorage)).toBe(false);
  });

  it("neither throws nor reloads for ever where storage is full", () => {
    const fullStorage = {
      getItem: () => "1",
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    expect(countAuthError(fullStorage)).toBe(false);
    expect(() => {
      resetAuthErrors(fullStorage);
    }).not.toThrow();
  });

  it("counts from zero when the stored value is not a number", () => {
    sessionStorage.setItem(authRetryKey, "x");
    expect(countAuthError(sessionStorage)).toBe(false);
  });
});

describe("toSignInError", () => {
  it.each(["login_required", "consent_required", "interaction_required", "account_selection_required"] as const)(
    "returns the code for %s",
    (error) => {
      expect(toSignInError(new ErrorResponse({ error })).code).toBe(error);
    },
  );

  it.each<[string, unknown, string]>([
    ["any other error of the provider", new ErrorResponse({ error: "server_error" }), "login_failed"],
    ["a provider that cannot be reached", new TypeError("Failed to fetch"), "login_failed"],
    ["a frame that timed out", new ErrorTimeout("late"), "timed_out"],
    ["any other error, with any message", new Error("login_required"), "login_failed"],
    ["a PortalError", new PortalError("offline"), "offline"],
  ])("maps %s", (_name, error, code) => {
    expect(toSignInError(error).code).toBe(code);
  });
});

describe("isTransientSignInError", () => {
  it.each<[string, unknown, boolean]>([
    ["a provider that cannot be reached", new TypeError("Failed to fetch"), true],
    ["a frame that timed out", new ErrorTimeout("late"), true],
    ["an invalid response", new Error("Bad Gateway (502)"), true],
    ["a server error of the provider", new ErrorResponse({ error: "server_error" }), true],
    ["a provider that is temporarily unavailable", new ErrorResponse({ error: "temporarily_unavailable" }), true],
    ["no one is signed in", new ErrorResponse({ error: "login_required" }), false],
    ["an unknown client", new ErrorResponse({ error: "invalid_client" }), false],
  ])("%s: %s", (_name, error, expected) => {
    expect(isTransientSignInError(error)).toBe(expected);
  });
});

describe("getChosenVendorId", () => {
  it.each([
    ["no link named a vendor", null, "relicario"],
    ["a link named a vendor", "acme", "acme"],
    ["a link reset the vendor", "", "relicario"],
    ["the stored value is not a vendor id", "a b", "relicario"],
  ])("returns the chosen vendor or the default when %s", (_name, storedVendor, expected) => {
    expect(getChosenVendorId({ getItem: () => storedVendor }, "relicario")).toBe(expected);
  });
});

describe("createSignInSettings", () => {
  it("takes authority, client and scope from the deployment, and return addresses from the portal's origin", () => {
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

  it("has the numbers of the specification", () => {
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
      staleStateAgeInSeconds: 900,
      validateSubOnSilentRenew: true,
      redirect_uri: `${origin}/`,
      silent_redirect_uri: `${origin}/silent-renew.html`,
      scope: "openid", // and therefore no refresh token
    });
  });
});
