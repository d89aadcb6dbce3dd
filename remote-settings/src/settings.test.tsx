import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { Me } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttp, expectAccessible, readTexts, renderApp, textKeys, type FakeHttp } from "@relicario/shared/testing";
import { changesOf, profileDraftOf } from "./profile/profile-draft.ts";
import remote from "./remote.tsx";

const me: Me = {
  user_id: "01890a5d-ac96-7000-8000-00000000a11c",
  user_name: "alba",
  username: "alba@example.org",
  contact_email: null,
  contact_email_verified: false,
  licence: { plan: "free", storage_quota: 10_000_000_000, storage_used: 1_500_000, secrets: 2, shares: 0 },
  rehearsal_due_at: null,
  created_at: "2026-11-01T09:00:00.000Z",
};

/** The service's side: changes what it is told to, and gives it back. */
function service(): FakeHttp {
  let now = me;
  return createFakeHttp({
    "GET /user/me": () => now,
    "POST /user/me": ({ body }) => (now = { ...now, ...(body as Partial<Me>) }),
  });
}
const draw = (path = "/settings/profile", settings: Parameters<typeof renderApp>[1] = {}) =>
  renderApp(null, { routes: remote.routes, route: "/elsewhere", path, http: service(), ...settings });

describe("settings", () => {
  it.each(["/settings", "/settings/unheard-of"])("goes from %s to the profile", async (path) => {
    const { location } = await draw(path);
    expect(location()).toBe("/settings/profile");
    expect(screen.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
  });

  it("hides what this release does not have, and shows billing where it is switched on", async () => {
    const names = () => within(screen.getByRole("navigation", { name: "Settings" })).getAllByRole("link").map((each) => each.textContent);
    const first = await draw();
    expect(names()).toEqual(["Profile", "Delete account"]);
    first.unmount();
    await draw("/settings/profile", { features: { billing: true } });
    expect(names()).toEqual(["Profile", "Billing", "Delete account"]);
  });

  it.each([
    ["profile", "Profile"],
    ["notifications", "Notifications"],
    ["billing", "Billing"],
    ["payments", "Payments"],
    ["delete-account", "Delete account"],
  ])("has the name of the page that is shown for its heading: %s", async (name, heading) => {
    await draw(`/settings/${name}`);
    expect(screen.getAllByRole("heading", { level: 1 }).map(({ textContent }) => textContent)).toEqual([heading]);
  });

  it.each(["profile", "notifications", "billing", "payments", "delete-account"].flatMap((name) => [["en", "light", name] as const, ["es", "dark", name] as const]))(
    "draws in %s and %s: %s",
    async (language, theme, name) => {
      await draw(`/settings/${name}`, { language, theme });
      expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
      await waitFor(() => {
        expect(screen.queryByRole("status")).not.toBeInTheDocument();
      });
      await expectAccessible();
    },
  );

  it("has its texts in both languages", () => {
    const [english, spanish] = [readTexts("en", "settings"), readTexts("es", "settings")];
    if (english === null || spanish === null) throw new Error("a file is missing");
    expect(textKeys(spanish)).toEqual(textKeys(english));
  });
});

describe("the profile", () => {
  it("changes name and contact address, and sends only what differs", async () => {
    const http = service();
    const { record } = await draw("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "User name" });
    expect(name).toHaveValue("alba");
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
    await userEvent.type(screen.getByRole("textbox", { name: "Contact e-mail" }), "alba@example.org");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      expect(record.notices).toEqual([{ tone: "success", text: "Your profile is saved." }]);
    });
    expect(http.calls.at(-1)).toMatchObject({ method: "POST", path: "/user/me", body: { contact_email: "alba@example.org" } });
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  });

  it("says what is wrong before anything is sent", async () => {
    const http = service();
    await draw("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "User name" });
    await userEvent.clear(name);
    await userEvent.type(name, "a!");
    await userEvent.type(screen.getByRole("textbox", { name: "Contact e-mail" }), "nowhere");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("This is not an e-mail address.")).toBeVisible();
    expect(name).toBeInvalid();
    expect(http.calls.map(({ method }) => method)).toEqual(["GET"]);
    await expectAccessible();
  });

  it("keeps what was typed when saving fails", async () => {
    const http = service();
    http.answer("POST /user/me", () => {
      throw new PortalError("conflict");
    });
    await draw("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "User name" });
    await userEvent.type(name, "cea");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("changed this at the same moment");
    expect(name).toHaveValue("albacea");
  });

  it("says when it cannot be loaded, and tries again", async () => {
    const http = service();
    http.failWith("service_unavailable");
    await draw("/settings/profile", { http });
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    http.failWith(null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("textbox", { name: "User name" })).toHaveValue("alba");
  });

  it("does not take an address back to none", async () => {
    await draw("/settings/profile", { http: createFakeHttp({ "GET /user/me": () => ({ ...me, contact_email: "alba@example.org" }) }) });
    await userEvent.clear(await screen.findByRole("textbox", { name: "Contact e-mail" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("This is not an e-mail address.")).toBeVisible();
  });
});

it("profileDraftOf lets a name stay that could not be chosen any more", () => {
  const old = { ...me, user_name: "ñandú" };
  expect(profileDraftOf(old).safeParse({ userName: "ñandú", contactEmail: "" }).success).toBe(true);
  expect(profileDraftOf(old).safeParse({ userName: "ñandu", contactEmail: "" }).success).toBe(false);
});

it("changesOf names only what differs", () => {
  expect(changesOf(me, { userName: "alba", contactEmail: "" })).toEqual({});
  expect(changesOf(me, { userName: "bea", contactEmail: "bea@example.org" })).toEqual({ user_name: "bea", contact_email: "bea@example.org" });
});
