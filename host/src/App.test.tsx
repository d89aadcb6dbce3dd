import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Outlet } from "react-router-dom";

import { HostContext } from "./context/host-context.ts";
import { createRouteObjects } from "./router.tsx";
import { alba, createFakeHost, mockWindow, type FakeHostSettings } from "./testing/fake-host.tsx";

async function show(path: string, settings: FakeHostSettings & { language?: "en" | "es" } = {}) {
  mockWindow({ mobile: false });
  const fake = createFakeHost(settings);
  const hostContext = (
    <HostContext value={fake.host}>
      <Outlet />
    </HostContext>
  );
  const app = await renderApp(null, {
    routeTree: [{ element: hostContext, children: createRouteObjects(fake.host.routes) }],
    path,
    language: settings.language ?? "en",
  });
  return { app, ...fake };
}

const signedOut = { state: { status: "unauthenticated" }, exchange: { status: "empty", error: null } } as const;

beforeEach(() => {
  window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  localStorage.clear();
  sessionStorage.clear();
});

describe("App for a visitor who is not signed in", () => {
  it("is redirected to the provider from a screen with navigation, with the return address", async () => {
    const { calls } = await show("/secrets?tag=keys#top", signedOut);
    expect(calls.signIn).toHaveBeenCalledWith("/secrets?tag=keys#top");
    expect(screen.getByRole("status")).toHaveTextContent("Signing you in");
  });

  it.each(["/status", "/help", "/validate-email", "/_debug_flags_"])(
    "is redirected to the provider from %s",
    async (path) => {
      const { calls } = await show(path, signedOut);
      expect(calls.signIn).toHaveBeenCalledWith(path);
    },
  );

  it("is redirected from a p-shared link to the landing page on a first visit", async () => {
    const { app, calls } = await show("/p-shared/abc", signedOut);
    expect(app.getLocation()).toBe("/secret-landing?then=%2Fp-shared%2Fabc");
    expect(calls.signIn).not.toHaveBeenCalled();
  });

  it("is redirected from a p-shared link to the provider after a visit to the landing page", async () => {
    localStorage.setItem("landingAlreadyVisited", "true");
    const { calls } = await show("/p-shared/abc", signedOut);
    expect(calls.signIn).toHaveBeenCalledWith("/p-shared/abc");
  });

  it("sees a shared link with a sign-in button and no navigation", async () => {
    const { calls } = await show("/shared/abc", signedOut);
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    expect(calls.signIn).toHaveBeenCalledWith("/shared/abc");
  });

  it("sees that they are signed out when the session ended in another tab, without a redirect", async () => {
    const { calls } = await show("/home", { ...signedOut, hasEndedElsewhere: true });
    expect(screen.getByRole("heading", { name: "You are signed out" })).toBeVisible();
    expect(calls.signIn).not.toHaveBeenCalled();
  });
});

