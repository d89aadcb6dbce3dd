import type { Deployment } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp, type FakeHttpClient } from "@relicario/shared/testing";
import { colors, s } from "@relicario/shared/ui";
import { act, screen } from "@testing-library/react";

import { VendorLayout } from "../frame/VendorLayout.tsx";
import { HostContext } from "../context/host-context.ts";
import { createFakeHost } from "../testing/fake-host.tsx";
import { createVendorAppearanceStore } from "./vendor-appearance.ts";

const createAcmeHttp = () =>
  createFakeHttpClient({ "GET /vendors/acme": () => ({ vendor_id: "acme", name: "Acme", enabled: true }) });

function setUp(http: FakeHttpClient, layout: "standard" | "vendor" = "standard") {
  const deployment = { vendor_id: "relicario", branding: { product_name: "Relicario", layout } } as Deployment;
  const onUnknownVendor = jest.fn();
  return {
    store: createVendorAppearanceStore({
      deployment,
      storage: sessionStorage,
      publicHttp: http,
      onUnknownVendor,
    }),
    onUnknownVendor,
    http,
  };
}

const flushPromises = () => act(() => Promise.resolve());

beforeEach(() => {
  sessionStorage.clear();
});

describe("createVendorAppearanceStore", () => {
  it("has the deployment's appearance when no vendor is chosen", () => {
    const { store, http } = setUp(createAcmeHttp());
    store.refresh();
    expect(store.getState()).toEqual({ layout: "standard", name: "Relicario" });
    expect(http.calls).toEqual([]);
  });

  it("takes the vendor layout when the deployment sets it", () => {
    expect(setUp(createAcmeHttp(), "vendor").store.getState()).toEqual({ layout: "vendor", name: "Relicario" });
  });

  it("applies the layout of a vendor in session storage at once, and its name when it arrives", async () => {
    sessionStorage.setItem("vendorId", "acme");
    const { store } = setUp(createAcmeHttp());
    store.refresh();
    expect(store.getState().layout).toBe("vendor");
    await flushPromises();
    expect(store.getState()).toEqual({ layout: "vendor", name: "Acme" });
  });

  it("ignores a vendor that the service does not know, and reports it", async () => {
    sessionStorage.setItem("vendorId", "nobody");
    const { store, onUnknownVendor } = setUp(createFakeHttpClient());
    store.refresh();
    await flushPromises();
    expect(store.getState().layout).toBe("standard");
    expect(onUnknownVendor).toHaveBeenCalledTimes(1);
  });

  it("keeps the layout, without a name, while the service is unavailable", async () => {
    sessionStorage.setItem("vendorId", "acme");
    const http = createAcmeHttp();
    http.failWith("service_unavailable");
    const { store, onUnknownVendor } = setUp(http);
    store.refresh();
    await flushPromises();
    expect(store.getState()).toEqual({ layout: "vendor", name: "" });
    expect(onUnknownVendor).not.toHaveBeenCalled();
  });

  it("restores the default when the vendor is reset, even if that vendor's name arrives later", async () => {
    sessionStorage.setItem("vendorId", "acme");
    const { store } = setUp(createAcmeHttp());
    store.refresh();
    sessionStorage.removeItem("vendorId");
    store.refresh();
    await flushPromises();
    expect(store.getState()).toEqual({ layout: "standard", name: "Relicario" });
  });

  it.each(["relicario", "../secrets", "<b>", "A".repeat(80)])("does not take %s as another vendor", (vendorId) => {
    sessionStorage.setItem("vendorId", vendorId);
    const { store, http } = setUp(createAcmeHttp());
    store.refresh();
    expect(store.getState().layout).toBe("standard");
    expect(http.calls).toEqual([]);
  });

  it("reports vendor_unknown", async () => {
    sessionStorage.setItem("vendorId", "acme");
    const { store, onUnknownVendor } = setUp(
      createFakeHttpClient({
        "GET /vendors/acme": () => {
          throw new PortalError("vendor_unknown");
        },
      }),
    );
    store.refresh();
    await flushPromises();
    expect(onUnknownVendor).toHaveBeenCalledTimes(1);
  });
});

describe("VendorLayout", () => {
  const show = (layout: "standard" | "vendor", theme: "light" | "dark" = "light") => {
    const { host } = createFakeHost({ appearance: { layout, name: "Acme" }, theme });
    return renderApp(
      <HostContext value={host}>
        <VendorLayout>
          <h1>Screen</h1>
        </VendorLayout>
      </HostContext>,
      { theme },
    );
  };

  it.each(["light", "dark"] as const)(
    "has a logo at the top right, a dark background and the screen nested in it (%s)",
    async (theme) => {
      await show("vendor", theme);
      const layoutElement = screen.getByTestId("vendor-layout");
      expect(layoutElement).toHaveStyle({ background: s("vendorBackground") });
      const [, red = "", green = "", blue = ""] = /^#(..)(..)(..)$/.exec(colors[theme].vendorBackground) ?? [];
      for (const channel of [red, green, blue]) expect(Number.parseInt(channel, 16)).toBeLessThan(0x40);
      expect(layoutElement.firstElementChild).toHaveStyle({ justifyContent: "flex-end" });
      expect(layoutElement.firstElementChild).toHaveTextContent("Acme");
      expect(layoutElement.lastElementChild).toContainElement(screen.getByRole("heading", { name: "Screen" }));
      await expectAccessible();
    },
  );

  it("renders only the screen in the standard layout", async () => {
    await show("standard");
    expect(screen.queryByTestId("vendor-layout")).not.toBeInTheDocument();
    expect(screen.getByRole("heading", { name: "Screen" })).toBeVisible();
  });
});
