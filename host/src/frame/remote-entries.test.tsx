import type { Language, RemoteManifest } from "@relicario/shared/contract";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost, mockWindow, type FakeHostSettings } from "../testing/fake-host.tsx";
import { Frame } from "./Frame.tsx";

const manifests: NonNullable<FakeHostSettings["manifests"]> = {
  settings: {
    navigation: [
      { route: "/settings/activity", titleKey: "settings:activity.title", icon: "clock", order: 30 },
      { route: "/settings/data", titleKey: "settings:data.title", icon: "archive", order: 20 },
    ],
  },
  sharing: {
    navigation: [
      { route: "/people", titleKey: "beta-share:people.title", icon: "heart", order: 10 },
      { route: "/asked-for", titleKey: "beta-share:asked.title", icon: "mail", order: 40 },
    ],
  },
} satisfies Record<string, Partial<RemoteManifest>>;

interface Settings extends FakeHostSettings {
  readonly mobile?: boolean;
  readonly language?: Language;
  readonly path?: string;
  /** Height that the navigation has for all its lists, in pixels. */
  readonly height?: number;
  readonly routePattern?: string;
}

async function show({ mobile = false, language = "en", path = "/home", height = 1000, ...settings }: Settings = {}) {
  mockWindow({ mobile });
  // jsdom has no layout: the column has this height, its lists have none.
  jest.spyOn(Element.prototype, "clientHeight", "get").mockImplementation(function (this: Element) {
    return this.tagName === "NAV" ? height : 0;
  });
  const fake = createFakeHost({ manifests, ...settings });
  const app = await renderApp(
    <HostContext value={fake.host}>
      <Frame userName="alba" shell signedIn>
        <h1>Screen</h1>
      </Frame>
    </HostContext>,
    { path, language },
  );
  return { app, ...fake };
}

const listLinks = (container: HTMLElement) =>
  within(container)
    .getAllByRole("link")
    .map(({ textContent }) => textContent);
const getSidebarLinks = () => listLinks(screen.getByRole("navigation", { name: /navigation|principal/ }));

afterEach(() => {
  jest.restoreAllMocks();
});

describe("entries that remotes add to the navigation", () => {
  it.each([
    ["en", ["Home", "Secrets", "Shared with me", "Add secret", "Settings"], "People"],
    ["es", ["Inicio", "Secretos", "Compartido conmigo", "Añadir secreto", "Ajustes"], "Personas"],
  ] as const)(
    "follow the five destinations, in their order, with texts of the remote (%s)",
    async (language, five, first) => {
      await show({ language });
      await screen.findByRole("link", { name: first });
      const links = getSidebarLinks();
      expect(links.slice(0, 5)).toEqual(five);
      expect(links[5]).toBe(first);
      expect(links).toHaveLength(9);
      expect(screen.queryByRole("button", { name: /^(More|Más)$/ })).not.toBeInTheDocument();
      await expectAccessible();
    },
  );

  it("lead to their route, which they mark and prefetch", async () => {
    const { calls } = await show({ path: "/people" });
    const link = await screen.findByRole("link", { name: "People" });
    expect(link).toHaveAttribute("href", "/people");
    expect(screen.getAllByRole("link", { current: "page" })).toEqual([link]);
    await userEvent.hover(link);
    expect(calls.prefetch).toHaveBeenCalledWith("sharing", "/people");
  });

  it("have the area's title while the remote's texts do not load", async () => {
    const navigation = [{ route: "/people", titleKey: "beta-share:none.title", icon: "heart" as const, order: 1 }];
    await show({ manifests: { sharing: { navigation } }, language: "es" });
    expect(screen.getByRole("link", { name: "Compartir" })).toHaveAttribute("href", "/people");
  });

  it("are under More if they do not fit, and stay there for the keyboard and for screen readers", async () => {
    await show({ height: 2 * 56 + 10 });
    await screen.findByRole("link", { name: "People" });
    expect(getSidebarLinks().slice(5)).toEqual(["People"]);
    const more = screen.getByRole("button", { name: "More" });
    expect(more).toHaveAttribute("aria-expanded", "false");
    await userEvent.click(more);
    expect(more).toHaveAttribute("aria-expanded", "true");
    expect(getSidebarLinks().slice(5)).toHaveLength(4);
    await expectAccessible();
  });

  it("opens More where the current entry is under it", async () => {
    await show({ height: 56, path: "/asked-for" });
    expect(screen.getByRole("button", { name: "More" })).toHaveAttribute("aria-expanded", "true");
    expect(screen.getByRole("link", { current: "page" })).toHaveAttribute("href", "/asked-for");
  });

  it("are in the menu of phones, below the destinations", async () => {
    const { app } = await show({ mobile: true, language: "es", height: 10 });
    expect(screen.queryByRole("link", { name: "Personas" })).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("button", { name: "Abrir el menú" }));
    const menu = await screen.findByRole("dialog");
    expect(listLinks(menu)).toHaveLength(7);
    await userEvent.click(within(menu).getByRole("button", { name: "Más" }));
    const link = await within(menu).findByRole("link", { name: "Personas" });
    expect(listLinks(menu)).toHaveLength(11);
    await expectAccessible();
    await userEvent.click(link);
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(app.getLocation()).toBe("/people");
  });

  it("are absent while their feature is off, and with a refused remote", async () => {
    await show({ deployment: { features: { requests: false } }, refusedRemotes: ["settings"] });
    await screen.findByRole("link", { name: "People" });
    expect(getSidebarLinks()).toHaveLength(6);
  });

  it("disappear when the remote's release is disabled", async () => {
    const { deploymentWatch } = await show();
    await screen.findByRole("link", { name: "People" });
    act(() => {
      deploymentWatch.set({ updateAvailable: false, disabledRemotes: new Set(["sharing"]), expired: false });
    });
    expect(screen.queryByRole("link", { name: "People" })).not.toBeInTheDocument();
    expect(getSidebarLinks()).toHaveLength(7);
  });
});
