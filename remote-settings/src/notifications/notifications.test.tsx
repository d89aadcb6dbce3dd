import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { mailTopics, type Me, type UpdateMe } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { createFakeHttp, expectAccessible, renderApp, type FakeHttp } from "@relicario/shared/testing";
import { account as me } from "../testing/account.ts";
import NotificationsPage from "./NotificationsPage.tsx";

/** The service's side: changes what it is told to, and gives it back. */
function service(start: Partial<Me> = {}): FakeHttp {
  let now: Me = { ...me, ...start };
  return createFakeHttp({
    "GET /user/me": () => now,
    "POST /user/me": ({ body }) => {
      const { notifications, ...rest } = body as UpdateMe;
      return (now = {
        ...now,
        ...(rest as Partial<Me>),
        notifications: { ...now.notifications, ...(notifications as Partial<Me["notifications"]>) },
      });
    },
  });
}
const draw = (http = service()) => renderApp(<NotificationsPage />, { http, features: { notifications: true } });
const shareOpened = /something I share is opened/;

describe("the notifications page", () => {
  it("has a switch for each kind of mail", async () => {
    await draw(service({ notifications: { ...me.notifications, rehearsal: false } }));
    const switches = await screen.findAllByRole("switch");
    expect(switches).toHaveLength(mailTopics.length);
    expect(screen.getByRole("switch", { name: /copy of my picture/ })).not.toBeChecked();
    expect(screen.getByRole("switch", { name: shareOpened })).toBeChecked();
    await expectAccessible();
  });

  it("sends what was switched, at once, and nothing else", async () => {
    const http = service();
    await draw(http);
    await userEvent.click(await screen.findByRole("switch", { name: shareOpened }));
    await waitFor(() => {
      expect(screen.getByRole("switch", { name: shareOpened })).toBeEnabled();
    });
    expect(screen.getByRole("switch", { name: shareOpened })).not.toBeChecked();
    expect(http.calls.find(({ method }) => method === "POST")?.body).toEqual({
      notifications: { share_opened: false },
    });
  });

  it("shows what the service has when a switch fails", async () => {
    const http = service();
    await draw(http);
    http.answer("POST /user/me", () => {
      throw new PortalError("service_unavailable");
    });
    await userEvent.click(await screen.findByRole("switch", { name: shareOpened }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer");
    expect(screen.getByRole("switch", { name: shareOpened })).toBeChecked();
  });

  it("says so where no address is confirmed", async () => {
    await draw(service({ contact_email_verified: false }));
    expect(await screen.findByText("No mail reaches you yet")).toBeVisible();
  });
});
