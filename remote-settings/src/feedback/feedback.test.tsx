import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { PortalError } from "@relicario/shared/errors";
import { expectAccessible } from "@relicario/shared/testing";
import { renderPage, createService } from "../testing/settings-service.ts";
import { parseScreen } from "./screen.ts";

const path = "/settings/feedback";
const getSentFeedback = (http: ReturnType<typeof createService>) =>
  http.calls.filter((call) => call.path === "/user/feedback").map(({ body }) => body);

describe("feedback", () => {
  it("sends rating, message, screen and version, and nothing else", async () => {
    const http = createService();
    await renderPage(path, { http });
    expect(screen.getByText(/Don't include secrets/)).toBeVisible();
    await userEvent.click(screen.getByRole("radio", { name: "Good" }));
    await userEvent.type(screen.getByRole("textbox", { name: "Your message" }), "  The list is quick. ");
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(await screen.findByRole("status")).toHaveTextContent("Thanks");
    expect(getSentFeedback(http)).toEqual([
      { rating: 4, message: "The list is quick.", page: "/settings/feedback", app_version: "0.3.1" },
    ]);
    expect(screen.getByRole("textbox")).toHaveValue("");
    expect(screen.getByRole("radio", { name: "Good" })).not.toBeChecked();
    await expectAccessible();
  });

  it("requires a message, but no rating", async () => {
    const http = createService();
    await renderPage(path, { http });
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(await screen.findByText("Write a message first.")).toBeVisible();
    expect(screen.getByRole("textbox")).toHaveFocus();
    expect(getSentFeedback(http)).toEqual([]);
    await userEvent.type(screen.getByRole("textbox"), "good");
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() => {
      expect(getSentFeedback(http)).toEqual([{ message: "good", page: "/settings/feedback", app_version: "0.3.1" }]);
    });
  });

  it.each(["offline", "service_unavailable", "too_many_requests"] as const)(
    "keeps the input after %s, and sends it again",
    async (code) => {
      const http = createService();
      http.failWith(code);
      await renderPage(path, { http });
      await userEvent.click(screen.getByRole("radio", { name: "Poor" }));
      await userEvent.type(screen.getByRole("textbox"), "The list is slow.");
      await userEvent.click(screen.getByRole("button", { name: "Send" }));
      expect(await screen.findByRole("alert")).toBeVisible();
      expect(screen.getByRole("textbox")).toHaveValue("The list is slow.");
      expect(screen.getByRole("radio", { name: "Poor" })).toBeChecked();
      http.failWith(null);
      await userEvent.click(screen.getByRole("button", { name: "Send" }));
      expect(await screen.findByRole("status")).toHaveTextContent("Thanks");
    },
  );

  it("asks before input is lost", async () => {
    const { goTo, getLocation, record } = await renderPage(path, { confirmAnswer: false });
    await userEvent.type(screen.getByRole("textbox"), "half a sent");
    await goTo("/settings/profile");
    expect(getLocation()).toBe(path);
    expect(record.confirms).toMatchObject([{ title: "Leave without sending?", danger: true }]);
    expect(screen.getByRole("textbox")).toHaveValue("half a sent");
  });
});

describe("parseScreen", () => {
  it("returns the screen that linked to the page, or the page itself for any other state", () => {
    expect(parseScreen({ screen: "/edit-secret/:secretId" })).toBe("/edit-secret/:secretId");
    for (const state of [
      null,
      undefined,
      {},
      { screen: "/shared/abc#s=key" },
      { screen: "https://elsewhere.example" },
      { screen: 1 },
    ])
      expect(parseScreen(state)).toBe("/settings/feedback");
  });
});

it("shows an unknown failure", async () => {
  const http = createService();
  http.answer("POST /user/feedback", () => {
    throw new PortalError("internal_error");
  });
  await renderPage(path, { http });
  await userEvent.type(screen.getByRole("textbox"), "x");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(await screen.findByRole("alert")).toBeVisible();
});
