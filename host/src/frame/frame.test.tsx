import type { Language } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp } from "@relicario/shared/testing";
import { s } from "@relicario/shared/ui";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { alba, claims, createFakeHost, mockWindow, type FakeHostSettings } from "../testing/fake-host.tsx";
import { createConfirmQueue } from "../popups/confirms.tsx";
import { ConfirmHost } from "../popups/confirms.tsx";
import { Frame } from "./Frame.tsx";
import { Overlay } from "./Overlay.tsx";
import { SignInFailed } from "./ProblemScreens.tsx";
import { clearToasts, showToast, Toasts } from "../popups/Toasts.tsx";

interface Settings extends FakeHostSettings {
  readonly mobile?: boolean;
  /** Of the window, in pixels. */
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
  it("leads to the five destinations and says where the page stands", async () => {
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
  ])("says that %s belongs to %s", async (path, current) => {
    await show({ path });
    expect(screen.queryAllByRole("link", { current: "page" }).map(({ textContent }) => textContent)).toEqual(
      current === null ? [] : [current],
    );
  });

  it("becomes narrow: icons only, each with its name", async () => {
    await show();
    await userEvent.click(screen.getByRole("button", { name: "Narrow sidebar" }));
    expect(screen.getByRole("link", { name: "Secrets" })).toHaveTextContent("");
    expect(screen.getByRole("button", { name: "Wide sidebar" })).toHaveAttribute("aria-expanded", "false");
    await expectAccessible();
  });

  it("keeps the focus where it is when it becomes narrow", async () => {
    await show();
    act(() => {
      screen.getByRole("button", { name: "Narrow sidebar" }).focus();
    });
    await userEvent.keyboard("{Enter}");
    expect(screen.getByRole("button", { name: "Wide sidebar" })).toHaveFocus();
  });

  it("takes 208 px, or 64 px while it is narrow", async () => {
    await show();
    const { style } = screen.getByRole("banner");
    expect(style.width).toBe("208px");
    await userEvent.click(screen.getByRole("button", { name: "Narrow sidebar" }));
    await waitFor(() => {
      expect(style.width).toBe("64px");
    });
  });

