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

describe("somebody who is not signed in", () => {
  it("goes to the provider from a screen of the shell, with the address to come back to", async () => {
    const { calls } = await show("/secrets?tag=keys#top", signedOut);
    expect(calls.signIn).toHaveBeenCalledWith("/secrets?tag=keys#top");
    expect(screen.getByRole("status")).toHaveTextContent("Signing you in");
  });

  it.each(["/status", "/help", "/validate-email", "/_debug_flags_"])(
    "goes to the provider from %s too",
    async (path) => {
      const { calls } = await show(path, signedOut);
      expect(calls.signIn).toHaveBeenCalledWith(path);
    },
  );

  it("is led to the landing page from a p-shared link when it was never seen", async () => {
    const { app, calls } = await show("/p-shared/abc", signedOut);
    expect(app.location()).toBe("/secret-landing?then=%2Fp-shared%2Fabc");
    expect(calls.signIn).not.toHaveBeenCalled();
  });

  it("goes to the provider from a p-shared link once the landing page was seen", async () => {
    localStorage.setItem("landingAlreadyVisited", "true");
    const { calls } = await show("/p-shared/abc", signedOut);
    expect(calls.signIn).toHaveBeenCalledWith("/p-shared/abc");
  });

  it("sees a shared link without navigation, with a way to sign in", async () => {
    const { calls } = await show("/shared/abc", signedOut);
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Log in" }));
    expect(calls.signIn).toHaveBeenCalledWith("/shared/abc");
  });

  it("is asked first when the session ended in another tab", async () => {
    const { calls } = await show("/home", { ...signedOut, hasEndedElsewhere: true });
    expect(screen.getByRole("heading", { name: "You are signed out" })).toBeVisible();
    expect(calls.signIn).not.toHaveBeenCalled();
  });
});

describe("while sign-in is on its way", () => {
  it.each([
    ["en", "sign_in", "Signing you in"],
    ["es", "sign_in", "Iniciando tu sesión"],
    ["en", "sign_out", "Signing you out"],
    ["es", "sign_out", "Cerrando tu sesión"],
  ] as const)("covers the page and says so (%s, %s)", async (language, navigator, text) => {
    await show("/home", { state: { status: "loading", navigator, user: null, code: null }, language });
    expect(screen.getByRole("status")).toHaveTextContent(text);
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("keeps the screen while a sign-in is renewed", async () => {
    await show("/status", { state: { status: "loading", navigator: "renewal", user: alba, code: null } });
    expect(await screen.findByRole("heading", { level: 1, name: "Status" })).toBeVisible();
  });

  it("says Oops when it failed, and comes back to the same place", async () => {
    const { calls } = await show("/secrets", { state: { status: "error", code: "login_failed", user: null } });
    expect(screen.getByRole("heading", { name: "Oops..." })).toBeVisible();
    expect(
      await screen.findByText("No one can sign in right now. Anyone who is signed in can continue for a while."),
    ).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Sign in again" }));
    expect(calls.signIn).toHaveBeenCalledWith("/secrets");
  });
});

describe("somebody who is signed in", () => {
  it.each([
    ["/", "/home"],
    ["/nothing/here", "/home"],
  ])("goes from %s to %s", async (path, expected) => {
    const { app } = await show(path);
    expect(app.location()).toBe(expected);
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
  });

  it.each(["/provide-image", "/provide-image-recovery", "/secret-landing"])(
    "sees %s without the shell",
    async (path) => {
      await show(path);
      expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
      expect(screen.getByRole("main")).toBeInTheDocument();
    },
  );

  it("keeps navigation and signing out alive when an area does not load", async () => {
    const { calls } = await show("/secrets");
    expect(await screen.findByRole("alert")).toHaveTextContent("Secrets: not available right now");
    expect(calls.load).toHaveBeenCalledWith("secrets");
    expect(screen.getByRole("link", { name: "Settings" })).toBeVisible();
    expect(screen.getByRole("button", { name: /Log out/ })).toBeEnabled();
  });

  it.each(["/home", "/secrets", "/recived", "/add-secret", "/settings/profile"])(
    "is told at %s that the area is missing when nothing of it is signed, and not sent round and round",
    async (path) => {
      const { app } = await show(path, { unsigned: ["secrets", "sharing", "settings"] });
      expect(app.location()).toBe(path);
      expect(screen.getByRole("alert")).toHaveTextContent("not available right now");
      expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
      await expectAccessible();
    },
  );

  it("is told what an area is called whose release may not run", async () => {
    await show("/recived", { refused: ["sharing"] });
    expect(await screen.findByRole("alert")).toHaveTextContent("Sharing: not available right now");
  });

  it("asks on each navigation whether the release set is still in force, not on arriving", async () => {
    const { app, calls } = await show("/status");
    expect(calls.check).not.toHaveBeenCalled();
    await app.goTo("/help");
    await app.goTo("/status");
    expect(calls.check).toHaveBeenCalledTimes(2);
  });

  it("loses an area at once when its release is switched off, and nothing else", async () => {
    const { watch } = await show("/secrets");
    await screen.findByRole("alert");
    act(() => {
      watch.set({ newer: true, disabled: new Set(["secrets"]), expired: false });
    });
    expect(screen.getByRole("alert")).toHaveTextContent("switched this part off");
    expect(screen.getByRole("button", { name: "Reload the page" })).toBeEnabled();
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
    await expectAccessible();
  });
});

describe("the screen of feature flags", () => {
  it("does not exist in production", async () => {
    const { app } = await show("/_debug_flags_", {
      deployment: { environment: "production", features: { camera: true } },
    });
    expect(app.location()).toBe("/home");
  });

  it("exists in production where the deployment allows it", async () => {
    await show("/_debug_flags_", { deployment: { environment: "production", features: { debug_flags: true } } });
    expect(await screen.findByRole("heading", { name: "Feature flags" })).toBeVisible();
  });
});
