import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { Me } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttp, expectAccessible, renderApp } from "@relicario/shared/testing";
import { account as me } from "../testing/account.ts";
import DeleteAccountPage from "./DeleteAccountPage.tsx";

const dueAt = "2026-12-05T09:00:00.000Z";

/** The service's side, which notes in which order it was asked what. */
function scene(start: Partial<Me> = {}) {
  let now: Me = { ...me, ...start };
  const acts: string[] = [];
  const http = createFakeHttp({
    "GET /user/me": () => now,
    "DELETE /user/me": () => {
      acts.push("delete");
      now = { ...now, deletion_due_at: dueAt };
      return null;
    },
    "POST /user/me/restore": () => {
      acts.push("restore");
      now = { ...now, deletion_due_at: null };
      return null;
    },
  });
  const signInAgain = async () => {
    acts.push("sign in");
  };
  return { http, acts, signInAgain };
}
const confirmAs = async (name: string) => {
  await userEvent.type(await screen.findByRole("textbox", { name: /Type your user name/ }), name);
  await userEvent.click(screen.getByRole("button", { name: "Delete my account" }));
};

describe("deleting the account", () => {
  it("says what will be lost and offers the export first", async () => {
    const { http } = scene();
    await renderApp(<DeleteAccountPage />, { http });
    expect(await screen.findByRole("region", { name: "What will be lost" })).toHaveTextContent(
      /All 2 secrets.*The link or person.*kits.*alba.*14 days/,
    );
    expect(screen.getByRole("link", { name: "Export everything" })).toHaveAttribute("href", "/settings/data");
    await expectAccessible();
  });

  it("takes the user name and a fresh sign-in, then says until when it can be called off", async () => {
    const { http, acts, signInAgain } = scene();
    await renderApp(<DeleteAccountPage />, { http, signInAgain });
    await confirmAs("alba");
    expect(await screen.findByText(/will be deleted on 5 Dec 2026/)).toBeVisible();
    expect(acts).toEqual(["sign in", "delete"]);
    await expectAccessible();
  });

  it.each(["", "bea", "Alba"])("asks for nothing when the name is another one: %p", async (name) => {
    const { http, acts, signInAgain } = scene();
    await renderApp(<DeleteAccountPage />, { http, signInAgain });
    if (name === "") await userEvent.click(await screen.findByRole("button", { name: "Delete my account" }));
    else await confirmAs(name);
    expect(await screen.findByText("This is not your user name.")).toBeVisible();
    expect(screen.getByRole("textbox", { name: /Type your user name/ })).toBeInvalid();
    expect(acts).toEqual([]);
  });

  it("asks for nothing when the window to sign in does not open", async () => {
    const { http, acts } = scene();
    await renderApp(<DeleteAccountPage />, {
      http,
      signInAgain: () => Promise.reject(new PortalError("popup_blocked")),
    });
    await confirmAs("alba");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(acts).toEqual([]);
    expect(screen.getByRole("textbox", { name: /Type your user name/ })).toHaveValue("alba");
  });

  it("is called off by one press during the grace", async () => {
    const { http, acts } = scene({ deletion_due_at: dueAt });
    const { record } = await renderApp(<DeleteAccountPage />, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Keep my account" }));
    expect(await screen.findByRole("button", { name: "Delete my account" })).toBeVisible();
    await waitFor(() => {
      expect(record.notices).toEqual([{ tone: "success", text: "Your account stays." }]);
    });
    expect(acts).toEqual(["restore"]);
  });

  it("speaks of no secrets and shares where there are none", async () => {
    const { http } = scene({ licence: { ...me.licence, secrets: 0, shares: 0 } });
    await renderApp(<DeleteAccountPage />, { http });
    const losses = await screen.findByRole("region", { name: "What will be lost" });
    expect(losses).toHaveTextContent(/kits/);
    expect(losses).not.toHaveTextContent(/versions|you share/);
  });

  it("warns where no mail can tell the day", async () => {
    const { http } = scene({ contact_email_verified: false });
    await renderApp(<DeleteAccountPage />, { http });
    expect(await screen.findByText(/no mail can tell you the day/)).toBeVisible();
  });
});
