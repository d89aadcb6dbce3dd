import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeReceivedShare,
  type FakeVaultSettings,
} from "@relicario/shared/testing";
import remote from "../remote.tsx";

const received: readonly FakeReceivedShare[] = [
  { title: "Door", content: "x", from: "bruno", expiresAt: "2099-01-02T10:00:00.000Z", viewsLeft: 2 },
  { title: "Will", content: "y", from: "Zoë", openedAt: "2026-11-20T11:00:00.000Z", audience: "signed_in" },
  { title: "Old", content: "z", from: "bruno", available: false, openedAt: "2026-11-19T11:00:00.000Z" },
];

async function renderPage(vaultSettings: FakeVaultSettings = {}, settings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault({
    secrets: [{ title: "Mine", content: "x" }],
    people: [{ userName: "bruno", trust: "compared" }],
    received,
    ...vaultSettings,
  });
  const app = await renderApp(null, {
    vault,
    routes: remote.routes,
    route: "/elsewhere",
    path: "/recived",
    ...settings,
  });
  return { ...app, vault };
}

const getRows = () => within(screen.getByRole("list", { name: "Shared with me" })).getAllByRole("article");
const getSearchField = () => screen.getByRole("searchbox", { name: "Search by name" });

describe("shared with me", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is accessible with its filters open (%s, %s)", async (language, theme) => {
    await renderPage({}, { language, theme });
    await userEvent.click(await screen.findByRole("button", { name: language === "en" ? "Filter" : "Filtrar" }));
    await expectAccessible();
  });

  it("leads to what was asked for, unless the vendor has that switched off", async () => {
    const { unmount } = await renderPage();
    expect(await screen.findByRole("link", { name: "Asked for" })).toBeVisible();
    unmount();
    await renderPage({}, { features: { requests: false } });
    expect(await screen.findByRole("link", { name: "People" })).toBeVisible();
    expect(screen.queryByRole("link", { name: "Asked for" })).not.toBeInTheDocument();
  });

  it("says of each thing who shared it, how it came, until when, and whether it was opened", async () => {
    await renderPage();
    expect(await screen.findByText("2 things shared with you")).toBeVisible();
    const [firstText, secondText] = getRows().map((row) => row.textContent);
    expect(firstText).toMatch(
      /bruno.*Compared.*sealed to you on 20 Nov 2026.*Not opened yet.*until 2 Jan 2099.*2 openings left/,
    );
    expect(secondText).toMatch(/Zoë.*Not known.*link for signed-in people.*Opened on 20 Nov 2026/);
  });

  it("leads to opening what is sealed to this account, and to the link again for what came by one", async () => {
    const { location } = await renderPage();
    await screen.findByText("2 things shared with you");
    expect(screen.getByText(/Its key is in the link alone/)).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "Look and open" }));
    expect(location()).toMatch(/^\/p-shared\/[\w-]{22}$/);
  });

  it("finds by name, without case and accents, and says how many of all", async () => {
    await renderPage();
    await screen.findByText("2 things shared with you");
    await userEvent.type(getSearchField(), "ZOE");
    expect(screen.getByText("One of 2")).toBeVisible();
    expect(getRows()).toHaveLength(1);
    await userEvent.type(getSearchField(), "x");
    expect(screen.getByRole("heading", { name: "Nothing fits" })).toBeVisible();
  });

  it.each([
    ["Opened", "new", "bruno"],
    ["Opened", "opened", "Zoë"],
    ["How it came", "person", "bruno"],
    ["How it came", "link", "Zoë"],
  ])("filters by %s: %s", async (label, value, name) => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByLabelText(label), value);
    expect(getRows().map((row) => within(row).getByText(/^(bruno|Zoë)$/).textContent)).toEqual([name]);
    await userEvent.click(screen.getByRole("button", { name: "Clear all filters" }));
    expect(getRows()).toHaveLength(2);
  });

  it("filters by who shared it", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByLabelText("From"), "Zoë");
    expect(screen.getByRole("button", { name: "Filter (1)" })).toBeVisible();
    expect(getRows()).toHaveLength(1);
  });

  it("shows what has ended when it is asked for", async () => {
    await renderPage();
    await screen.findByText("2 things shared with you");
    expect(screen.queryByText("Can no longer be opened")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("switch", { name: "Show what has ended" }));
    expect(await screen.findByText("3 things shared with you")).toBeVisible();
    expect(screen.getByText("Can no longer be opened")).toBeVisible();
    await expectAccessible();
  });

  it("says what it is for while nothing is there", async () => {
    await renderPage({ received: [] });
    expect(await screen.findByRole("heading", { name: "Nothing is shared with you now" })).toBeVisible();
    expect(screen.getByText(/Others find you by your user name, alba/)).toBeVisible();
    await expectAccessible();
  });

  it("says when it cannot be read, and can be tried again", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Mine", content: "x" }], received });
    vault.failWith("received.list", "service_unavailable");
    await renderPage({}, { vault });
    const retryButton = await screen.findByRole("button", { name: "Try again" });
    vault.failWith("received.list", null);
    await userEvent.click(retryButton);
    expect(await screen.findByText("2 things shared with you")).toBeVisible();
  });

  it("asks to unlock a locked device", async () => {
    await renderPage({ unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Frecived",
    );
  });
});
