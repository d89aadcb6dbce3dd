import { useLeaveGuard, usePortal } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createI18n } from "@relicario/shared/i18n";
import { expectAccessible, createDiskTextsFetcher } from "@relicario/shared/testing";
import { act, render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import type { ComponentType } from "react";
import { Link, Navigate, Route, RouterProvider, Routes, useParams } from "react-router-dom";

import { createFeatureFlags } from "./settings/feature-flags.ts";
import type { Host } from "./context/host-context.ts";
import { HostRoot } from "./HostRoot.tsx";
import { createPortalRouter } from "./router.tsx";
import { createFakeHost, mockWindow } from "./testing/fake-host.tsx";

function Home() {
  const { navigate } = usePortal();
  return (
    <>
      <h1>Home</h1>
      <button
        type="button"
        onClick={() => {
          navigate("/edit-secret/7");
        }}
      >
        edit
      </button>
    </>
  );
}

/** A screen with unsaved input. */
function Edit() {
  const { confirm } = usePortal();
  useLeaveGuard(true, () => confirm({ title: "Leave?", description: "What you typed is lost." }));
  return <h1>Edit {useParams()["secretId"]}</h1>;
}

function Settings() {
  return (
    <>
      <h1>Settings</h1>
      <Link to="/settings/more/billing">Billing</Link>
    </>
  );
}

/** A remote's own routes below a path that ends in `*`. */
function BillingRoutes() {
  return (
    <Routes>
      <Route index element={<Navigate to="/settings/profile" replace />} />
      <Route path="more/billing" element={<h1>Nothing to pay</h1>} />
    </Routes>
  );
}

function Broken(): never {
  throw new Error("boom");
}

const pages: Readonly<Record<string, ComponentType>> = {
  "/home": Home,
  "/edit-secret/:secretId": Edit,
  "/settings/profile": Settings,
  "/settings/*": BillingRoutes,
  "/secrets": Broken,
};
const routes = Object.entries(pages).map(([path, page]) => ({ path, load: () => Promise.resolve({ default: page }) }));

const loader: Host["loader"] = {
  load: (name) => Promise.resolve({ name, routes }),
  loadWithoutTexts: (name) => Promise.resolve({ name, routes }),
  loadPage: (_name, route) => route.load().then(({ default: page }) => page),
  isImporting: () => false,
  prefetch: () => undefined,
};

let router: ReturnType<typeof createPortalRouter>;
let unmount: () => void;

async function show(path: string, overrides: Partial<Host> = {}) {
  mockWindow({ mobile: false });
  window.history.pushState(null, "", path);
  const { host, calls } = createFakeHost();
  const i18n = await createI18n({
    language: "en",
    product: "Relicario",
    fetchTexts: createDiskTextsFetcher(),
    namespaces: ["common", "errors", "header", "beta-sidebar", "modals", "language"],
  });
  const remotes: Host["verifiedDeployment"]["remotes"] = new Map(
    [...host.verifiedDeployment.remotes].map(([name, remote]) => [
      name,
      remote.status === "verified"
        ? {
            ...remote,
            record: {
              ...remote.record,
              manifest: { ...remote.record.manifest, capabilities: ["navigate", "confirm"] },
            },
          }
        : remote,
    ]),
  );
  const testHost: Host = {
    ...host,
    verifiedDeployment: { ...host.verifiedDeployment, remotes },
    i18n,
    loader,
    ...overrides,
  };
  router = createPortalRouter(testHost);
  await act(async () => {
    ({ unmount } = render(
      <HostRoot host={testHost}>
        <RouterProvider router={router} />
      </HostRoot>,
    ));
    await Promise.resolve();
  });
  return { calls };
}

const findHeading = (name: string) => screen.findByRole("heading", { level: 1, name });
const press = (name: string) => act(() => userEvent.click(screen.getByRole("button", { name })));
const expectPath = (path: string) =>
  waitFor(() => {
    expect(window.location.pathname).toBe(path);
  });

beforeEach(() => {
  localStorage.setItem("onboarding", "true");
  // React also logs what a boundary catches.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
});

afterEach(() => {
  unmount();
  router.dispose();
  jest.restoreAllMocks();
});

describe("the router of the portal", () => {
  it.each([
    ["/", "/home", "Home"],
    ["/nothing/here", "/home", "Home"],
    ["/settings", "/settings/profile", "Settings"],
  ])("redirects from %s to %s", async (path, expected, title) => {
    await show(path);
    expect(await findHeading(title)).toBeVisible();
    await expectPath(expected);
  });

  it.each([
    [{ editing: false }, "/home", "Home"],
    [{ editing: true }, "/edit-secret/7", "Edit 7"],
    [{}, "/edit-secret/7", "Edit 7"],
  ])("redirects home from a route whose feature is off (%j)", async (features, expected, title) => {
    const routes = createFakeHost().host.routes.map((route) =>
      route.path === "/edit-secret/:secretId" ? { ...route, feature: "editing" } : route,
    );
    await show("/edit-secret/7", {
      routes,
      flags: createFeatureFlags({ environment: "production", features }, sessionStorage),
    });
    expect(await findHeading(title)).toBeVisible();
    await expectPath(expected);
  });

  it("passes parameters to screens, and lets a remote have its own routes below a path", async () => {
    await show("/home");
    await findHeading("Home");
    await press("edit");
    expect(await findHeading("Edit 7")).toBeVisible();
    unmount();
    router.dispose();
    await show("/settings/profile");
    await findHeading("Settings");
    await act(() => userEvent.click(screen.getByRole("link", { name: "Billing" })));
    expect(await findHeading("Nothing to pay")).toBeVisible();
    await expectAccessible();
  });

  it("keeps the frame mounted across remotes and the host's own screens", async () => {
    await show("/home");
    await findHeading("Home");
    const [main, navigation] = [screen.getByRole("main"), screen.getByRole("navigation", { name: "Main navigation" })];
    await act(() => router.navigate("/settings/profile"));
    await findHeading("Settings");
    await act(() => router.navigate("/status"));
    await findHeading("Status");
    expect(screen.getByRole("main")).toBe(main);
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBe(navigation);
  });
});

describe("a screen with unsaved input", () => {
  const openEditor = async () => {
    await show("/home");
    await findHeading("Home");
    await press("edit");
    await findHeading("Edit 7");
  };
  const goBack = () => {
    act(() => {
      window.history.back();
    });
  };
  const answer = async (name: string) => {
    await screen.findByRole("dialog", { name: "Leave?" });
    await press(name);
  };

  it("asks for confirmation when a link leads to another screen, and follows the answer", async () => {
    await openEditor();
    await act(() => userEvent.click(screen.getByRole("link", { name: "Settings" })));
    await answer("Cancel");
    expect(screen.getByRole("heading", { name: "Edit 7" })).toBeVisible();
    expect(window.location.pathname).toBe("/edit-secret/7");
    await act(() => userEvent.click(screen.getByRole("link", { name: "Settings" })));
    await answer("Yes");
    expect(await findHeading("Settings")).toBeVisible();
    await expectPath("/settings/profile");
  });

  it("asks at the browser's back button, and the next screen gets the focus after the answer", async () => {
    await openEditor();
    goBack();
    await answer("Cancel");
    await expectPath("/edit-secret/7");
    goBack();
    await answer("Yes");
    await expectPath("/home");
    await waitFor(() => {
      expect(screen.getByRole("heading", { name: "Home" })).toHaveFocus();
    });
  });
});

describe("an error while rendering", () => {
  it("stays in the area of a remote", async () => {
    await show("/secrets");
    expect(await screen.findByRole("alert")).toHaveTextContent("stopped unexpectedly");
    expect(screen.getByRole("navigation", { name: "Main navigation" })).toBeVisible();
    await act(() => router.navigate("/home"));
    expect(await findHeading("Home")).toBeVisible();
  });

  it("of the frame shows the portal's crash screen, which still signs out", async () => {
    const theme: Host["theme"] = {
      getState: () => {
        throw new PortalError("unknown");
      },
      toggle: () => undefined,
      subscribe: () => () => undefined,
    };
    const { calls } = await show("/home", { theme });
    expect(await findHeading("Something went wrong here")).toBeVisible();
    expect(screen.queryByText(/Unexpected Application Error/)).not.toBeInTheDocument();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Sign out" }));
    expect(calls.signOut).toHaveBeenCalledTimes(1);
  });
});
