import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, readTexts, listTextKeys } from "@relicario/shared/testing";
import { toProfileUpdate, createProfileSchema } from "./profile/profile-draft.ts";
import { renderPage as renderPageAt, me, createService } from "./testing/settings-service.ts";

const features = { notifications: true, billing: true, payments: true };
const renderSettings = (path = "/settings/profile", settings: Parameters<typeof renderPageAt>[1] = {}) =>
  renderPageAt(path, settings);
describe("settings", () => {
  it.each(["/settings", "/settings/unheard-of"])("redirects %s to the profile", async (path) => {
    const { getLocation } = await renderSettings(path);
    expect(getLocation()).toBe("/settings/profile");
    expect(screen.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
  });

  it("hides disabled pages, and shows billing if it is enabled", async () => {
    const getNames = () =>
      within(screen.getByRole("navigation", { name: "Settings" }))
        .getAllByRole("link")
        .map((link) => link.textContent);
    const profilePage = await renderSettings();
    expect(getNames()).toEqual([
      "Profile",
      "Security",
      "Activity",
      "Your data",
      "Feedback",
      "Another device",
      "Delete account",
    ]);
    profilePage.unmount();
    await renderSettings("/settings/profile", { features: { billing: true } });
    expect(getNames()).toEqual([
      "Profile",
      "Security",
      "Activity",
      "Your data",
      "Billing",
      "Feedback",
      "Another device",
      "Delete account",
    ]);
  });

  it.each(["notifications", "billing", "payments"])("redirects a hidden page to the profile: %s", async (name) => {
    const { getLocation } = await renderSettings(`/settings/${name}`);
    expect(getLocation()).toBe("/settings/profile");
  });

  it.each([
    ["profile", "Profile"],
    ["security", "Security"],
    ["activity", "Activity"],
    ["notifications", "Notifications"],
    ["billing", "Billing"],
    ["payments", "Payments"],
    ["feedback", "Feedback"],
    ["delete-account", "Delete account"],
  ])("uses the current page's name as heading: %s", async (name, heading) => {
    await renderSettings(`/settings/${name}`, { features });
    expect(screen.getAllByRole("heading", { level: 1 }).map(({ textContent }) => textContent)).toEqual([heading]);
  });

  it.each(
    ["profile", "security", "activity", "notifications", "billing", "payments", "feedback", "delete-account"].flatMap(
      (name) => [["en", "light", name] as const, ["es", "dark", name] as const],
    ),
  )("renders in %s and %s: %s", async (language, theme, name) => {
    await renderSettings(`/settings/${name}`, { language, theme, features });
    expect(await screen.findByRole("heading", { level: 1 })).toBeVisible();
    await waitFor(() => {
      expect(screen.queryByRole("status")).not.toBeInTheDocument();
    });
    await expectAccessible();
  });

  it("opens and closes its menu by a button on phones", async () => {
    await renderSettings();
    const menu = within(screen.getByRole("navigation", { name: "Settings" }));
    const toggle = menu.getByText("All settings");
    const list = menu.getByRole("list");
    expect(toggle).toHaveAttribute("aria-controls", list.id);
    for (const open of ["true", "false"]) {
      await userEvent.click(toggle);
      expect(toggle).toHaveAttribute("aria-expanded", open);
      expect(list).toHaveAttribute("data-open", open);
    }
    await userEvent.click(toggle);
    await userEvent.click(menu.getByRole("link", { current: "page" }));
    expect(toggle).toHaveAttribute("aria-expanded", "false");
    expect(toggle).toHaveFocus();
    await userEvent.click(toggle);
    await userEvent.click(menu.getByRole("link", { name: "Activity" }));
    expect(await screen.findByRole("heading", { level: 1, name: "Activity" })).toBeVisible();
    expect(screen.getByText("All settings")).toHaveAttribute("aria-expanded", "false");
  });

  it("toggles language and theme in its menu", async () => {
    const { record, unmount } = await renderSettings();
    const menu = within(screen.getByRole("navigation", { name: "Settings" }));
    await userEvent.click(menu.getByRole("button", { name: "Cambiar a español" }));
    await userEvent.click(menu.getByRole("button", { name: "Dark theme" }));
    expect(record.preferences).toEqual(["es", "dark"]);
    unmount();
    const spanishPage = await renderSettings("/settings/profile", { language: "es", theme: "dark" });
    const menuInSpanish = within(screen.getByRole("navigation", { name: "Ajustes" }));
    await userEvent.click(menuInSpanish.getByRole("button", { name: "Switch to English" }));
    await userEvent.click(menuInSpanish.getByRole("button", { name: "Tema claro" }));
    expect(spanishPage.record.preferences).toEqual(["en", "light"]);
  });

  it("has a red entry that links to the page for deleting the account", async () => {
    await renderSettings();
    const entry = within(screen.getByRole("navigation", { name: "Settings" })).getByRole("link", {
      name: "Delete account",
    });
    expect(entry).toHaveAttribute("href", "/settings/delete-account");
    expect(getComputedStyle(entry).color).toBe("var(--danger-text)");
  });

  it.each([
    "settings",
    "user-feedback",
    "settings-security",
    "settings-activity",
    "settings-notifications",
    "settings-delete",
  ])("has its texts in both languages: %s", (namespace) => {
    const [english, spanish] = [readTexts("en", namespace), readTexts("es", namespace)];
    if (english === null || spanish === null) throw new Error("a locale file is missing");
    expect(listTextKeys(spanish)).toEqual(listTextKeys(english));
  });
});

describe("the profile", () => {
  it("changes name and contact address, and sends only what differs", async () => {
    const http = createService();
    const { record } = await renderSettings("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "Name others see" });
    expect(name).toHaveValue("alba");
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
    await userEvent.type(screen.getByRole("textbox", { name: "Contact e-mail" }), "alba@example.org");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      expect(record.notices).toEqual([{ tone: "success", text: "Profile saved." }]);
    });
    expect(http.calls.at(-1)).toMatchObject({
      method: "POST",
      path: "/user/me",
      body: { contact_email: "alba@example.org" },
    });
    expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  });

  it("replaces the cached account with the response", async () => {
    const { queryClient } = await renderSettings("/settings/profile");
    await userEvent.type(await screen.findByRole("textbox", { name: "Name others see" }), "2");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      expect(queryClient.getQueryData(["user", "me", me.user_id])).toEqual({ ...me, user_name: "alba2" });
    });
  });

  it("shows validation errors before sending", async () => {
    const http = createService();
    await renderSettings("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "Name others see" });
    await userEvent.clear(name);
    await userEvent.type(name, "a!");
    await userEvent.type(screen.getByRole("textbox", { name: "Contact e-mail" }), "nowhere");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Enter a valid e-mail address.")).toBeVisible();
    expect(name).toBeInvalid();
    expect(http.calls.filter(({ path }) => path === "/user/me").map(({ method }) => method)).toEqual(["GET"]);
    await expectAccessible();
  });

  it("keeps the input when saving fails", async () => {
    const http = createService();
    http.answer("POST /user/me", () => {
      throw new PortalError("conflict");
    });
    await renderSettings("/settings/profile", { http });
    const name = await screen.findByRole("textbox", { name: "Name others see" });
    await userEvent.type(name, "cea");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("was changed at the same moment");
    expect(name).toHaveValue("albacea");
  });

  it("shows a failure, and retries", async () => {
    const http = createService();
    http.failWith("service_unavailable");
    await renderSettings("/settings/profile", { http });
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    http.failWith(null);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("textbox", { name: "Name others see" })).toHaveValue("alba");
  });

  it("does not allow removing the address", async () => {
    await renderSettings("/settings/profile", {
      http: createFakeHttpClient({ "GET /user/me": () => ({ ...me, contact_email: "alba@example.org" }) }),
    });
    await userEvent.clear(await screen.findByRole("textbox", { name: "Contact e-mail" }));
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Enter a valid e-mail address.")).toBeVisible();
  });
});

it("createProfileSchema accepts a current name that is not allowed for new names", () => {
  const legacyMe = { ...me, user_name: "ñandú" };
  expect(createProfileSchema(legacyMe).safeParse({ userName: "ñandú", contactEmail: "" }).success).toBe(true);
  expect(createProfileSchema(legacyMe).safeParse({ userName: "ñandu", contactEmail: "" }).success).toBe(false);
});

it("toProfileUpdate contains only changed fields", () => {
  expect(toProfileUpdate(me, { userName: "alba", contactEmail: "" })).toEqual({});
  expect(toProfileUpdate(me, { userName: "bea", contactEmail: "bea@example.org" })).toEqual({
    user_name: "bea",
    contact_email: "bea@example.org",
  });
});