describe("App while a sign-in is in progress", () => {
  it.each([
    ["en", "sign_in", "Signing you in"],
    ["es", "sign_in", "Iniciando tu sesión"],
    ["en", "sign_out", "Signing you out"],
    ["es", "sign_out", "Cerrando tu sesión"],
  ] as const)("covers the page with the name of the step (%s, %s)", async (language, navigator, text) => {
    await show("/home", { state: { status: "loading", navigator, user: null, code: null }, language });
    expect(screen.getByRole("status")).toHaveTextContent(text);
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("keeps the screen while a sign-in is renewed", async () => {
    await show("/status", { state: { status: "loading", navigator: "renewal", user: alba, code: null } });
    expect(await screen.findByRole("heading", { level: 1, name: "Status" })).toBeVisible();
  });

  it("offers to retry a failed sign-in, and returns to the same page afterwards", async () => {
    const { calls } = await show("/secrets", { state: { status: "error", code: "login_failed", user: null } });
    expect(screen.getByRole("heading", { name: "Oops..." })).toBeVisible();
    expect(
      await screen.findByText("No one can sign in right now. If you are signed in, you can continue for a while."),
    ).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Sign in again" }));
    expect(calls.signIn).toHaveBeenCalledWith("/secrets");
  });
});

describe("App for a signed-in person", () => {
  it("shows only the area's title when no session token could be obtained", async () => {
    await show("/secrets", { exchange: { status: "empty", error: new PortalError("service_unavailable") } });
    expect(screen.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await expectAccessible();
  });

  it.each([
    ["/", "/home"],
    ["/nothing/here", "/home"],
  ])("redirects from %s to %s", async (path, expected) => {
    const { app } = await show(path);
    expect(app.getLocation()).toBe(expected);
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
  });

  it.each(["/provide-image", "/provide-image-recovery", "/secret-landing"])(
    "shows %s without navigation",
    async (path) => {
      await show(path);
      expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
      expect(screen.getByRole("main")).toBeInTheDocument();
    },
  );

  it("keeps navigation and log-out working when an area does not load", async () => {
    const { calls } = await show("/secrets");
    expect(await screen.findByRole("alert")).toHaveTextContent("Secrets: not available right now");
    expect(calls.load).toHaveBeenCalledWith("secrets");
    expect(screen.getByRole("link", { name: "Settings" })).toBeVisible();
    expect(screen.getByRole("button", { name: /Sign out/ })).toBeEnabled();
  });

  it.each(["/home", "/secrets", "/recived", "/add-secret", "/settings/profile"])(
    "shows an error at %s for an area without a signed record, and does not redirect",
    async (path) => {
      const { app } = await show(path, { unsignedRemotes: ["secrets", "sharing", "settings"] });
      expect(app.getLocation()).toBe(path);
      expect(screen.getByRole("alert")).toHaveTextContent("not available right now");
      expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
      await expectAccessible();
    },
  );

  it("names an area whose release was refused", async () => {
    await show("/recived", { refusedRemotes: ["sharing"] });
    expect(await screen.findByRole("alert")).toHaveTextContent("Sharing: not available right now");
  });

  it.each([
    ["en", "You started the portal without this part", "Load it again"],
    ["es", "Has iniciado el portal sin esta parte", "Cargarla de nuevo"],
  ] as const)("says that the person left an area out, and offers to load it (%s)", async (language, words, action) => {
    await show("/recived", { leftOutRemotes: ["sharing"], language });
    expect(await screen.findByRole("alert")).toHaveTextContent(words);
    expect(screen.getByRole("button", { name: action })).toBeEnabled();
    await expectAccessible();
  });

  it("checks on each navigation whether the releases are in force, but not on the first screen", async () => {
    const { app, calls } = await show("/status");
    expect(calls.check).not.toHaveBeenCalled();
    await app.goTo("/help");
    await app.goTo("/status");
    expect(calls.check).toHaveBeenCalledTimes(2);
  });

  it("replaces only the area whose release was disabled", async () => {
    const { deploymentWatch } = await show("/secrets");
    await screen.findByRole("alert");
    act(() => {
      deploymentWatch.set({ updateAvailable: true, disabledRemotes: new Set(["secrets"]), expired: false });
    });
    expect(screen.getByRole("alert")).toHaveTextContent("switched this part off");
    expect(screen.getByRole("button", { name: "Reload the page" })).toBeEnabled();
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
    await expectAccessible();
  });
});

describe("the page of feature flags", () => {
  it("redirects home in production", async () => {
    const { app } = await show("/_debug_flags_", {
      deployment: { environment: "production", features: { camera: true } },
    });
    expect(app.getLocation()).toBe("/home");
  });

  it("is shown in production when the deployment allows it", async () => {
    await show("/_debug_flags_", { deployment: { environment: "production", features: { debug_flags: true } } });
    expect(await screen.findByRole("heading", { name: "Feature flags" })).toBeVisible();
  });
});
