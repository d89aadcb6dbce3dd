import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { Me } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp } from "@relicario/shared/testing";
import { account as me } from "../testing/account.ts";
import DeleteAccountPage from "./DeleteAccountPage.tsx";

const dueAt = "2026-12-05T09:00:00.000Z";

/** Fakes the service and records the order of calls. */
function createScenario(overrides: Partial<Me> = {}) {
  let currentMe: Me = { ...me, ...overrides };
  const callOrder: string[] = [];
  const http = createFakeHttpClient({
    "GET /user/me": () => currentMe,
    "DELETE /user/me": () => {
      callOrder.push("delete");
      currentMe = { ...currentMe, deletion_due_at: dueAt };
      return null;
    },
    "POST /user/me/restore": () => {
      callOrder.push("restore");
      currentMe = { ...currentMe, deletion_due_at: null };
      return null;
    },
  });
  const signInAgain = async () => {
    callOrder.push("sign in");
  };
  return { http, callOrder, signInAgain };
}
const submitName = async (name: string) => {
  await userEvent.type(await screen.findByRole("textbox", { name: /Type your name/ }), name);
  await userEvent.click(screen.getByRole("button", { name: "Delete my account" }));
};

describe("deleting the account", () => {
  it("lists what will be lost, and offers the export first", async () => {
    const { http } = createScenario();
    await renderApp(<DeleteAccountPage />, { http });
    expect(await screen.findByRole("region", { name: "What you will lose" })).toHaveTextContent(
      /All 2 secrets.*The one secret you share.*kits.*alba.*14 days/,
    );
    expect(screen.getByRole("link", { name: "Export everything" })).toHaveAttribute("href", "/settings/data");
    await expectAccessible();
  });

  it("requires the user name and a fresh sign-in, then shows until when the deletion can be cancelled", async () => {
    const { http, callOrder, signInAgain } = createScenario();
    await renderApp(<DeleteAccountPage />, { http, signInAgain });
    await submitName("alba");
    expect(await screen.findByText(/will be deleted on 5 Dec 2026/)).toBeVisible();
    expect(callOrder).toEqual(["sign in", "delete"]);
    await expectAccessible();
  });

  it.each(["", "bea", "Alba"])("requests nothing if the name differs: %p", async (name) => {
    const { http, callOrder, signInAgain } = createScenario();
    await renderApp(<DeleteAccountPage />, { http, signInAgain });
    if (name === "") await userEvent.click(await screen.findByRole("button", { name: "Delete my account" }));
    else await submitName(name);
    expect(await screen.findByText("The name does not match.")).toBeVisible();
    expect(screen.getByRole("textbox", { name: /Type your name/ })).toBeInvalid();
    expect(callOrder).toEqual([]);
  });

  it("requests nothing if the browser blocks the sign-in popup", async () => {
    const { http, callOrder } = createScenario();
    await renderApp(<DeleteAccountPage />, {
      http,
      signInAgain: () => Promise.reject(new PortalError("popup_blocked")),
    });
    await submitName("alba");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(callOrder).toEqual([]);
    expect(screen.getByRole("textbox", { name: /Type your name/ })).toHaveValue("alba");
  });

  it("is cancelled by one button during the grace period", async () => {
    const { http, callOrder } = createScenario({ deletion_due_at: dueAt });
    const { record } = await renderApp(<DeleteAccountPage />, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Keep my account" }));
    expect(await screen.findByRole("button", { name: "Delete my account" })).toBeVisible();
    await waitFor(() => {
      expect(record.notices).toEqual([{ tone: "success", text: "Your account will not be deleted." }]);
    });
    expect(callOrder).toEqual(["restore"]);
  });

  it("lists no secrets and shares if there are none", async () => {
    const { http } = createScenario({ licence: { ...me.licence, secrets: 0, shares: 0 } });
    await renderApp(<DeleteAccountPage />, { http });
    const losses = await screen.findByRole("region", { name: "What you will lose" });
    expect(losses).toHaveTextContent(/kits/);
    expect(losses).not.toHaveTextContent(/versions|you share/);
  });

  it("warns if the contact address is not verified", async () => {
    const { http } = createScenario({ contact_email_verified: false });
    await renderApp(<DeleteAccountPage />, { http });
    expect(await screen.findByText(/we can't tell you the date/)).toBeVisible();
  });
});
