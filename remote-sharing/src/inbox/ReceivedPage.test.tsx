import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import {
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeReceivedShare,
  type FakeVaultSettings,
  wholeText,
} from "@relicario/shared/testing";
import remote from "../remote.tsx";

const receivedShares: readonly FakeReceivedShare[] = [
  { title: "Door", content: "x", from: "bruno", expiresAt: "2099-01-02T10:00:00.000Z", viewsLeft: 2 },
  { title: "Will", content: "y", from: "Zoë", openedAt: "2026-11-20T11:00:00.000Z", audience: "signed_in" },
  { title: "Old", content: "z", from: "bruno", available: false, openedAt: "2026-11-19T11:00:00.000Z" },
];

async function renderPage(vaultSettings: FakeVaultSettings = {}, settings: Parameters<typeof renderApp>[1] = {}) {
  const vault = createFakeVault({
    secrets: [{ title: "Mine", content: "x" }],
    people: [{ userName: "bruno", trust: "compared" }],
    received: receivedShares,
    ...vaultSettings,
  });
  const app = await renderApp(null, {
    vault,
    routes: remote.routes,
    routePattern: "/elsewhere",
    path: "/recived",
    ...settings,
  });
  return { ...app, vault };
}

const getRows = () => within(screen.getByRole("list", { name: "Shared with me" })).getAllByRole("article");
const getSearchField = () => screen.getByRole("searchbox", { name: "Search by sender" });

describe("the page of received shares", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("is accessible with its filters open (%s, %s)", async (language, theme) => {
    await renderPage({}, { language, theme });
    await userEvent.click(await screen.findByRole("button", { name: language === "en" ? "Filter" : "Filtrar" }));
    await expectAccessible();
  });

  it("links to requests, unless the vendor disables them", async () => {
    const { unmount } = await renderPage();
    expect(await screen.findByRole("link", { name: "Requests" })).toBeVisible();
    unmount();
    await renderPage({}, { features: { requests: false } });
    expect(await screen.findByRole("link", { name: "People" })).toBeVisible();
    expect(screen.queryByRole("link", { name: "Requests" })).not.toBeInTheDocument();
  });

  it("shows sender, channel, expiry and state of each share", async () => {
    await renderPage();
    expect(await screen.findByText("2 secrets shared with you")).toBeVisible();
    const [firstText, secondText] = getRows().map((row) => row.textContent);
    expect(firstText).toMatch(
      /bruno.*Words compared.*shared with you on 20 Nov 2026.*Not opened yet.*Expires on 2 Jan 2099.*2 more times/,
    );
    expect(secondText).toMatch(/Zoë.*New.*by a link on .*Opened on 20 Nov 2026/);
  });

  it("links to a share for this account, and explains that other shares need their link", async () => {
    const { getLocation } = await renderPage();
    await screen.findByText("2 secrets shared with you");
    expect(screen.getByText(/Only the link opens it/)).toBeVisible();
    await userEvent.click(screen.getByRole("link", { name: "View" }));
    expect(getLocation()).toMatch(/^\/p-shared\/[\w-]{22}$/);
  });

  it("finds shares by name, ignoring case and accents, and shows their number", async () => {
    await renderPage();
    await screen.findByText("2 secrets shared with you");
    await userEvent.type(getSearchField(), "ZOE");
    expect(screen.getByText("1 of 2")).toBeVisible();
    expect(getRows()).toHaveLength(1);
    await userEvent.type(getSearchField(), "x");
    expect(screen.getByRole("heading", { name: "No results" })).toBeVisible();
  });

  it.each([
    ["Status", "new", "bruno"],
    ["Status", "opened", "Zoë"],
    ["How it was shared", "person", "bruno"],
    ["How it was shared", "link", "Zoë"],
  ])("filters by %s: %s", async (label, value, name) => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByLabelText(label), value);
    expect(getRows().map((row) => within(row).getByText(/^(bruno|Zoë)$/).textContent)).toEqual([name]);
    await userEvent.click(screen.getByRole("button", { name: "Clear all filters" }));
    expect(getRows()).toHaveLength(2);
  });

  it("filters by sender", async () => {
    await renderPage();
    await userEvent.click(await screen.findByRole("button", { name: "Filter" }));
    await userEvent.selectOptions(screen.getByLabelText("From"), "Zoë");
    expect(screen.getByRole("button", { name: "Filter (1)" })).toBeVisible();
    expect(getRows()).toHaveLength(1);
  });

  it("shows ended shares on request", async () => {
    await renderPage();
    await screen.findByText("2 secrets shared with you");
    expect(screen.queryByText("You can no longer open it")).not.toBeInTheDocument();
    await userEvent.click(screen.getByRole("switch", { name: "Show expired" }));
    expect(await screen.findByText("3 secrets shared with you")).toBeVisible();
    expect(screen.getByText("You can no longer open it")).toBeVisible();
    await expectAccessible();
  });

  it("explains its purpose while it is empty", async () => {
    await renderPage({ received: [] });
    expect(await screen.findByRole("heading", { name: "Nothing has been shared with you" })).toBeVisible();
    expect(screen.getByText(wholeText(/Others find you by the name alba/))).toBeVisible();
    await expectAccessible();
  });

  it("shows a failure, and retries", async () => {
    const vault = createFakeVault({ secrets: [{ title: "Mine", content: "x" }], received: receivedShares });
    vault.failWith("received.list", "service_unavailable");
    await renderPage({}, { vault });
    const retryButton = await screen.findByRole("button", { name: "Try again" });
    vault.failWith("received.list", null);
    await userEvent.click(retryButton);
    expect(await screen.findByText("2 secrets shared with you")).toBeVisible();
  });

  it("asks to unlock a locked device", async () => {
    await renderPage({ unlocked: false });
    expect(await screen.findByRole("link", { name: "Unlock" })).toHaveAttribute(
      "href",
      "/provide-image-recovery?then=%2Frecived",
    );
  });
});
