import type { Language } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp } from "@relicario/shared/testing";
import { s } from "@relicario/shared/ui";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { alba, claims, createFakeHost, mockWindow, type FakeHostSettings } from "../testing/fake-host.tsx";
import { ConfirmHost, type ConfirmQueue, ServiceDialogHost, type ServiceDialogs } from "../popups/dialog-hosts.tsx";
import { createDialogQueue } from "../popups/dialog-queue.ts";
import { Frame } from "./Frame.tsx";
import { Overlay } from "./Overlay.tsx";
import { SignInFailed } from "./ProblemScreens.tsx";
import { clearToasts, showToast, Toasts } from "../popups/Toasts.tsx";

interface Settings extends FakeHostSettings {
  readonly mobile?: boolean;
  /** Window width in pixels. */
  readonly width?: number;
  readonly path?: string;
  readonly language?: Language;
  readonly signedIn?: boolean;
  readonly animated?: boolean;
}

async function show({
  mobile = false,
  width,
  path = "/home",
  language = "en",
  theme = "light",
  signedIn = true,
  animated = false,
  ...settings
}: Settings = {}) {
  mockWindow({ mobile });
  if (width !== undefined) {
    const matchesWidth = (query: string) => width <= Number(/max-width: ([\d.]+)px/.exec(query)?.[1] ?? 0);
    window.matchMedia = (query) =>
      ({
        matches: matchesWidth(query),
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }) as unknown as MediaQueryList;
  }
  const fake = createFakeHost({ theme, ...settings });
  const app = await renderApp(
    <HostContext value={fake.host}>
      <Frame userName="alba" shell signedIn={signedIn}>
        <h1>Screen</h1>
      </Frame>
    </HostContext>,
    { path, language, theme, animated },
  );
  return { app, ...fake };
}

