import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { OwnSession } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import {
  createFakeHttpClient,
  createFakeVault,
  expectAccessible,
  renderApp,
  type FakeHttpClient,
} from "@relicario/shared/testing";
import SecurityPage from "./SecurityPage.tsx";

const createId = (digit: string): string => `01890a5d-ac96-7000-8000-00000000000${digit}`;
const timestamps = { signed_in_at: "2026-11-20T09:00:00.000Z", last_seen_at: "2026-11-21T10:00:00.000Z" };
const currentSession: OwnSession = {
  id: createId("1"),
  current: true,
  device: "Firefox, Linux",
  address: "192.0.2.x",
  ...timestamps,
};
const otherSession: OwnSession = {
  id: createId("2"),
  current: false,
  device: "Safari, iPhone",
  address: "198.51.100.x",
  ...timestamps,
};
const unknownSession: OwnSession = { id: createId("3"), current: false, device: null, address: null, ...timestamps };

/** Fakes the service: lists and revokes sessions. */
function createService(...sessions: OwnSession[]): FakeHttpClient {
  let currentSessions = sessions;
  const http = createFakeHttpClient({
    "GET /user/sessions": () => ({ sessions: currentSessions }),
    "DELETE /user/sessions": () => {
      currentSessions = currentSessions.filter(({ current }) => current);
      return null;
    },
  });
  for (const { id } of sessions) {
    http.answer(`DELETE /user/sessions/${id}`, () => {
      currentSessions = currentSessions.filter((session) => session.id !== id);
      return null;
    });
  }
  return http;
}
const findRows = async () =>
  within(await screen.findByRole("region", { name: "Signed-in devices" })).findAllByRole("listitem");

describe("the security page", () => {
  it("lists sessions, marks this browser, and offers to revoke the others only", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession, otherSession, unknownSession) });
    const sessionRows = await findRows();
    const endButtons = sessionRows.map((row) => within(row).queryByRole("button")?.getAttribute("aria-label"));
    expect(endButtons).toEqual([undefined, "Sign out: Safari, iPhone", "Sign out: Unknown browser"]);
    expect(sessionRows[0]).toHaveTextContent(/Firefox, Linux.*This browser.*20 Nov 2026.*192\.0\.2\.x/);
    await expectAccessible();
  });

  it("keeps ways to open for the chosen time", async () => {
    const vault = createFakeVault({ images: [{ name: "Lake", picture: "lake" }] });
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault });
    const field = await screen.findByRole("combobox", { name: /^Ask for a way to open/ });
    expect(field).toHaveValue("five_minutes");
    await userEvent.selectOptions(field, "Every time");
    expect(vault.keepOpen.get()).toBe("every_time");
  });

  it("shows number and words of this device's history, newest or of a number", async () => {
    const vault = createFakeVault({ images: [{ name: "Lake", picture: "lake" }] });
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault });
    const card = within(await screen.findByRole("region", { name: "Compare two devices" }));
    await userEvent.click(card.getByRole("button", { name: "Show words" }));
    expect(within(await card.findByRole("list", { name: "Words at number 12" })).getAllByRole("listitem")).toHaveLength(
      8,
    );
    await userEvent.type(card.getByLabelText(/^Number on the other device/), "7");
    await userEvent.click(card.getByRole("button", { name: "Show words" }));
    expect(await card.findByRole("list", { name: "Words at number 7" })).toBeVisible();
    await userEvent.type(card.getByLabelText(/^Number on the other device/), "0");
    await userEvent.click(card.getByRole("button", { name: "Show words" }));
    expect(await card.findByText("This device does not know that number.")).toBeVisible();
    await expectAccessible();
  });

  it("revokes a session after a confirmation", async () => {
    const http = createService(currentSession, otherSession);
    const { record } = await renderApp(<SecurityPage />, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Sign out: Safari, iPhone" }));
    await waitFor(() => {
      expect(screen.queryByText("Safari, iPhone")).not.toBeInTheDocument();
    });
    expect(record.confirms).toMatchObject([{ title: "Sign out of Safari, iPhone?", danger: true }]);
    expect(record.notices).toEqual([{ tone: "success", text: "Device signed out." }]);
    expect(screen.queryByRole("button", { name: "Sign out all others" })).not.toBeInTheDocument();
  });

  it("revokes nothing if declined", async () => {
    const http = createService(currentSession, otherSession);
    await renderApp(<SecurityPage />, { http, confirmAnswer: false });
    await userEvent.click(await screen.findByRole("button", { name: "Sign out: Safari, iPhone" }));
    expect(http.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("revokes all other sessions at once", async () => {
    const { record } = await renderApp(<SecurityPage />, {
      http: createService(currentSession, otherSession, unknownSession),
    });
    await userEvent.click(await screen.findByRole("button", { name: "Sign out all others" }));
    await waitFor(async () => {
      expect(await findRows()).toHaveLength(1);
    });
    expect(record.notices).toEqual([{ tone: "success", text: "2 devices signed out." }]);
  });

  it("shows a failure and keeps the list, but ignores that a session has already ended", async () => {
    const http = createService(currentSession, otherSession, unknownSession);
    await renderApp(<SecurityPage />, { http });
    http.answer(`DELETE /user/sessions/${otherSession.id}`, () => {
      throw new PortalError("service_unavailable");
    });
    await userEvent.click(await screen.findByRole("button", { name: "Sign out: Safari, iPhone" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(await findRows()).toHaveLength(3);
    http.answer(`DELETE /user/sessions/${unknownSession.id}`, () => {
      throw new PortalError("not_found");
    });
    await userEvent.click(screen.getByRole("button", { name: "Sign out: Unknown browser" }));
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
  });

  it("sets the minutes until this browser locks", async () => {
    const vault = createFakeVault();
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault });
    const field = await screen.findByDisplayValue("15 minutes");
    expect(field).toHaveAccessibleName("Lock after");
    await userEvent.selectOptions(field, "4 hours");
    expect(vault.autoLock.get()).toBe(240);
    expect(field).toHaveDisplayValue("4 hours");
  });

  it("renders the field disabled while the vault loads", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault: new Promise(() => undefined) });
    await findRows();
    const field = screen.getByRole("combobox", { name: "Lock after" });
    expect(field).toBeDisabled();
    expect(field).toHaveAccessibleDescription(/^Applies to this browser/);
    await expectAccessible();
  });

  it("shows sessions last", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession, otherSession) });
    await findRows();
    expect(screen.getAllByRole("heading", { level: 2 }).map((session) => session.textContent)).toEqual([
      "Auto-lock",
      "Ways to open",
      "More about security",
      "Compare two devices",
      "Signed-in devices",
    ]);
  });

  it("shows sessions even if the vault does not load", async () => {
    await renderApp(<SecurityPage />, {
      http: createService(currentSession),
      vault: Promise.reject(new PortalError("vault_unavailable")),
    });
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(await screen.findByText("Firefox, Linux")).toBeVisible();
  });

  it("links to related pages", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession) });
    const links = ["What opens my secrets", "People"].map((name) =>
      screen.getByRole("link", { name }).getAttribute("href"),
    );
    expect(links).toEqual(["/openers", "/people"]);
    // a copy of a recovery image opens secrets even if it is only 200 pixels wide
    expect(screen.queryByRole("img")).not.toBeInTheDocument();
  });
});
