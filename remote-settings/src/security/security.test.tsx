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

/** The service's side: lists, and ends what it is told to. */
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
  within(await screen.findByRole("region", { name: "Devices and sign-ins" })).findAllByRole("listitem");

describe("the security page", () => {
  it("lists sign-ins, names this browser, and offers to end the others alone", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession, otherSession, unknownSession) });
    const sessionRows = await findRows();
    const endButtons = sessionRows.map((row) => within(row).queryByRole("button")?.getAttribute("aria-label"));
    expect(endButtons).toEqual([undefined, "End the sign-in: Safari, iPhone", "End the sign-in: Unknown browser"]);
    expect(sessionRows[0]).toHaveTextContent(/Firefox, Linux.*This browser.*20 Nov 2026.*192\.0\.2\.x/);
    await expectAccessible();
  });

  it("ends one after asking, says so, and lists it no more", async () => {
    const http = createService(currentSession, otherSession);
    const { record } = await renderApp(<SecurityPage />, { http });
    await userEvent.click(await screen.findByRole("button", { name: "End the sign-in: Safari, iPhone" }));
    await waitFor(() => {
      expect(screen.queryByText("Safari, iPhone")).not.toBeInTheDocument();
    });
    expect(record.confirms).toMatchObject([{ title: "End the sign-in of Safari, iPhone?", danger: true }]);
    expect(record.notices).toEqual([{ tone: "success", text: "The sign-in has ended." }]);
    expect(screen.queryByRole("button", { name: "End all others" })).not.toBeInTheDocument();
  });

  it("ends nothing when the person says no", async () => {
    const http = createService(currentSession, otherSession);
    await renderApp(<SecurityPage />, { http, confirmAnswer: false });
    await userEvent.click(await screen.findByRole("button", { name: "End the sign-in: Safari, iPhone" }));
    expect(http.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("ends all others at once", async () => {
    const { record } = await renderApp(<SecurityPage />, {
      http: createService(currentSession, otherSession, unknownSession),
    });
    await userEvent.click(await screen.findByRole("button", { name: "End all others" }));
    await waitFor(async () => {
      expect(await findRows()).toHaveLength(1);
    });
    expect(record.notices).toEqual([{ tone: "success", text: "2 sign-ins have ended." }]);
  });

  it("says what went wrong and keeps the list; one that ended meanwhile is nothing wrong", async () => {
    const http = createService(currentSession, otherSession, unknownSession);
    await renderApp(<SecurityPage />, { http });
    http.answer(`DELETE /user/sessions/${otherSession.id}`, () => {
      throw new PortalError("service_unavailable");
    });
    await userEvent.click(await screen.findByRole("button", { name: "End the sign-in: Safari, iPhone" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(await findRows()).toHaveLength(3);
    http.answer(`DELETE /user/sessions/${unknownSession.id}`, () => {
      throw new PortalError("not_found");
    });
    await userEvent.click(screen.getByRole("button", { name: "End the sign-in: Unknown browser" }));
    await waitFor(() => {
      expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    });
  });

  it("sets after how long this browser locks", async () => {
    const vault = createFakeVault();
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault });
    const field = await screen.findByDisplayValue("15 minutes");
    expect(field).toHaveAccessibleName("Lock this browser after");
    await userEvent.selectOptions(field, "4 hours");
    expect(vault.autoLock.get()).toBe(240);
    expect(field).toHaveDisplayValue("4 hours");
  });

  it("keeps the field's place while the vault is on its way", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession), vault: new Promise(() => undefined) });
    await findRows();
    const field = screen.getByRole("combobox", { name: "Lock this browser after" });
    expect(field).toBeDisabled();
    expect(field).toHaveAccessibleDescription(/^Kept in this browser/);
    await expectAccessible();
  });

  it("has its sign-ins last, whose number nobody knows before", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession, otherSession) });
    await findRows();
    expect(screen.getAllByRole("heading", { level: 2 }).map((session) => session.textContent)).toEqual([
      "Locking by itself",
      "More about your security",
      "Devices and sign-ins",
    ]);
  });

  it("shows its list where the vault does not load", async () => {
    await renderApp(<SecurityPage />, {
      http: createService(currentSession),
      vault: Promise.reject(new PortalError("vault_unavailable")),
    });
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(await screen.findByText("Firefox, Linux")).toBeVisible();
  });

  it("leads to what the other areas own", async () => {
    await renderApp(<SecurityPage />, { http: createService(currentSession) });
    const links = ["What opens my secrets", "My safety words and people I know"].map((name) =>
      screen.getByRole("link", { name }).getAttribute("href"),
    );
    expect(links).toEqual(["/openers", "/people"]);
    expect(screen.queryByRole("img")).not.toBeInTheDocument(); // 200 pixels of an image are enough to recover
  });
});
