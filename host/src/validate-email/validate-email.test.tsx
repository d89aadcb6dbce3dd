import { HttpError, PortalError } from "@relicario/shared/errors";
import {
  createFakeHttpClient,
  expectAccessible,
  renderApp,
  type FakeHttpClient,
  wholeText,
} from "@relicario/shared/testing";
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
    ["a full stop", `#value=a%40example.org&nonce=${nonce}.`],
    ["an encoded bracket", `#value=a%40example.org&nonce=${nonce}%3E`],
    ["quoted-printable", `#value=3Da%40example.org&nonce=3D${nonce}`],
    ["a line break inside", `#value=a%40exam%0D%0Aple.org&nonce=${nonce.slice(0, 5)}%0A${nonce.slice(5)}`],
    ["a zero-width space", `#value=a%40example.org%E2%80%8B&nonce=${nonce}%E2%80%8B`],
  ])("reads a link that was changed on its way: %s", (_name, hash) => {
    expect(parseEmailLink(hash)).toEqual({ value: "a@example.org", nonce });
  });

  it.each([
    "",
    "#",
    "#value=a%40example.org",
    `#nonce=${nonce}`,
    `#value=nobody&nonce=${nonce}`,
    "#value=a%40example.org&nonce=short",
    "#value=a%40example.org&nonce=<script>alert(1)</script>",
  ])("returns null for %s", (hash) => {
    expect(parseEmailLink(hash)).toBeNull();
  });
});

describe("ValidateEmailPage", () => {
  it("makes no call before the button is pressed, and removes the link's parameters from the address", async () => {
    const { http } = await show();
    expect(screen.getByText(wholeText("Press the button if alba@example.org is your address."))).toBeVisible();
    expect(http.calls).toEqual([]);
    expect(window.location.hash).toBe("");
    await press();
    expect(await screen.findByText(wholeText("Relicario can now write to alba@example.org."))).toBeVisible();
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
  ])("says after %s that the link no longer works, and where to get a new one", async (_status, error) => {
    await show(address, createFailingHttp(error));
    await press();
    expect(await screen.findByRole("alert")).toHaveTextContent("This link no longer works");
    expect(screen.getByRole("link", { name: "Go to your profile" })).toHaveAttribute("href", "/settings/profile");
    await expectAccessible();
  });

  it("keeps the button when the service does not respond", async () => {
    await show(address, createFailingHttp(new PortalError("service_unavailable")));
    await press();
    expect(await screen.findByRole("alert")).toHaveTextContent("The service is not responding right now.");
    expect(screen.getByRole("button", { name: "Confirm the address" })).toBeEnabled();
  });

  it.each(["en", "es"] as const)("says that the link is incomplete, accessibly (%s)", async (language) => {
    await show("/validate-email#value=alba", undefined, language);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
    expect(screen.getByRole("link")).toBeVisible();
    await expectAccessible();
  });
});
