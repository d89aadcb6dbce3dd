import { usePortal } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useEffect } from "react";
import { useLocation } from "react-router-dom";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost } from "../testing/fake-host.tsx";
import type { LazyRoute, ParsedModule } from "../remotes/remote-module.ts";
import { createPageGuard } from "../remotes/page-guard.ts";
import { RemoteArea } from "./RemoteArea.tsx";
import type { RemoteLoader } from "../remotes/loader.ts";

interface Settings {
  readonly load?: () => Promise<ParsedModule>;
  readonly loadPage?: RemoteLoader["loadPage"];
  readonly path?: string;
  readonly language?: "en" | "es";
}

const Profile = () => <h1>Profile of {usePortal().user.userName}</h1>;
const createRoute = (path: string): LazyRoute => ({ path, load: () => Promise.resolve({ default: Profile }) });
const remoteModule: ParsedModule = { name: "settings", routes: [createRoute("/settings/profile")] };

async function show({
  load = () => Promise.resolve(remoteModule),
  loadPage,
  path = "/settings/profile",
  language = "en",
}: Settings = {}) {
  const onCrash = jest.fn();
  const onRetry = jest.fn();
  const loadRemote = jest.fn(load);
  const pages = new Map<LazyRoute["load"], ReturnType<RemoteLoader["loadPage"]>>();
  const loadPageOnce: RemoteLoader["loadPage"] = (_name, route) => {
    const loading = pages.get(route.load) ?? route.load().then(({ default: component }) => component);
    pages.set(route.load, loading);
    return loading;
  };
  const loader = { load: loadRemote, loadPage: loadPage ?? loadPageOnce };
  const pageGuard = createPageGuard({ document, isImporting: () => false });
  const scope = jest.fn((portal: Parameters<React.ComponentProps<typeof RemoteArea>["scope"]>[0]) => portal);
  function Area() {
    const portal = usePortal();
    const { pathname } = useLocation();
    return (
      <>
        <nav>navigation</nav>
        <RemoteArea
          name="settings"
          path={pathname}
          loader={loader}
          pageGuard={pageGuard}
          portal={portal}
          scope={scope}
          onCrash={onCrash}
          onRetry={onRetry}
        />
      </>
    );
  }
  // React also logs what a boundary catches.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  const app = await renderApp(
    <HostContext value={createFakeHost().host}>
      <Area />
    </HostContext>,
    { path, language },
  );
  return { app, onCrash, onRetry, loads: loadRemote };
}

/** A component that suspends after a click continues only inside an awaited act. */
const tryAgain = () => act(() => userEvent.click(screen.getByRole("button", { name: "Try again" })));

afterEach(() => {
  jest.restoreAllMocks();
});

