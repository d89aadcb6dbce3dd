import { HttpError, PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp, type FakeHttpClient } from "@relicario/shared/testing";
import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost } from "../testing/fake-host.tsx";
import ValidateEmailPage, { parseEmailLink } from "./ValidateEmailPage.tsx";

const nonce = "abcdefghijklmnopqrstuA";
const address = `/validate-email#value=alba%40example.org&nonce=${nonce}`;
const call = "GET /user/validate-contact-email";

const show = async (
  path = address,
  http: FakeHttpClient = createFakeHttpClient({ [call]: () => ({ valid: true }) }),
  language: "en" | "es" = "en",
) => {
  const { host } = createFakeHost({ http });
  const app = await renderApp(
    <HostContext value={host}>
      <ValidateEmailPage />
    </HostContext>,
    { path, language },
  );
  return { app, http };
};

const createFailingHttp = (error: PortalError) =>
  createFakeHttpClient({
    [call]: () => {
      throw error;
    },
  });
const press = () => userEvent.click(screen.getByRole("button", { name: "Confirm the address" }));

describe("parseEmailLink", () => {
  it("reads address and nonce", () => {
    expect(parseEmailLink(`#value=a%2Bb%40example.org&nonce=${nonce}`)).toEqual({ value: "a+b@example.org", nonce });
  });

  it.each([
    "",
    "#",
    "#value=a%40example.org",
    `#nonce=${nonce}`,
    `#value=nobody&nonce=${nonce}`,
    "#value=a%40example.org&nonce=short",
    "#value=a%40example.org&nonce=<script>alert(1)</script>",
  ])("is nothing for %s", (hash) => {
    expect(parseEmailLink(hash)).toBeNull();
  });
});

describe("ValidateEmailPage", () => {
  it("calls nothing before the button is pressed, and takes the link out of the address", async () => {
    const { http } = await show();
    expect(screen.getByText("Press the button if alba@example.org is your address.")).toBeVisible();
    expect(http.calls).toEqual([]);
    expect(window.location.hash).toBe("");
    await press();
    expect(await screen.findByText("From now on Relicario can write to alba@example.org.")).toBeVisible();
    expect(http.calls).toMatchObject([
      { method: "GET", path: "/user/validate-contact-email", query: { value: "alba@example.org", nonce } },
    ]);
  });

  it.each([
    ["404", new PortalError("not_found")],
    [
      "410",
      new PortalError("unknown", {
        cause: new HttpError({ status: 410, statusText: "Gone", path: "/", requestId: null, problem: null }),
      }),
    ],
    ["422", new PortalError("validation_error")],
  ])("says that the link no longer works at %s, and where to get another", async (_status, error) => {
    await show(address, createFailingHttp(error));
    await press();
    expect(await screen.findByRole("alert")).toHaveTextContent("This link no longer works");
    expect(screen.getByRole("link", { name: "Go to your profile" })).toHaveAttribute("href", "/settings/profile");
    await expectAccessible();
  });

  it("keeps the button when the service does not answer", async () => {
    await show(address, createFailingHttp(new PortalError("service_unavailable")));
    await press();
    expect(await screen.findByRole("alert")).toHaveTextContent("The service does not answer right now.");
    expect(screen.getByRole("button", { name: "Confirm the address" })).toBeEnabled();
  });

  it.each(["en", "es"] as const)("says when the link is not complete, accessibly (%s)", async (language) => {
    await show("/validate-email#value=alba", undefined, language);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
    expect(screen.getByRole("link")).toBeVisible();
    await expectAccessible();
  });
});