describe("Frame on a wide screen", () => {
  it("links to the five destinations and marks the current one", async () => {
    await show({ path: "/secrets" });
    const links = within(screen.getByRole("navigation", { name: "Main navigation" })).getAllByRole("link");
    expect(links.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([
      ["Home", "/home"],
      ["Secrets", "/secrets"],
      ["Shared with me", "/recived"],
      ["Add secret", "/add-secret"],
      ["Settings", "/settings/profile"],
    ]);
    expect(
      links.filter((link) => link.getAttribute("aria-current") === "page").map(({ textContent }) => textContent),
    ).toEqual(["Secrets"]);
  });

  it.each([
    ["/settings/security", "Settings"],
    ["/settings/delete-account", "Settings"],
    ["/edit-secret/0190", "Secrets"],
    ["/secret-history/0190", "Secrets"],
    ["/recived", "Shared with me"],
    ["/shared/abc", null],
    ["/secrets-of-others", null],
  ])("marks, at the path %s, the destination %s", async (path, current) => {
    await show({ path });
    expect(screen.queryAllByRole("link", { current: "page" }).map(({ textContent }) => textContent)).toEqual(
      current === null ? [] : [current],
    );
  });

  it("becomes narrow, with an icon and an accessible name for each entry", async () => {
    await show();
    await userEvent.click(screen.getByRole("button", { name: "Collapse menu" }));
    expect(screen.getByRole("link", { name: "Secrets" })).toHaveTextContent("");
    expect(screen.getByRole("button", { name: "Expand menu" })).toHaveAttribute("aria-expanded", "false");
    await expectAccessible();
  });

  it("keeps the focus when the sidebar becomes narrow", async () => {
    await show();
    act(() => {
      screen.getByRole("button", { name: "Collapse menu" }).focus();
    });
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("button", { name: "Expand menu" })).toHaveFocus();
  });

  it("has a sidebar of 208 px, or 64 px while the sidebar is narrow", async () => {
    await show();
    const { style } = screen.getByRole("banner");
    expect(style.width).toBe("208px");
    await userEvent.click(screen.getByRole("button", { name: "Collapse menu" }));
    await waitFor(() => {
      expect(style.width).toBe("64px");
    });
  });

  it("shows tooltips only while the sidebar is narrow", async () => {
    await show();
    await userEvent.tab();
    await userEvent.tab();
    expect(screen.getByRole("link", { name: "Home" })).toHaveFocus();
    expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Collapse menu" }));
    act(() => {
      screen.getByRole("link", { name: "Home" }).focus();
    });
    expect(await screen.findByRole("tooltip")).toHaveTextContent("Home");
  });

  it("prefetches a destination on hover", async () => {
    const { calls } = await show();
    await userEvent.hover(screen.getByRole("link", { name: "Settings" }));
    expect(calls.prefetch).toHaveBeenCalledWith("settings", "/settings/profile");
  });

  it("switches language and theme", async () => {
    const { calls } = await show();
    await userEvent.click(screen.getByRole("button", { name: "English. Cambiar a español" }));
    expect(calls.changeLanguage).toHaveBeenCalledWith("es");
    await userEvent.click(screen.getByRole("button", { name: "Dark theme" }));
    expect(calls.toggleTheme).toHaveBeenCalledTimes(1);
  });

  it("links to the feedback form from every screen", async () => {
    await show();
    expect(screen.getByRole("link", { name: "Feedback" })).toHaveAttribute("href", "/settings/feedback");
  });

  it("asks before signing out, and then ignores a second click", async () => {
    const { calls } = await show();
    await userEvent.click(screen.getByRole("button", { name: /Sign out/ }));
    const dialog = await screen.findByRole("dialog", { name: "Sign out?" });
    expect(dialog).toHaveAccessibleDescription(/^Your secrets stay protected\./);
    await userEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(calls.signOut).not.toHaveBeenCalled();

    await userEvent.click(screen.getByRole("button", { name: /Sign out/ }));
    await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Sign out" }));
    expect(calls.signOut).toHaveBeenCalledTimes(1);
    expect(within(screen.getByRole("dialog")).getByRole("button", { name: "Sign out" })).toBeDisabled();
  });

  it.each([
    [
      "that signing out deletes",
      null,
      "2 files are still being uploaded. If you sign out they are lost, because this device is not your own.",
    ],
    [
      "that wait on the person's own device",
      "own",
      "2 files are still being uploaded. They wait on this device until you sign in again.",
    ],
  ] as const)("lists in the sign-out question the uploads %s", async (_which, kind, message) => {
    await show({ storedAccounts: [{ storageKey: "n", kind, uploadCount: 2 }] });
    await userEvent.click(screen.getByRole("button", { name: /Sign out/ }));
    const dialog = await screen.findByRole("dialog", { name: "Sign out?" });
    expect(await within(dialog).findByText(message)).toBeVisible();
    await expectAccessible(document.body);
  });

  it.each([
    [
      "en",
      "Sign out",
      "Forget this device",
      "Forget this device?",
      "One file that is still being uploaded will be lost.",
      "Cancel",
    ],
    [
      "es",
      "Cerrar sesión",
      "Olvidar este dispositivo",
      "¿Olvidar este dispositivo?",
      "Se perderá un archivo que aún se está subiendo.",
      "Cancelar",
    ],
  ] as const)(
    "forgets this device after a second question, which says what is lost (%s)",
    async (language, logout, forget, title, lost, cancel) => {
      const { calls } = await show({ language, storedAccounts: [{ storageKey: "n", kind: "own", uploadCount: 1 }] });
      const openQuestion = async () => {
        await userEvent.click(screen.getByRole("button", { name: new RegExp(logout) }));
        await userEvent.click(await screen.findByRole("button", { name: forget }));
        return screen.findByRole("dialog", { name: title });
      };
      const question = await openQuestion();
      expect(question).toHaveAccessibleDescription(expect.stringContaining(lost) as string);
      await expectAccessible(document.body);
      await userEvent.click(within(question).getByRole("button", { name: cancel }));
      expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
      expect(calls.forgetDevice).not.toHaveBeenCalled();

      await userEvent.click(within(await openQuestion()).getByRole("button", { name: forget }));
      expect(calls.forgetDevice).toHaveBeenCalledTimes(1);
      expect(calls.signOut).not.toHaveBeenCalled();
    },
  );

  it("shows the person's name on the sign-out button while the sidebar is wide", async () => {
    await show();
    const button = screen.getByRole("button", { name: /Sign out/ });
    expect(within(button).getByText("alba")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Collapse menu" }));
    expect(button).toHaveAccessibleName("Sign out");
    expect(button).toHaveTextContent(/^$/);
  });

  it("closes the sign-out question on Escape and returns the focus", async () => {
    await show();
    const button = screen.getByRole("button", { name: /Sign out/ });
    await userEvent.click(button);
    await screen.findByRole("dialog");
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(button).toHaveFocus();
  });

  it("lets the keyboard skip to the content", async () => {
    await show();
    await userEvent.tab();
    expect(screen.getByRole("link", { name: "Skip to the content" })).toHaveFocus();
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("main")).toHaveFocus();
  });

  it("shows a visitor of a shared link a sign-in button and no navigation", async () => {
    const { calls } = await show({ path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    expect(calls.signIn).toHaveBeenCalledWith("/shared/x");
  });
});

describe("an account due for deletion", () => {
  const account = {
    ...{
      user_id: claims.sub,
      user_name: "alba",
      username: "alba",
      contact_email: null,
      contact_email_verified: false,
      rehearsal_due_at: null,
      telemetry: true,
    },
    licence: { plan: "free", storage_quota: 1, storage_used: 0, secrets: 0, shares: 0 },
    notifications: {
      share_opened: true,
      share_expiring: true,
      request_answered: true,
      shared_with_you: true,
      new_device: true,
      rehearsal: true,
    },
    created_at: "2026-11-01T09:00:00.000Z",
  };
  const createService = (initialDueAt: string | null) => {
    let dueAt = initialDueAt;
    return createFakeHttpClient({
      "GET /user/me": () => ({ ...account, deletion_due_at: dueAt }),
      "POST /user/me/restore": () => (dueAt = null),
    });
  };

  it("is announced on every page, and its deletion is cancelled by one click", async () => {
    const http = createService("2026-12-05T09:00:00.000Z");
    await show({ http });
    expect(await screen.findByText(/will be deleted on 5 Dec 2026/)).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Cancel the deletion" }));
    await waitFor(() => {
      expect(screen.queryByText(/will be deleted/)).not.toBeInTheDocument();
    });
    expect(http.calls.filter(({ method }) => method === "POST").map(({ path }) => path)).toEqual(["/user/me/restore"]);
  });

  it("is not announced on the deletion page; an account without a due deletion is not announced anywhere", async () => {
    const http = createService("2026-12-05T09:00:00.000Z");
    const { app } = await show({ http, path: "/settings/delete-account" });
    await waitFor(() => {
      expect(http.calls).toHaveLength(1);
    });
    expect(screen.queryByText(/will be deleted/)).not.toBeInTheDocument();
    app.unmount();
    const otherHttp = createService(null);
    await show({ http: otherHttp });
    await waitFor(() => {
      expect(otherHttp.calls).toHaveLength(1);
    });
    expect(screen.queryByText(/will be deleted/)).not.toBeInTheDocument();
  });
});

describe("Frame on a small screen", () => {
  it("has a bottom bar with home, secrets, add, shared with me and signing out", async () => {
    await show({ mobile: true });
    const bar = screen.getByRole("navigation", { name: "Main navigation" });
    expect(
      within(bar)
        .getAllByRole("link")
        .map(({ textContent }) => textContent),
    ).toEqual(["Home", "Secrets", "Add secret", "Shared with me"]);
    expect(within(bar).getByRole("button", { name: "Sign out" })).toBeEnabled();
    expect(within(bar).getByRole("link", { name: "Add secret" })).toHaveAttribute("data-middle", "true");
  });

  it("highlights only the middle entry, with a disc in the accent colour", async () => {
    await show({ mobile: true });
    const rounds = within(screen.getByRole("navigation", { name: "Main navigation" }))
      .getAllByRole("listitem")
      .map((item) =>
        [...item.querySelectorAll("*")].some(
          (element) =>
            getComputedStyle(element).background === s("accent") &&
            getComputedStyle(element).borderRadius === s("radiusRound"),
        ),
      );
    expect(rounds).toEqual([false, false, true, false, false]);
  });

  it("has the five destinations in a menu that slides down over the whole screen", async () => {
    await show({ mobile: true, animated: true });
    const transforms: string[] = [];
    const observer = new MutationObserver(() => {
      const transform = document.querySelector<HTMLElement>("body > div[style*=translateY]")?.style.transform;
      if (transform !== undefined) transforms.push(transform);
    });
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["style"] });
    await userEvent.click(screen.getByRole("button", { name: "Open the menu" }));
    const panel = (await screen.findByRole("dialog", { name: "Menu" })).parentElement;
    expect(panel).toHaveStyle({ position: "fixed", inset: "0" });
    await waitFor(() => {
      expect(panel?.style.transform).toBe("none");
    });
    observer.disconnect();
    expect(transforms[0]).toBe("translateY(-12%)");
    const links = within(screen.getByRole("dialog")).getAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual([
      "/home",
      "/secrets",
      "/recived",
      "/add-secret",
      "/settings/profile",
      "/help",
      "/settings/feedback",
    ]);
  });

  it.each([
    [639, true],
    [640, false],
  ])("is used at a width of %i px: %p", async (width, small) => {
    await show({ width });
    expect(screen.queryAllByRole("button", { name: "Open the menu" })).toHaveLength(small ? 1 : 0);
    expect(screen.queryAllByRole("button", { name: /(Collapse|Expand) menu/ })).toHaveLength(small ? 0 : 1);
  });

  it("opens a menu over the whole screen, which closes on navigation", async () => {
    const { app } = await show({ mobile: true });
    await userEvent.click(screen.getByRole("button", { name: "Open the menu" }));
    const menu = await screen.findByRole("dialog", { name: "Menu" });
    expect(within(menu).getAllByRole("link")).toHaveLength(7);
    await expectAccessible();
    await userEvent.click(within(menu).getByRole("link", { name: "Settings" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(app.getLocation()).toBe("/settings/profile");
  });

  it("returns to the page and the focus at once when the menu closes, while an inert copy slides away", async () => {
    await show({ mobile: true, animated: true });
    const trigger = screen.getByRole("button", { name: "Open the menu" });
    await userEvent.click(trigger);
    await userEvent.click(await screen.findByRole("button", { name: "Close" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    const findClosingMenu = () => document.querySelector("body > div > [inert]");
    expect(findClosingMenu()).toHaveTextContent("Settings");
    await expectAccessible();
    await waitFor(() => {
      expect(trigger).toHaveFocus();
    });
    await waitFor(() => {
      expect(findClosingMenu()).not.toBeInTheDocument();
    });
  });

  it("shows a visitor of a shared link neither a bar nor a menu", async () => {
    await show({ mobile: true, path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Open the menu" })).not.toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Sign in" })).toBeEnabled();
  });
});

describe("Frame", () => {
  it.each([
    ["en", "light", false],
    ["en", "dark", true],
    ["es", "light", true],
    ["es", "dark", false],
  ] as const)("has no accessibility violations (%s, %s, small: %s)", async (language, theme, mobile) => {
    await show({ language, theme, mobile });
    await expectAccessible();
  });

  it("shows a notice while the device is offline", async () => {
    const online = jest.spyOn(navigator, "onLine", "get").mockReturnValue(false);
    await show();
    expect(screen.getByText(/You are offline/)).toBeVisible();
    online.mockReturnValue(true);
    act(() => {
      window.dispatchEvent(new Event("online"));
    });
    expect(screen.queryByText(/You are offline/)).not.toBeInTheDocument();
    online.mockRestore();
  });

  it("offers a retry when no session token could be obtained, and keeps the screen", async () => {
    const { calls } = await show({ exchange: { status: "empty", error: new PortalError("service_unavailable") } });
    expect(screen.getByRole("alert")).toHaveTextContent("The service is not responding right now.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(calls.renew).toHaveBeenCalledTimes(1);
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
  });

  it("asks to sign in again when the service refuses the session, and keeps the screen", async () => {
    const sessionToken = { token: "t", claims };
    const { calls } = await show({
      exchange: { status: "ready", sessionToken, error: new PortalError("login_required") },
    });
    expect(screen.getByRole("alert")).toHaveTextContent("Your sign-in has ended");
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: /Sign in/ }));
    expect(calls.signInAgain).toHaveBeenCalledTimes(1);
  });

  describe.each(["en", "es"] as const)("a device whose clock is wrong (%s)", (language) => {
    const wrongClock = { device: Date.parse("2026-11-22T10:07:00"), service: Date.parse("2026-11-21T10:00:00") };

    it("shows its own time and the service's", async () => {
      await show({ wrongClock, language });
      expect(screen.getByRole("alert")).toHaveTextContent(/22 nov 2026, 10:07.*21 nov 2026, 10:00/i);
      expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
      await expectAccessible();
    });

    it("shows only the clock's error when no session token could be obtained, with a retry", async () => {
      const error = new PortalError("clock_wrong", { details: wrongClock });
      const { calls } = await show({ exchange: { status: "empty", error }, wrongClock, language });
      expect(screen.getAllByRole("alert")).toHaveLength(1);
      expect(screen.getByRole("alert")).toHaveTextContent(/22 nov 2026, 10:07.*21 nov 2026, 10:00/i);
      await userEvent.click(screen.getByRole("button", { name: /Try again|Intentar de nuevo/ }));
      expect(calls.renew).toHaveBeenCalledTimes(1);
    });
  });

  it.each(["vendor_disabled", "vendor_unknown"] as const)(
    "offers the way back from a chosen vendor: %s",
    async (code) => {
      sessionStorage.setItem("vendorId", "acme");
      const { calls } = await show({ exchange: { status: "empty", error: new PortalError(code) } });
      await userEvent.click(screen.getByRole("button", { name: "Continue without this organisation" }));
      expect(sessionStorage.getItem("vendorId")).toBeNull();
      expect(calls.renew).toHaveBeenCalledTimes(1);
      await expectAccessible();
    },
  );

  it("offers no way back from the portal's own vendor", async () => {
    await show({ exchange: { status: "empty", error: new PortalError("vendor_disabled") } });
    expect(screen.getByRole("button", { name: "Try again" })).toBeVisible();
    expect(screen.queryByRole("button", { name: /Continue without/ })).not.toBeInTheDocument();
  });

  it.each(["en", "es"] as const)(
    "warns of an exposed link key only on the page of that link (%s)",
    async (language) => {
      sessionStorage.setItem("exposedLink", "/shared/Zm9vYmFyLWJhel9xdXV4IQ");
      const { app } = await show({ path: "/shared/Zm9vYmFyLWJhel9xdXV4IQ", language, signedIn: false });
      expect(screen.getByRole("alert")).toHaveTextContent(/sent to servers|llegado a servidores/);
      await expectAccessible();
      app.unmount();
      await show({ path: "/home", language });
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
      sessionStorage.removeItem("exposedLink");
    },
  );

  it("shows a notice with a link to the status page while the service does not respond", async () => {
    const { isDown } = await show();
    act(() => {
      isDown.set(true);
    });
    expect(screen.getByText("The service is not responding")).toBeVisible();
    expect(screen.getByRole("link", { name: "See what works" })).toHaveAttribute("href", "/status");
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
    await expectAccessible();
    act(() => {
      isDown.set(false);
    });
    expect(screen.queryByText("The service is not responding")).not.toBeInTheDocument();
  });

  it("shows only one notice when the service is down and no session token could be obtained", async () => {
    const { isDown } = await show({ exchange: { status: "empty", error: new PortalError("service_unavailable") } });
    act(() => {
      isDown.set(true);
    });
    expect(screen.getAllByText(/is not responding right now/)).toHaveLength(1);
  });

  it("offers to load newer releases, in a notice that can be dismissed", async () => {
    const { deploymentWatch } = await show();
    act(() => {
      deploymentWatch.set({ updateAvailable: true, disabledRemotes: new Set(), expired: false });
    });
    expect(screen.getByRole("status")).toHaveTextContent("A newer version of this portal is ready");
    expect(screen.getByRole("button", { name: "Reload" })).toBeEnabled();
    await userEvent.click(screen.getByRole("button", { name: "Later" }));
    expect(screen.queryByText(/A newer version/)).not.toBeInTheDocument();
  });

  it("says that the page's deployment has expired, in a notice that cannot be dismissed", async () => {
    const { deploymentWatch } = await show();
    act(() => {
      deploymentWatch.set({ updateAvailable: false, disabledRemotes: new Set(), expired: true });
    });
    expect(screen.getByRole("status")).toHaveTextContent("This page has been open for too long");
    expect(screen.queryByRole("button", { name: "Later" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it.each([
    ["en", "You started without these parts: Settings, Sharing.", "Load them again"],
    ["es", "Has iniciado sin estas partes: Ajustes, Compartir.", "Cargarlas de nuevo"],
  ] as const)("names the areas that the person left out (%s)", async (language, words, action) => {
    await show({ leftOutRemotes: ["sharing", "settings"], language });
    expect(screen.getByRole("status")).toHaveTextContent(words);
    expect(screen.getByRole("button", { name: action })).toBeEnabled();
    await expectAccessible();
  });

  it("asks to sign in again when the provider's session ended, and keeps the screen", async () => {
    const { calls } = await show({
      state: { status: "error", code: "login_required", user: alba },
      path: "/add-secret",
    });
    expect(screen.getByRole("alert")).toHaveTextContent("Your sign-in has ended");
    await userEvent.click(screen.getByRole("button", { name: "Sign in again" }));
    expect(calls.signInAgain).toHaveBeenCalledTimes(1);
    expect(calls.signIn).not.toHaveBeenCalled();
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
  });

  it("redirects to the sign-in only when no popup opens", async () => {
    const { calls } = await show({
      state: { status: "error", code: "login_required", user: alba },
      path: "/add-secret",
    });
    calls.signInAgain
      .mockRejectedValueOnce(new PortalError("cancelled"))
      .mockRejectedValueOnce(new PortalError("popup_blocked"));
    const button = screen.getByRole("button", { name: "Sign in again" });
    await userEvent.click(button);
    expect(calls.signIn).not.toHaveBeenCalled();
    await userEvent.click(button);
    expect(calls.signIn).toHaveBeenCalledWith("/add-secret", { again: true });
  });
});

describe("resizing", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("keeps the layout from moving until 250 ms after the window was resized", async () => {
    await show();
    const { documentElement: root } = document;
    act(() => {
      window.dispatchEvent(new Event("resize"));
    });
    jest.advanceTimersByTime(200);
    window.dispatchEvent(new Event("resize"));
    jest.advanceTimersByTime(249);
    expect(root).toHaveAttribute("data-resizing");
    jest.advanceTimersByTime(1);
    expect(root).not.toHaveAttribute("data-resizing");
  });

  it("ignores clicks on the sidebar's toggle during its animation of 250 ms", async () => {
    await show();
    const press = () => {
      fireEvent.click(screen.getByRole("button", { name: /(Collapse|Expand) menu/ }));
    };
    press();
    jest.advanceTimersByTime(249);
    press();
    expect(screen.getByRole("button", { name: "Expand menu" })).toBeVisible();
    jest.advanceTimersByTime(1);
    press();
    expect(screen.getByRole("button", { name: "Collapse menu" })).toBeVisible();
  });
});

describe("a browser without WebAssembly", () => {
  const { WebAssembly: realWebAssembly } = globalThis;

  beforeEach(() => {
    Reflect.deleteProperty(globalThis, "WebAssembly");
  });
  afterEach(() => {
    Object.defineProperty(globalThis, "WebAssembly", { value: realWebAssembly, configurable: true, writable: true });
  });

  it.each([
    ["es", "Navegador no compatible", "usa un navegador externo", "Ver en otra ventana"],
    ["en", "Browser not supported", "use an external browser", "Open in another window"],
  ] as const)(
    "shows a dialog with one button that opens the same address in a new window (%s)",
    async (language, title, body, action) => {
      const open = jest.spyOn(window, "open").mockReturnValue(null);
      await show({ language });
      const dialog = screen.getByRole("alertdialog", { name: title });
      expect(dialog).toHaveTextContent(body);
      await expectAccessible();
      await userEvent.click(within(dialog).getByRole("button", { name: action }));
      expect(open).toHaveBeenCalledWith(window.location.href, "_blank", "noopener");
      open.mockRestore();
    },
  );

  it("shows no dialog to a visitor", async () => {
    await show({ path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
  });
});

it("a browser with WebAssembly shows no dialog", async () => {
  await show();
  expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
});

describe("the flag of a language", () => {
  it.each([
    ["en", "English"],
    ["es", "Español"],
  ] as const)("is next to the language's name (%s)", async (language, name) => {
    await show({ language });
    const toggle = screen.getByRole("button", { name: new RegExp(`^${name}`) });
    expect(toggle).toHaveTextContent(name);
    expect(toggle.querySelector(`#flag-${language}`)).toBeInTheDocument();
  });
});

describe("Overlay", () => {
  it.each([
    ["en", "signing_in", "Signing you in"],
    ["en", "signing_out", "Signing you out"],
    ["es", "signing_in", "Iniciando tu sesión"],
  ] as const)("shows the name of the step (%s, %s)", async (language, kind, text) => {
    await renderApp(<Overlay kind={kind} />, { language });
    expect(screen.getByRole("status")).toHaveTextContent(text);
    expect(screen.getByRole("status")).toHaveStyle({ zIndex: "99" });
  });
});

describe("SignInFailed", () => {
  it("shows the error under the heading Oops..., and offers a retry", async () => {
    const onRetry = jest.fn();
    await renderApp(<SignInFailed code="login_failed" onRetry={onRetry} />);
    expect(screen.getByRole("heading", { name: "Oops..." })).toBeVisible();
    expect(screen.getByRole("alert")).toHaveTextContent("Login failed");
    await userEvent.click(screen.getByRole("button", { name: "Sign in again" }));
    expect(onRetry).toHaveBeenCalledTimes(1);
    await expectAccessible();
  });
});

describe("ConfirmHost", () => {
  it("asks one question at a time and returns each answer", async () => {
    const confirmQueue: ConfirmQueue = createDialogQueue();
    await renderApp(<ConfirmHost confirmQueue={confirmQueue} />);
    const answers: boolean[] = [];
    act(() => {
      void confirmQueue.ask({ title: "First?", description: "1" }).then((answer) => answers.push(answer));
      void confirmQueue
        .ask({ title: "Second?", description: "2", confirmLabel: "Do it", cancelLabel: "Leave it" })
        .then((answer) => answers.push(answer));
    });
    await userEvent.click(
      within(await screen.findByRole("dialog", { name: "First?" })).getByRole("button", { name: "Yes" }),
    );
    await userEvent.click(
      within(await screen.findByRole("dialog", { name: "Second?" })).getByRole("button", { name: "Leave it" }),
    );
    expect(answers).toEqual([true, false]);
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });
});

describe("ServiceDialogHost", () => {
  it("shows a service's dialogs one at a time, until each closes or crashes", async () => {
    const serviceDialogs: ServiceDialogs = createDialogQueue();
    await renderApp(<ServiceDialogHost serviceDialogs={serviceDialogs} />);
    const closed: string[] = [];
    act(() => {
      void serviceDialogs.ask(() => raise()).then(() => closed.push("crashed"));
      void serviceDialogs
        .ask(({ onClose }) => (
          <button type="button" onClick={onClose}>
            Close it
          </button>
        ))
        .then(() => closed.push("closed"));
    });
    await userEvent.click(await screen.findByRole("button", { name: "Close it" }));
    expect(closed).toEqual(["crashed", "closed"]);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });
});

function raise(): never {
  throw new Error("a dialog that crashes");
}

describe("Toasts", () => {
  it("are at the top right and close automatically after 5 s", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "info", text: "Kept" });
    });
    const toast = await screen.findByText("Kept");
    expect(toast.closest(".Toastify__toast-container")).toHaveClass("Toastify__toast-container--top-right");
    const progress = document.querySelector<HTMLElement>(".Toastify__progress-bar");
    expect(progress?.style.animationDuration).toBe("5000ms");
  });

  it("slide in opaque, and are removed after they slid out", async () => {
    await renderApp(<Toasts />, { animated: true });
    act(() => {
      showToast({ tone: "info", text: "Kept" });
    });
    const toastRow = (await screen.findByText("Kept")).closest<HTMLElement>("[style*=translateX]");
    expect(toastRow?.style.opacity).toBe("");
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    await waitFor(() => {
      expect(screen.queryByText("Kept")).not.toBeInTheDocument();
    });
  });

  it("wait until the container is mounted, and are all removed by clearToasts", async () => {
    showToast({ tone: "info", text: "Early" });
    await renderApp(<Toasts />);
    expect(await screen.findByText("Early")).toBeVisible();
    act(() => {
      clearToasts();
    });
    await waitFor(() => {
      expect(screen.queryByText("Early")).not.toBeInTheDocument();
    });
  });

  it("are announced to assistive technology, and can be closed", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "error", text: "Not kept" });
    });
    const toast = await screen.findByRole("alert");
    expect(toast).toHaveTextContent("Not kept");
    expect(screen.getByRole("button", { name: "Close" })).toBeEnabled();
  });

  it("are in a region named in the user's language", async () => {
    await renderApp(<Toasts />, { language: "es" });
    expect(screen.getByRole("region", { name: "Avisos (Alt+T)" })).toBeInTheDocument();
  });

  it("show markup as plain text", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "info", text: "<img src=x onerror=alert(1)>" });
    });
    expect(await screen.findByText("<img src=x onerror=alert(1)>")).toBeVisible();
    expect(document.querySelector("img")).toBeNull();
  });
});