describe("RemoteArea", () => {
  it("shows the remote's screen at its path, with the portal", async () => {
    await show();
    expect(await screen.findByRole("heading", { name: "Profile of alba" })).toBeVisible();
  });

  it.each([
    ["en", "Settings: not available right now", "could not be loaded", "Try again"],
    ["es", "Ajustes: no disponible en este momento", "No se ha podido cargar", "Intentar de nuevo"],
  ] as const)(
    "names the area and the error when the remote does not load (%s)",
    async (language, title, words, action) => {
      await show({ load: () => Promise.reject(new PortalError("remote_unreachable")), language });
      const alert = await screen.findByRole("alert");
      expect(alert).toHaveTextContent(title);
      expect(alert).toHaveTextContent(words);
      expect(screen.getByRole("button", { name: action })).toBeEnabled();
      expect(screen.getByRole("navigation")).toBeVisible();
      await expectAccessible();
    },
  );

  it("keeps one placeholder until the remote and its screen are loaded", async () => {
    let resolveRemote = (_remote: ParsedModule): void => undefined;
    let resolvePage = (_code: { default: typeof Profile }): void => undefined;
    const load = jest.fn(() => new Promise<{ default: typeof Profile }>((resolve) => (resolvePage = resolve)));
    await show({ load: () => new Promise((resolve) => (resolveRemote = resolve)) });
    const placeholder = screen.getByRole("status");
    await act(async () => {
      resolveRemote({ ...remoteModule, routes: [{ path: "/settings/profile", load }] });
    });
    expect(load).toHaveBeenCalledTimes(1);
    expect(screen.getByRole("status")).toBe(placeholder);
    await act(async () => {
      resolvePage({ default: Profile });
    });
    expect(await screen.findByRole("heading", { name: "Profile of alba" })).toBeVisible();
  });

  it.each(["does not load", "fails"])("shows the next screen when the first one %s", async (outcome) => {
    let fail = (_error: Error): void => undefined;
    const pages = {
      "/settings/profile": new Promise<{ default: typeof Profile }>((_resolve, reject) => (fail = reject)),
      "/settings/billing": Promise.resolve({ default: () => <h1>Billing</h1> }),
    };
    const { app } = await show({
      load: () =>
        Promise.resolve({
          ...remoteModule,
          routes: Object.entries(pages).map(([path, page]) => ({ path, load: () => page })),
        }),
    });
    expect(screen.getByRole("status")).toBeVisible();
    await app.goTo("/settings/billing");
    if (outcome === "fails")
      await act(async () => {
        fail(new PortalError("remote_unreachable"));
      });
    expect(await screen.findByRole("heading", { name: "Billing" })).toBeVisible();
  });

  it("fetches a screen only when it is opened", async () => {
    const fetched: string[] = [];
    const screens = ["/settings/profile", "/settings/billing", "/settings/payments"].map((path) => ({
      path,
      load: () => {
        fetched.push(path);
        return Promise.resolve({ default: () => <h1>{path}</h1> });
      },
    }));
    const { app, loads } = await show({ load: () => Promise.resolve({ ...remoteModule, routes: screens }) });
    expect(await screen.findByRole("heading", { name: "/settings/profile" })).toBeVisible();
    expect(fetched).toEqual(["/settings/profile"]);
    await app.goTo("/settings/billing");
    expect(await screen.findByRole("heading", { name: "/settings/billing" })).toBeVisible();
    expect(fetched).toEqual(["/settings/profile", "/settings/billing"]);
    expect(loads).toHaveBeenCalled();
  });

  it("loads the remote again on retry", async () => {
    let isReachable = false;
    const { loads, onRetry } = await show({
      load: () => (isReachable ? Promise.resolve(remoteModule) : Promise.reject(new PortalError("remote_unreachable"))),
    });
    await screen.findByRole("alert");
    expect(loads).toHaveBeenCalledTimes(1);
    isReachable = true;
    await tryAgain();
    expect(await screen.findByRole("heading", { name: "Profile of alba" })).toBeVisible();
    expect(loads).toHaveBeenCalledTimes(2);
    expect(onRetry).toHaveBeenCalledTimes(1);
  });

  it("keeps the error when a retry fails", async () => {
    const { loads } = await show({ load: () => Promise.reject(new PortalError("remote_timed_out")) });
    await screen.findByRole("alert");
    await tryAgain();
    expect(await screen.findByRole("alert")).toHaveTextContent("takes too long to load");
    expect(loads).toHaveBeenCalledTimes(2);
  });

  it("loads a failed page again on retry", async () => {
    let isReachable = false;
    await show({
      loadPage: async (_name, route) => {
        if (!isReachable) throw new PortalError("remote_unreachable");
        return (await route.load()).default;
      },
    });
    await screen.findByRole("alert");
    isReachable = true;
    await tryAgain();
    expect(await screen.findByRole("heading", { name: "Profile of alba" })).toBeVisible();
  });

  it("keeps a crash inside the area, shows an error, and reports the crash to the host", async () => {
    const Broken = () => {
      throw new Error("boom");
    };
    const { onCrash } = await show({
      load: () =>
        Promise.resolve({
          ...remoteModule,
          routes: [{ path: "/settings/profile", load: () => Promise.resolve({ default: Broken }) }],
        }),
    });
    expect(await screen.findByRole("alert")).toHaveTextContent("stopped unexpectedly");
    expect(screen.getByRole("navigation")).toBeVisible();
    expect(onCrash).toHaveBeenCalledWith("settings", expect.objectContaining({ code: "remote_crashed" }));
  });

  it("keeps a page mounted between routes with the same code", async () => {
    const load = () => Promise.resolve({ default: () => <input aria-label="What was typed" /> });
    const { app } = await show({
      load: () =>
        Promise.resolve({
          ...remoteModule,
          routes: ["/settings/profile", "/settings/billing"].map((path) => ({ path, load })),
        }),
    });
    await userEvent.type(await screen.findByRole("textbox"), "kept");
    await app.goTo("/settings/billing");
    expect(screen.getByRole("textbox")).toHaveValue("kept");
  });

  it("limits stylesheets to the area, and restores the page when the area is left", async () => {
    const Careless = () => {
      useEffect(() => {
        document.body.classList.add("careless");
        document.head.append(document.createElement("style"));
      }, []);
      return <h1>Careless</h1>;
    };
    const { app } = await show({
      load: () =>
        Promise.resolve({
          ...remoteModule,
          routes: [
            { path: "/settings/billing", load: () => Promise.resolve({ default: Careless }) },
            createRoute("/settings/profile"),
          ],
        }),
      path: "/settings/billing",
    });
    const heading = await screen.findByRole("heading", { name: "Careless" });
    expect(heading.closest('[data-remote="settings"]')).not.toBeNull();
    expect(document.body).toHaveClass("careless");
    const countStyles = () => document.querySelectorAll("head > style:not([data-styled])").length;
    const stylesBefore = countStyles();
    await app.goTo("/settings/profile");
    await screen.findByRole("heading", { name: "Profile of alba" });
    expect(document.body).toHaveClass("careless");
    app.unmount();
    expect(document.body).not.toHaveClass("careless");
    expect(countStyles()).toBe(stylesBefore - 1);
  });

  it("removes the error of a crash on navigation", async () => {
    const Broken = () => {
      throw new Error("boom");
    };
    const { app } = await show({
      load: () =>
        Promise.resolve({
          ...remoteModule,
          routes: [
            { path: "/settings/billing", load: () => Promise.resolve({ default: Broken }) },
            createRoute("/settings/profile"),
          ],
        }),
      path: "/settings/billing",
    });
    await screen.findByRole("alert");
    await app.goTo("/settings/profile");
    expect(await screen.findByRole("heading", { name: "Profile of alba" })).toBeVisible();
  });
});
