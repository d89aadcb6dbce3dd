import { Dialog, Loading, Page } from "@relicario/shared/ui";
import { expectAccessible, renderApp, type RenderAppSettings } from "@relicario/shared/testing";
import { act, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useEffect, useState, type ReactNode } from "react";
import { Link, Outlet } from "react-router-dom";

import { HostContext, type Host } from "../context/host-context.ts";
import { createFakeHost, mockWindow } from "../testing/fake-host.tsx";
import { Frame } from "./Frame.tsx";

// jsdom has no layout. These fake the scroll position, its maximum, and the resize observer.
let [scrollY, maxScrollY] = [0, 2000];
let notifyResize: () => void = () => undefined;

function scrollWindow(top: number): void {
  scrollY = Math.min(top, maxScrollY);
  window.dispatchEvent(new Event("scroll"));
}

beforeEach(() => {
  [scrollY, maxScrollY] = [0, 2000];
  Object.defineProperty(window, "scrollY", { get: () => scrollY, configurable: true });
  globalThis.ResizeObserver = class {
    readonly notify: () => void;
    constructor(callback: ResizeObserverCallback) {
      this.notify = () => {
        callback([], this);
      };
    }
    observe() {
      notifyResize = this.notify;
    }
    unobserve() {
      notifyResize = () => undefined;
    }
    disconnect() {
      notifyResize = () => undefined;
    }
  };
});

/** Ends the loading state of a screen. */
let finishLoading: () => void = () => undefined;

function useLoaded(): boolean {
  const [isLoaded, setIsLoaded] = useState(false);
  useEffect(() => {
    finishLoading = () => {
      act(() => {
        setIsLoaded(true);
      });
    };
  }, []);
  return isLoaded;
}

function LateScreen() {
  return useLoaded() ? <h1>Late</h1> : <Loading label="Loading">…</Loading>;
}

function RedrawnScreen() {
  const isLoaded = useLoaded();
  return isLoaded ? (
    <section>
      <h1>Whole</h1>
    </section>
  ) : (
    <h1>Loading</h1>
  );
}

function CoveredScreen() {
  const isLoaded = useLoaded();
  return (
    <>
      <h1>Covered</h1>
      <Dialog open={!isLoaded} onClose={() => undefined} title="First this">
        <button type="button">Do it</button>
      </Dialog>
    </>
  );
}

function FocusingScreen() {
  return (
    <>
      <h1>Own</h1>
      <input aria-label="Code" autoFocus />
    </>
  );
}

const settingsScreen = (
  <>
    <h1>Settings</h1>
    <Link to="/settings/billing">Billing</Link>
  </>
);

const screens: Readonly<Record<string, ReactNode>> = {
  "/home": (
    <>
      <h1>Home</h1>
      <Link to="/secrets">inner link</Link>
    </>
  ),
  "/secrets": <Page title="What I keep">rows</Page>,
  "/help": <p>no heading</p>,
  "/status": <LateScreen />,
  "/validate-email": <RedrawnScreen />,
  "/safeguard": <CoveredScreen />,
  "/add-secret": <FocusingScreen />,
  "/settings/profile": settingsScreen,
  "/settings/billing": settingsScreen,
};

function Root({ host }: { readonly host: Host }) {
  return (
    <HostContext value={host}>
      <Frame userName="alba" shell signedIn>
        <Outlet />
      </Frame>
    </HostContext>
  );
}

/** Shows the frame and the host's routes with this test's screens. */
async function show(path: string, settings: RenderAppSettings = {}, type: "navigate" | "reload" = "navigate") {
  mockWindow({ mobile: false });
  Object.defineProperty(performance, "getEntriesByType", { value: () => [{ type }], configurable: true });
  window.scrollTo = ((to: ScrollToOptions) => {
    scrollWindow(to.top ?? 0);
  }) as typeof window.scrollTo;
  const { host } = createFakeHost();
  const children = host.routes.map((route) => ({
    path: route.path,
    handle: route,
    element: screens[route.path] ?? <h1>{route.path}</h1>,
  }));
  return renderApp(null, { routeTree: [{ element: <Root host={host} />, children }], path, ...settings });
}

const getHeading = (name: string) => screen.getByRole("heading", { level: 1, name });

describe("the title of the window", () => {
  it("is the route's title when the screen sets no title", async () => {
    const app = await show("/home");
    await act(() => app.i18n.loadNamespaces("beta-home")); // texts that load together with the remote's code
    expect(document.title).toBe("Home · Relicario");
    await app.goTo("/help");
    await act(() => app.i18n.loadNamespaces("help"));
    expect(document.title).toBe("Help · Relicario");
    await app.goTo("/home");
    expect(document.title).toBe("Home · Relicario");
  });

  it("is the product's name until the route's texts are loaded", async () => {
    const app = await show("/safeguard");
    expect(document.title).toBe("Relicario");
    await act(() => app.i18n.loadNamespaces("safeguard"));
    expect(document.title).toMatch(/^.+ · Relicario$/);
  });

  it("stays unchanged after a screen has set it", async () => {
    const app = await show("/secrets");
    await app.goTo("/home");
    await app.goTo("/secrets");
    expect(document.title).toMatch(/^What I keep/);
    await act(() => app.i18n.loadNamespaces("beta-home"));
    expect(document.title).toMatch(/^What I keep/);
  });

  it("follows the chosen language", async () => {
    const app = await show("/home");
    await act(() => app.i18n.loadNamespaces("beta-home"));
    await act(() => app.i18n.changeLanguage("es"));
    expect(document.title).toBe("Inicio · Relicario");
  });
});

