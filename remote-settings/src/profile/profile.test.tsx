import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, wholeText } from "@relicario/shared/testing";
import { renderPage, me, createValidationError, createService } from "../testing/settings-service.ts";

const path = "/settings/profile";
const getCallsTo = (http: ReturnType<typeof createService>, calledPath: string) =>
  http.calls.filter(({ path: requestPath }) => requestPath === calledPath);
const findNameField = () => screen.findByRole("textbox", { name: "Name others see" });

describe("the user name", () => {
  it("is valid at first, and is checked after a pause in typing", async () => {
    const http = createService();
    await renderPage(path, { http });
    const name = await findNameField();
    expect(name).toBeValid();
    expect(getCallsTo(http, "/user/validate-username")).toEqual([]);
    await userEvent.type(name, "bea");
    await waitFor(() => {
      expect(getCallsTo(http, "/user/validate-username")).toMatchObject([
        { method: "POST", query: { username: "albabea" } },
      ]);
    });
    expect(name).toBeValid();
  });

  it.each([
    ["taken", "This name is taken, or was until recently."],
    ["malformed", "Use 3 to 32 characters: letters A to Z without accents, digits, dots, hyphens or underscores."],
  ])(
    "becomes invalid when the service says %s, is not saved, and becomes valid after a change",
    async (reason, sentence) => {
      const http = createService();
      http.answer("POST /user/validate-username", ({ query }) => {
        if (query?.["username"] !== "albab") return { valid: true };
        throw createValidationError("/user/validate-username", [{ path: "/username", reason }]);
      });
      await renderPage(path, { http });
      const name = await findNameField();
      await userEvent.type(name, "b");
      expect(await screen.findByText(sentence)).toBeVisible();
      expect(name).toBeInvalid();
      expect(name).toHaveAccessibleDescription(expect.stringContaining(sentence));
      await expectAccessible();
      await userEvent.click(screen.getByRole("button", { name: "Save" }));
      expect(name).toHaveFocus();
      expect(getCallsTo(http, "/user/me").map(({ method }) => method)).toEqual(["GET"]);
      await userEvent.type(name, "c");
      await waitFor(() => {
        expect(name).toBeValid();
      });
    },
  );

  it("becomes invalid when the check fails, but can still be saved", async () => {
    const http = createService();
    http.answer("POST /user/validate-username", () => {
      throw new PortalError("service_unavailable");
    });
    const { record } = await renderPage(path, { http });
    const name = await findNameField();
    await userEvent.type(name, "b");
    expect(await screen.findByText(/couldn't check this name/)).toBeVisible();
    expect(name).toBeInvalid();
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      expect(record.notices).toMatchObject([{ tone: "success" }]);
    });
  });

  it("shows at its field that another account has taken it, and keeps the input", async () => {
    const http = createService();
    http.answer("POST /user/me", () => {
      throw createValidationError("/user/me", [{ path: "/user_name", reason: "taken" }]);
    });
    await renderPage(path, { http });
    const name = await findNameField();
    await userEvent.type(name, "b");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("This name is taken, or was until recently.")).toBeVisible();
    expect(name).toHaveValue("albab");
    expect(screen.getAllByRole("alert")).toHaveLength(1);
  });
});

describe("the contact address", () => {
  const unverifiedAddress = { contact_email: "alba@example.org" };

  it("gets a link, which sets the sent flag; a failure clears the flag", async () => {
    const http = createService(unverifiedAddress);
    await renderPage(path, { http });
    expect(await screen.findByText(wholeText(/Until you confirm alba@example.org/))).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Send confirmation link" }));
    expect(await screen.findByRole("status")).toHaveTextContent("We sent a link to alba@example.org.");
    expect(getCallsTo(http, "/user/send-validate-email")).toMatchObject([{ method: "POST" }]);
    await expectAccessible();
    http.answer("POST /user/send-validate-email", () => {
      throw new PortalError("too_many_requests");
    });
    await userEvent.click(screen.getByRole("button", { name: "Send another link" }));
    expect(await screen.findByText(wholeText(/Until you confirm alba@example.org/))).toBeVisible();
    expect(screen.queryByText(/We sent a link/)).not.toBeInTheDocument();
    expect(screen.getByRole("alert")).toBeVisible();
  });

  it("is shown as verified once its link was opened elsewhere", async () => {
    const http = createService(unverifiedAddress);
    await renderPage(path, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Send confirmation link" }));
    http.answer("GET /user/me", () => ({ ...me, ...unverifiedAddress, contact_email_verified: true }));
    await userEvent.click(await screen.findByRole("button", { name: "I have confirmed it" }));
    expect(await screen.findByText(wholeText("The address alba@example.org is confirmed."))).toBeVisible();
    expect(screen.queryByRole("button", { name: /link/ })).not.toBeInTheDocument();
  });

  it("is unverified again after it was changed", async () => {
    await renderPage(path, { http: createService(unverifiedAddress) });
    await userEvent.click(await screen.findByRole("button", { name: "Send confirmation link" }));
    await screen.findByText(wholeText(/We sent a link to alba@example.org/));
    const address = screen.getByRole("textbox", { name: "Contact e-mail" });
    await userEvent.clear(address);
    await userEvent.type(address, "other@example.org");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText(wholeText(/Until you confirm other@example.org/))).toBeVisible();
  });
});