  it("shows tooltips only while it is narrow", async () => {
    await show();
    await userEvent.tab();
    await userEvent.tab();
    expect(screen.getByRole("link", { name: "Home" })).toHaveFocus();
    expect(screen.queryByRole("tooltip")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Narrow sidebar" }));
    act(() => {
      screen.getByRole("link", { name: "Home" }).focus();
    });
    expect(await screen.findByRole("tooltip")).toHaveTextContent("Home");
  });

  it("loads a destination ahead when somebody is about to go there", async () => {
    const { calls } = await show();
    await userEvent.hover(screen.getByRole("link", { name: "Settings" }));
    expect(calls.prefetch).toHaveBeenCalledWith("settings", "/settings/profile");
  });

  it("switches language and theme", async () => {
    const { calls } = await show();
    await userEvent.click(screen.getByRole("button", { name: "English. Switch to Español" }));
    expect(calls.changeLanguage).toHaveBeenCalledWith("es");
    await userEvent.click(screen.getByRole("button", { name: "Dark theme" }));
    expect(calls.toggleTheme).toHaveBeenCalledTimes(1);
  });

  it("leads to feedback from everywhere", async () => {
    await show();
    expect(screen.getByRole("link", { name: "Feedback" })).toHaveAttribute("href", "/settings/feedback");
  });

  it("asks before logging out, and waits without another press", async () => {
    const { calls } = await show();
    await userEvent.click(screen.getByRole("button", { name: /Log out/ }));
    const dialog = await screen.findByRole("dialog", { name: "Log out?" });
    expect(dialog).toHaveAccessibleDescription(/^Your secrets stay protected\./);
    await userEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(calls.signOut).not.toHaveBeenCalled();

    await userEvent.click(screen.getByRole("button", { name: /Log out/ }));
    await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Log out" }));
    expect(calls.signOut).toHaveBeenCalledTimes(1);
    expect(within(screen.getByRole("dialog")).getByRole("button", { name: "Log out" })).toBeDisabled();
  });

  it.each([
    [
      "that logging out loses",
      null,
      "2 files are still being uploaded. Logging out loses them, because this device is not your own.",
    ],
    [
      "that wait on an own device",
      "own",
      "2 files are still being uploaded. They wait on this device until you log in again.",
    ],
  ] as const)("names the uploads %s", async (_which, kind, message) => {
    await show({ storedAccounts: [{ name: "n", kind, uploads: 2 }] });
    await userEvent.click(screen.getByRole("button", { name: /Log out/ }));
    const dialog = await screen.findByRole("dialog", { name: "Log out?" });
    expect(await within(dialog).findByText(message)).toBeVisible();
    await expectAccessible(document.body);
  });

  it.each([
    [
      "en",
      "Log out",
      "Forget this device",
      "Forget this device?",
      "One file that is still being uploaded is lost.",
      "Cancel",
    ],
    [
      "es",
      "Cerrar sesión",
      "Olvidar este dispositivo",
      "¿Olvidar este dispositivo?",
      "Se pierde un archivo que aún se está subiendo.",
      "Cancelar",
    ],
  ] as const)(
    "forgets this device after a question of its own, which says what goes (%s)",
    async (language, logout, forget, title, lost, cancel) => {
      const { calls } = await show({ language, storedAccounts: [{ name: "n", kind: "own", uploads: 1 }] });
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

  it("names who is signed in on the button that logs out, while it is wide", async () => {
    await show();
    const button = screen.getByRole("button", { name: /Log out/ });
    expect(within(button).getByText("alba")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Narrow sidebar" }));
    expect(button).toHaveAccessibleName("Log out");
    expect(button).toHaveTextContent(/^$/);
  });

  it("closes the question on Escape and gives the focus back", async () => {
    await show();
    const button = screen.getByRole("button", { name: /Log out/ });
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

  it("shows no navigation to a visitor of a shared link, and a login button", async () => {
    const { calls } = await show({ path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Log in" }));
    expect(calls.signIn).toHaveBeenCalledWith("/shared/x");
  });
});

describe("an account that is to be deleted", () => {
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
  const createService = (start: string | null) => {
    let dueAt = start;
    return createFakeHttpClient({
      "GET /user/me": () => ({ ...account, deletion_due_at: dueAt }),
      "POST /user/me/restore": () => (dueAt = null),
    });
  };

  it("is said to be on every page, and stays by one press", async () => {
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

  it("says nothing on the page that says it itself, and nothing where nobody asked for it", async () => {
    const http = createService("2026-12-05T09:00:00.000Z");
    const { app } = await show({ http, path: "/settings/delete-account" });
    await waitFor(() => {
      expect(http.calls).toHaveLength(1);
    });
    expect(screen.queryByText(/will be deleted/)).not.toBeInTheDocument();
    app.unmount();
    const other = createService(null);
    await show({ http: other });
    await waitFor(() => {
      expect(other.calls).toHaveLength(1);
    });
    expect(screen.queryByText(/will be deleted/)).not.toBeInTheDocument();
  });
});

describe("Frame on a small screen", () => {
  it("has a bottom bar of home, secrets, add, shared with me and logging out", async () => {
    await show({ mobile: true });
    const bar = screen.getByRole("navigation", { name: "Main navigation" });
    expect(
      within(bar)
        .getAllByRole("link")
        .map(({ textContent }) => textContent),
    ).toEqual(["Home", "Secrets", "Add secret", "Shared with me"]);
    expect(within(bar).getByRole("button", { name: "Log out" })).toBeEnabled();
    expect(within(bar).getByRole("link", { name: "Add secret" })).toHaveAttribute("data-middle", "true");
  });

  it("highlights the middle one, and no other: a round of the accent's colour", async () => {
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
    const places: string[] = [];
    const watcher = new MutationObserver(() => {
      const transform = document.querySelector<HTMLElement>("body > div[style*=translateY]")?.style.transform;
      if (transform !== undefined) places.push(transform);
    });
    watcher.observe(document.body, { subtree: true, childList: true, attributeFilter: ["style"] });
    await userEvent.click(screen.getByRole("button", { name: "Open the menu" }));
    const panel = (await screen.findByRole("dialog", { name: "Menu" })).parentElement;
    expect(panel).toHaveStyle({ position: "fixed", inset: "0" });
    await waitFor(() => {
      expect(panel?.style.transform).toBe("none");
    });
    watcher.disconnect();
    expect(places[0]).toBe("translateY(-12%)");
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
  ])("is one of %i px: %p", async (width, small) => {
    await show({ width });
    expect(screen.queryAllByRole("button", { name: "Open the menu" })).toHaveLength(small ? 1 : 0);
    expect(screen.queryAllByRole("button", { name: /(Narrow|Wide) sidebar/ })).toHaveLength(small ? 0 : 1);
  });

  it("opens a menu over the whole screen, which closes when somebody goes elsewhere", async () => {
    const { app } = await show({ mobile: true });
    await userEvent.click(screen.getByRole("button", { name: "Open the menu" }));
    const menu = await screen.findByRole("dialog", { name: "Menu" });
    expect(within(menu).getAllByRole("link")).toHaveLength(7);
    await expectAccessible();
    await userEvent.click(within(menu).getByRole("link", { name: "Settings" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(app.location()).toBe("/settings/profile");
  });

  it("gives page and focus back at once when the menu is closed, and leaves its picture to slide away", async () => {
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

  it("shows a visitor of a shared link no bar and no menu", async () => {
    await show({ mobile: true, path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("navigation")).not.toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Open the menu" })).not.toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Log in" })).toBeEnabled();
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

  it("says that the device is offline, as long as it is", async () => {
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

  it("offers another try when the session token could not be had, and keeps the screen", async () => {
    const { calls } = await show({ exchange: { status: "empty", error: new PortalError("service_unavailable") } });
    expect(screen.getByRole("alert")).toHaveTextContent("The service does not answer right now.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(calls.renew).toHaveBeenCalledTimes(1);
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
  });

  it("says that one has to sign in again when the service takes the session no more, and keeps the screen", async () => {
    const session = { token: "t", claims };
    const { calls } = await show({ exchange: { status: "ready", session, error: new PortalError("login_required") } });
    expect(screen.getByRole("alert")).toHaveTextContent("Your sign-in has ended");
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: /Sign in/ }));
    expect(calls.signInAgain).toHaveBeenCalledTimes(1);
  });

  it("says that the service does not answer, as long as it does not, and where to look", async () => {
    const { isDown } = await show();
    act(() => {
      isDown.set(true);
    });
    expect(screen.getByText("The service does not answer right now")).toBeVisible();
    expect(screen.getByRole("link", { name: "See what answers" })).toHaveAttribute("href", "/status");
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
    await expectAccessible();
    act(() => {
      isDown.set(false);
    });
    expect(screen.queryByText("The service does not answer right now")).not.toBeInTheDocument();
  });

  it("says it once only when the session token could not be had either", async () => {
    const { isDown } = await show({ exchange: { status: "empty", error: new PortalError("service_unavailable") } });
    act(() => {
      isDown.set(true);
    });
    expect(screen.getAllByText(/does not answer right now/)).toHaveLength(1);
  });

  it("offers a newer release set, which can wait", async () => {
    const { watch } = await show();
    act(() => {
      watch.set({ newer: true, disabled: new Set(), expired: false });
    });
    expect(screen.getByRole("status")).toHaveTextContent("A newer version of this portal is ready");
    expect(screen.getByRole("button", { name: "Reload" })).toBeEnabled();
    await userEvent.click(screen.getByRole("button", { name: "Later" }));
    expect(screen.queryByText(/A newer version/)).not.toBeInTheDocument();
  });

  it("says when the page is too old to check its parts, which cannot wait", async () => {
    const { watch } = await show();
    act(() => {
      watch.set({ newer: false, disabled: new Set(), expired: true });
    });
    expect(screen.getByRole("status")).toHaveTextContent("This page has been open for too long");
    expect(screen.queryByRole("button", { name: "Later" })).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("asks to sign in again when the sign-in ended, and keeps the screen", async () => {
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

  it("leaves the page for the sign-in only where no window can be had", async () => {
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
    expect(calls.signIn).toHaveBeenCalledWith("/add-secret");
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

  it("takes no second press on the sidebar while it changes its width, for 250 ms", async () => {
    await show();
    const press = () => {
      fireEvent.click(screen.getByRole("button", { name: /(Narrow|Wide) sidebar/ }));
    };
    press();
    jest.advanceTimersByTime(249);
    press();
    expect(screen.getByRole("button", { name: "Wide sidebar" })).toBeVisible();
    jest.advanceTimersByTime(1);
    press();
    expect(screen.getByRole("button", { name: "Narrow sidebar" })).toBeVisible();
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
    ["es", "Navegador no compatible", "hay que usar un navegador externo", "Ver en otra ventana"],
    ["en", "Browser not supported", "an external browser must be used", "Open in another window"],
  ] as const)(
    "is told so, with one button that opens the same address in a new window (%s)",
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

  it("is told nothing before somebody signs in", async () => {
    await show({ path: "/shared/x", signedIn: false });
    expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
  });
});

it("a browser with WebAssembly is told nothing", async () => {
  await show();
  expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
});

describe("the flag of a language", () => {
  it.each([
    ["en", "English"],
    ["es", "Español"],
  ] as const)("stands beside its name (%s)", async (language, name) => {
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
  ] as const)("says what is going on (%s, %s)", async (language, kind, text) => {
    await renderApp(<Overlay kind={kind} />, { language });
    expect(screen.getByRole("status")).toHaveTextContent(text);
    expect(screen.getByRole("status")).toHaveStyle({ zIndex: "99" });
  });
});

describe("SignInFailed", () => {
  it("says Oops and what happened, and offers another try", async () => {
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
  it("asks one question after the other and hands the answers back", async () => {
    const confirms = createConfirmQueue();
    await renderApp(<ConfirmHost confirms={confirms} />);
    const answers: boolean[] = [];
    act(() => {
      void confirms.ask({ title: "First?", description: "1" }).then((answer) => answers.push(answer));
      void confirms
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

describe("Toasts", () => {
  it("stand at the top right and go by themselves after 5 s", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "info", text: "Kept" });
    });
    const toast = await screen.findByText("Kept");
    expect(toast.closest(".Toastify__toast-container")).toHaveClass("Toastify__toast-container--top-right");
    const progress = document.querySelector<HTMLElement>(".Toastify__progress-bar");
    expect(progress?.style.animationDuration).toBe("5000ms");
  });

  it("come from the edge of the window, whole, and are forgotten once they have gone", async () => {
    await renderApp(<Toasts />, { animated: true });
    act(() => {
      showToast({ tone: "info", text: "Kept" });
    });
    const line = (await screen.findByText("Kept")).closest<HTMLElement>("[style*=translateX]");
    expect(line?.style.opacity).toBe("");
    await userEvent.click(screen.getByRole("button", { name: "Close" }));
    await waitFor(() => {
      expect(screen.queryByText("Kept")).not.toBeInTheDocument();
    });
  });

  it("wait for the page when they come before it, and are all taken away at sign-out", async () => {
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

  it("shows a notice that assistive technology hears, and that can be closed", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "error", text: "Not kept" });
    });
    const toast = await screen.findByRole("alert");
    expect(toast).toHaveTextContent("Not kept");
    expect(screen.getByRole("button", { name: "Close" })).toBeEnabled();
  });

  it("shows markup as text", async () => {
    await renderApp(<Toasts />);
    act(() => {
      showToast({ tone: "info", text: "<img src=x onerror=alert(1)>" });
    });
    expect(await screen.findByText("<img src=x onerror=alert(1)>")).toBeVisible();
    expect(document.querySelector("img")).toBeNull();
  });
});
