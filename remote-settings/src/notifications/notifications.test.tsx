import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { mailTopics, type Me, type UpdateMeBody } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp, type FakeHttpClient } from "@relicario/shared/testing";
import { account as me } from "../testing/account.ts";
import NotificationsPage from "./NotificationsPage.tsx";

/** Fakes the service: applies updates and returns the result. */
function createService(overrides: Partial<Me> = {}): FakeHttpClient {
  let currentMe: Me = { ...me, ...overrides };
  return createFakeHttpClient({
    "GET /user/me": () => currentMe,
    "POST /user/me": ({ body }) => {
      const { notifications, ...rest } = body as UpdateMeBody;
      return (currentMe = {
        ...currentMe,
        ...(rest as Partial<Me>),
        notifications: { ...currentMe.notifications, ...(notifications as Partial<Me["notifications"]>) },
      });
    },
  });
}
const renderPage = (http = createService()) =>
  renderApp(<NotificationsPage />, { http, features: { notifications: true } });
const shareOpenedLabel = /someone opens a secret I share/;

describe("the notifications page", () => {
  it("has a switch for each kind of mail", async () => {
    await renderPage(createService({ notifications: { ...me.notifications, rehearsal: false } }));
    const switches = await screen.findAllByRole("switch");
    expect(switches).toHaveLength(mailTopics.length);
    expect(screen.getByRole("switch", { name: /copy of my picture/ })).not.toBeChecked();
    expect(screen.getByRole("switch", { name: shareOpenedLabel })).toBeChecked();
    await expectAccessible();
  });

  it("saves a switch at once, and nothing else", async () => {
    const http = createService();
    await renderPage(http);
    await userEvent.click(await screen.findByRole("switch", { name: shareOpenedLabel }));
    await waitFor(() => {
      expect(screen.getByRole("switch", { name: shareOpenedLabel })).toBeEnabled();
    });
    expect(screen.getByRole("switch", { name: shareOpenedLabel })).not.toBeChecked();
    expect(http.calls.find(({ method }) => method === "POST")?.body).toEqual({
      notifications: { share_opened: false },
    });
  });

  it("shows the stored value when a switch fails", async () => {
    const http = createService();
    await renderPage(http);
    http.answer("POST /user/me", () => {
      throw new PortalError("service_unavailable");
    });
    await userEvent.click(await screen.findByRole("switch", { name: shareOpenedLabel }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding");
    expect(screen.getByRole("switch", { name: shareOpenedLabel })).toBeChecked();
  });

  it("warns if the contact address is not verified", async () => {
    await renderPage(createService({ contact_email_verified: false }));
    expect(await screen.findByText("You get no e-mails yet")).toBeVisible();
  });
});