describe("the password", () => {
  const fillPasswords = async (currentPassword: string, nextPassword: string) => {
    await userEvent.type(await screen.findByLabelText("Current password"), currentPassword);
    await userEvent.type(screen.getByLabelText("New password"), nextPassword);
    await userEvent.click(screen.getByRole("button", { name: "Change password" }));
  };

  it("is changed exactly as typed, with the provider's rules shown and the fields cleared afterwards", async () => {
    const http = createService();
    const { record, queryClient } = await renderPage(path, { http });
    expect(await screen.findByLabelText("New password")).toHaveAccessibleDescription(
      "Rules for the password: At least 10 characters. Not a common password.",
    );
    await fillPasswords(" old one ", "a new one, long");
    await waitFor(() => {
      expect(record.notices).toEqual([
        { tone: "success", text: "Password changed. Your other devices were signed out." },
      ]);
    });
    expect(getCallsTo(http, "/user/change-password")).toMatchObject([
      { body: { old_password: " old one ", new_password: "a new one, long" } },
    ]);
    expect(
      [screen.getByLabelText("Current password"), screen.getByLabelText("New password")].map(
        (field) => (field as HTMLInputElement).value,
      ),
    ).toEqual(["", ""]);
    expect(
      JSON.stringify(
        queryClient
          .getQueryCache()
          .getAll()
          .map(({ state }) => state),
      ),
    ).not.toContain("old one");
  });

  it("keeps the input when rejected, shows the reason at each field, and reports no passwords", async () => {
    const http = createService();
    http.answer("POST /user/change-password", () => {
      throw createValidationError("/user/change-password", [
        { path: "/old_password", reason: "wrong" },
        { path: "/new_password", reason: "min_length", value: 10 } as never,
      ]);
    });
    const { record } = await renderPage(path, { http });
    await fillPasswords("planted-old", "planted");
    const currentField = screen.getByLabelText("Current password");
    await waitFor(() => {
      expect(currentField).toBeInvalid();
    });
    expect(currentField).toHaveAccessibleDescription("Wrong password.");
    expect(currentField).toHaveFocus();
    expect(currentField).toHaveValue("planted-old");
    expect(screen.getByLabelText("New password")).toHaveAccessibleDescription(
      expect.stringContaining("At least 10 characters."),
    );
    expect(record.reports).toEqual([{ remote: "settings", phase: "call", code: "validation_error" }]);
    expect(JSON.stringify(record)).not.toContain("planted");
    await expectAccessible();
  });

  it.each([
    [{ reason: "history", value: 3 }, "Different from the last 3."],
    [{ reason: "refused", text: "Must rhyme" }, "Your sign-in provider says: Must rhyme"],
    [{ reason: "refused" }, "Your sign-in provider does not accept this password."],
    [{ reason: "digits" }, "Your sign-in provider does not accept this password."],
  ])("has a text for the rejection %j", async (rejection, sentence) => {
    const http = createService();
    http.answer("POST /user/change-password", () => {
      throw createValidationError("/user/change-password", [{ path: "/new_password", ...rejection }]);
    });
    await renderPage(path, { http });
    await fillPasswords("old", "new");
    expect(await screen.findByText(sentence)).toBeVisible();
  });

  it("requires both passwords before sending", async () => {
    const http = createService();
    await renderPage(path, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Change password" }));
    expect(await screen.findAllByText("Enter a password.")).toHaveLength(2);
    expect(screen.getByLabelText("Current password")).toHaveFocus();
    expect(getCallsTo(http, "/user/change-password")).toEqual([]);
  });

  it("shows a failure of the service, and keeps the input", async () => {
    const http = createService();
    const { record } = await renderPage(path, { http });
    await screen.findByLabelText("New password");
    http.answer("POST /user/change-password", () => {
      throw new PortalError("offline");
    });
    await fillPasswords("old", "new");
    expect(await screen.findByRole("alert")).toBeVisible();
    expect(screen.getByLabelText("New password")).toHaveValue("new");
    expect(record.reports).toEqual([{ remote: "settings", phase: "call", code: "offline" }]);
  });

  it("has a text that says where to change it if the deployment does not support changes", async () => {
    const http = createService();
    http.answer("GET /user/password", () => ({ changeable: false, rules: [] }));
    await renderPage(path, { http });
    expect(await screen.findByText(/Change it there/)).toBeVisible();
    expect(screen.queryByLabelText("New password")).not.toBeInTheDocument();
  });

  it("leaves the rest of the profile usable if its rules cannot be loaded", async () => {
    const http = createService();
    http.answer("GET /user/password", () => {
      throw new PortalError("service_unavailable");
    });
    await renderPage(path, { http });
    expect(await findNameField()).toBeEnabled();
    expect(await screen.findByRole("button", { name: "Try again" })).toBeVisible();
  });
});

describe("the licence", () => {
  it("shows the quota and the used storage as a bar and in numbers", async () => {
    await renderPage(path);
    const bar = await screen.findByRole("meter", { name: "Storage" });
    expect(bar).toHaveAttribute("aria-valuenow", "1500000");
    expect(bar).toHaveAttribute("aria-valuemax", "10000000000");
    expect(bar).toHaveAccessibleDescription("1.5 MB of 10 GB");
    const facts = screen.getAllByRole("term").map((term) => [term.textContent, term.nextElementSibling?.textContent]);
    expect(Object.fromEntries(facts)).toMatchObject({ Plan: "Free", Secrets: "2", "Active shares": "1" });
  });

  it("shows used storage above the quota, and a quota of zero", async () => {
    const { unmount } = await renderPage(path, {
      http: createService({ licence: { ...me.licence, storage_quota: 10, storage_used: 12 } }),
    });
    expect(await screen.findByRole("meter")).toHaveAttribute("aria-valuenow", "10");
    unmount();
    await renderPage(path, { http: createService({ licence: { ...me.licence, storage_quota: 0 } }) });
    expect(await screen.findByRole("meter")).toHaveAttribute("aria-valuemax", "0");
  });
});
