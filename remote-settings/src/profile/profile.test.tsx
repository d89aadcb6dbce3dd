import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalError } from "@relicario/shared/errors";
import { expectAccessible } from "@relicario/shared/testing";
import { renderPage, me, createRefusal, createService } from "../testing/settings-service.ts";

const path = "/settings/profile";
const getCallsTo = (http: ReturnType<typeof createService>, calledPath: string) =>
  http.calls.filter(({ path: requestPath }) => requestPath === calledPath);
const findNameField = () => screen.findByRole("textbox", { name: "User name" });

describe("the user name", () => {
  it("starts valid, and is asked about once nobody types any more", async () => {
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
    ["taken", "Someone has this name, or had it not long ago."],
    ["malformed", "Use 3 to 32 letters from A to Z without accents, digits, dots, dashes or underscores."],
  ])(
    "becomes invalid when the service says %s, is not saved, and becomes valid again with another one",
    async (reason, sentence) => {
      const http = createService();
      http.answer("POST /user/validate-username", ({ query }) => {
        if (query?.["username"] !== "albab") return { valid: true };
        throw createRefusal("/user/validate-username", [{ path: "/username", reason }]);
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

  it("becomes invalid when it cannot be checked, says so, and can be saved all the same", async () => {
    const http = createService();
    http.answer("POST /user/validate-username", () => {
      throw new PortalError("service_unavailable");
    });
    const { record } = await renderPage(path, { http });
    const name = await findNameField();
    await userEvent.type(name, "b");
    expect(await screen.findByText(/could not check this name/)).toBeVisible();
    expect(name).toBeInvalid();
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      expect(record.notices).toMatchObject([{ tone: "success" }]);
    });
  });

  it("is refused beside the field when somebody took it meanwhile, and stays typed", async () => {
    const http = createService();
    http.answer("POST /user/me", () => {
      throw createRefusal("/user/me", [{ path: "/user_name", reason: "taken" }]);
    });
    await renderPage(path, { http });
    const name = await findNameField();
    await userEvent.type(name, "b");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Someone has this name, or had it not long ago.")).toBeVisible();
    expect(name).toHaveValue("albab");
    expect(screen.getAllByRole("alert")).toHaveLength(1);
  });
});

describe("the contact address", () => {
  const unconfirmed = { contact_email: "alba@example.org" };

  it("is asked for a link, which sets the sent flag; a failure clears it", async () => {
    const http = createService(unconfirmed);
    await renderPage(path, { http });
    expect(await screen.findByText(/alba@example.org is not confirmed yet/)).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Send me a link" }));
    expect(await screen.findByRole("status")).toHaveTextContent("We sent a link to alba@example.org.");
    expect(getCallsTo(http, "/user/send-validate-email")).toMatchObject([{ method: "POST" }]);
    await expectAccessible();
    http.answer("POST /user/send-validate-email", () => {
      throw new PortalError("too_many_requests");
    });
    await userEvent.click(screen.getByRole("button", { name: "Send another link" }));
    expect(await screen.findByText(/alba@example.org is not confirmed yet/)).toBeVisible();
    expect(screen.queryByText(/We sent a link/)).not.toBeInTheDocument();
    expect(screen.getByRole("alert")).toBeVisible();
  });

  it("is shown as confirmed once its link was followed elsewhere", async () => {
    const http = createService(unconfirmed);
    await renderPage(path, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Send me a link" }));
    http.answer("GET /user/me", () => ({ ...me, ...unconfirmed, contact_email_verified: true }));
    await userEvent.click(await screen.findByRole("button", { name: "I have confirmed it" }));
    expect(await screen.findByText("alba@example.org is confirmed as yours.")).toBeVisible();
    expect(screen.queryByRole("button", { name: /link/ })).not.toBeInTheDocument();
  });

  it("begins anew with another address", async () => {
    await renderPage(path, { http: createService(unconfirmed) });
    await userEvent.click(await screen.findByRole("button", { name: "Send me a link" }));
    await screen.findByText(/We sent a link to alba@example.org/);
    const address = screen.getByRole("textbox", { name: "Contact e-mail" });
    await userEvent.clear(address);
    await userEvent.type(address, "other@example.org");
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText(/other@example.org is not confirmed yet/)).toBeVisible();
  });
});

describe("the password", () => {
  const fillPasswords = async (currentPassword: string, nextPassword: string) => {
    await userEvent.type(await screen.findByLabelText("Present password"), currentPassword);
    await userEvent.type(screen.getByLabelText("New password"), nextPassword);
    await userEvent.click(screen.getByRole("button", { name: "Change password" }));
  };

  it("is changed as typed, by the provider's rules, which are shown; the fields are empty then", async () => {
    const http = createService();
    const { record, queryClient } = await renderPage(path, { http });
    expect(await screen.findByLabelText("New password")).toHaveAccessibleDescription(
      "Your identity provider asks for this: At least 10 characters. None that many people use.",
    );
    await fillPasswords(" old one ", "a new one, long");
    await waitFor(() => {
      expect(record.notices).toEqual([
        { tone: "success", text: "Your password is changed. All other devices were signed out." },
      ]);
    });
    expect(getCallsTo(http, "/user/change-password")).toMatchObject([
      { body: { old_password: " old one ", new_password: "a new one, long" } },
    ]);
    expect(
      [screen.getByLabelText("Present password"), screen.getByLabelText("New password")].map(
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

  it("says beside each field what the provider refuses, reports the failure without the passwords, and keeps what was typed", async () => {
    const http = createService();
    http.answer("POST /user/change-password", () => {
      throw createRefusal("/user/change-password", [
        { path: "/old_password", reason: "wrong" },
        { path: "/new_password", reason: "min_length", value: 10 } as never,
      ]);
    });
    const { record } = await renderPage(path, { http });
    await fillPasswords("planted-old", "planted");
    const currentField = screen.getByLabelText("Present password");
    await waitFor(() => {
      expect(currentField).toBeInvalid();
    });
    expect(currentField).toHaveAccessibleDescription("This is not your present password.");
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
    [{ reason: "history", value: 3 }, "None of the last 3."],
    [{ reason: "refused", text: "Must rhyme" }, "Your identity provider says: Must rhyme"],
    [{ reason: "refused" }, "Your identity provider does not take this password."],
    [{ reason: "digits" }, "Your identity provider does not take this password."],
  ])("has words for %j", async (providerRefusal, sentence) => {
    const http = createService();
    http.answer("POST /user/change-password", () => {
      throw createRefusal("/user/change-password", [{ path: "/new_password", ...providerRefusal }]);
    });
    await renderPage(path, { http });
    await fillPasswords("old", "new");
    expect(await screen.findByText(sentence)).toBeVisible();
  });

  it("asks for both before anything is sent", async () => {
    const http = createService();
    await renderPage(path, { http });
    await userEvent.click(await screen.findByRole("button", { name: "Change password" }));
    expect(await screen.findAllByText("Type it here.")).toHaveLength(2);
    expect(screen.getByLabelText("Present password")).toHaveFocus();
    expect(getCallsTo(http, "/user/change-password")).toEqual([]);
  });

  it("says when the service is down, and keeps what was typed", async () => {
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

  it("is changed elsewhere where the deployment names no interface", async () => {
    const http = createService();
    http.answer("GET /user/password", () => ({ changeable: false, rules: [] }));
    await renderPage(path, { http });
    expect(await screen.findByText(/Change it there/)).toBeVisible();
    expect(screen.queryByLabelText("New password")).not.toBeInTheDocument();
  });

  it("leaves the rest of the profile alone when its rules cannot be had", async () => {
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
  it("shows quota and use as a bar, with the numbers", async () => {
    await renderPage(path);
    const bar = await screen.findByRole("meter", { name: "Storage" });
    expect(bar).toHaveAttribute("aria-valuenow", "1500000");
    expect(bar).toHaveAttribute("aria-valuemax", "10000000000");
    expect(bar).toHaveAccessibleDescription("1.5 MB of 10 GB");
    const facts = screen.getAllByRole("term").map((term) => [term.textContent, term.nextElementSibling?.textContent]);
    expect(Object.fromEntries(facts)).toMatchObject({ Plan: "Free", Secrets: "2", "Live shares": "1" });
  });

  it("stays whole when more is used than the quota holds, and when there is none", async () => {
    const { unmount } = await renderPage(path, {
      http: createService({ licence: { ...me.licence, storage_quota: 10, storage_used: 12 } }),
    });
    expect(await screen.findByRole("meter")).toHaveAttribute("aria-valuenow", "10");
    unmount();
    await renderPage(path, { http: createService({ licence: { ...me.licence, storage_quota: 0 } }) });
    expect(await screen.findByRole("meter")).toHaveAttribute("aria-valuemax", "0");
  });
});