describe("the focus", () => {
  it("stays where it is on the first screen", async () => {
    await show("/home");
    expect(document.body).toHaveFocus();
  });

  it("moves to the heading of each next screen", async () => {
    const app = await show("/home");
    await userEvent.click(screen.getByRole("link", { name: "Secrets" }));
    expect(getHeading("What I keep")).toHaveFocus();
    await app.goTo("/home");
    expect(getHeading("Home")).toHaveFocus();
  });

  it("moves to the heading when the link is on a screen that stays", async () => {
    await show("/settings/profile");
    await userEvent.click(screen.getByRole("link", { name: "Billing" }));
    expect(getHeading("Settings")).toHaveFocus();
  });

  it("waits for a heading that is loading", async () => {
    const app = await show("/home");
    const link = screen.getByRole("link", { name: "Home" });
    act(() => {
      link.focus();
    });
    await app.goTo("/status");
    expect(link).toHaveFocus();
    finishLoading();
    await waitFor(() => {
      expect(getHeading("Late")).toHaveFocus();
    });
  });

  it("follows a heading that is replaced while the screen loads", async () => {
    const app = await show("/home");
    await app.goTo("/validate-email");
    expect(getHeading("Loading")).toHaveFocus();
    finishLoading();
    await waitFor(() => {
      expect(getHeading("Whole")).toHaveFocus();
    });
  });

  it("is not moved once the person presses a key or a pointer", async () => {
    const app = await show("/home");
    await app.goTo("/status");
    await userEvent.tab();
    const focused = document.activeElement;
    finishLoading();
    expect(getHeading("Late")).toBeVisible();
    expect(focused).toHaveFocus();
  });

  it("moves to the main part of a screen without a heading", async () => {
    const app = await show("/home");
    await app.goTo("/help");
    expect(screen.getByRole("main")).toHaveFocus();
  });

  it("stays in a field that the screen focuses", async () => {
    const app = await show("/home");
    await app.goTo("/add-secret");
    expect(screen.getByLabelText("Code")).toHaveFocus();
  });

  it("stays in a dialog, and moves to the heading when it closes", async () => {
    const app = await show("/home");
    await app.goTo("/safeguard");
    expect(await screen.findByRole("dialog")).toContainElement(document.activeElement as HTMLElement);
    finishLoading();
    await waitFor(() => {
      expect(getHeading("Covered")).toHaveFocus();
    });
  });

  it("stays where it is when only the search or hash changes", async () => {
    const app = await show("/secrets");
    const link = screen.getByRole("link", { name: "Home" });
    act(() => {
      link.focus();
    });
    await app.goTo("/secrets?tag=a");
    await app.goTo("/secrets?tag=a#b");
    expect(link).toHaveFocus();
  });
});

describe("the scroll position", () => {
  it("is the top on a new screen, and is restored by back and forward", async () => {
    const app = await show("/home");
    scrollWindow(300);
    await app.goTo("/secrets");
    expect(scrollY).toBe(0);
    scrollWindow(120);
    await app.goBack();
    expect(scrollY).toBe(300);
    await app.goBack(-1);
    expect(scrollY).toBe(120);
  });

  it("stays where it is when only the search or hash changes", async () => {
    const app = await show("/secrets");
    scrollWindow(300);
    await app.goTo("/secrets?tag=a#b");
    expect(scrollY).toBe(300);
    await app.goTo("/home");
    await app.goBack();
    expect(scrollY).toBe(300);
  });

  it("is restored once the page is tall enough", async () => {
    const app = await show("/home");
    scrollWindow(900);
    await app.goTo("/secrets");
    maxScrollY = 200;
    await app.goBack();
    expect(scrollY).toBe(200);
    maxScrollY = 2000;
    notifyResize();
    expect(scrollY).toBe(900);
  });

  it("is not restored once the person presses a key or a pointer", async () => {
    const app = await show("/home");
    scrollWindow(900);
    await app.goTo("/secrets");
    maxScrollY = 200;
    await app.goBack();
    await userEvent.keyboard("{ArrowDown}");
    maxScrollY = 2000;
    notifyResize();
    expect(scrollY).toBe(200);
  });

  it("is restored in a reloaded page, but not in a newly opened one", async () => {
    sessionStorage.setItem("scrollPositions", JSON.stringify({ default: 500 }));
    const app = await show("/home");
    expect(scrollY).toBe(0);
    app.unmount();
    sessionStorage.setItem("scrollPositions", JSON.stringify({ default: 500 }));
    await show("/home", {}, "reload");
    expect(scrollY).toBe(500);
    window.dispatchEvent(new Event("pagehide"));
    expect(JSON.parse(sessionStorage.getItem("scrollPositions") ?? "")).toMatchObject({ default: 500 });
  });

  it("is the top when the stored positions are unreadable", async () => {
    sessionStorage.setItem("scrollPositions", "{");
    await show("/home", {}, "reload");
    expect(scrollY).toBe(0);
  });
});

it("useRouteChange causes no accessibility violations", async () => {
  const app = await show("/home");
  await app.goTo("/secrets");
  await expectAccessible();
});
