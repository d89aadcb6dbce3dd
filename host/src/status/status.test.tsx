import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient, expectAccessible, renderApp, type FakeHttpClient } from "@relicario/shared/testing";
import { screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";

import { HostContext } from "../context/host-context.ts";
import { createFakeHost, type FakeHostSettings } from "../testing/fake-host.tsx";
import { checkHealth, healthNames, type HealthDeps } from "./health.ts";
import StatusPage from "./StatusPage.tsx";

const key = { kty: "RSA", kid: "1" };
const createService = () =>
  createFakeHttpClient({ "GET /readyz": () => ({ status: "ok" }), "GET /auth/certs": () => ({ keys: [key] }) });

const createDeps = (changes: Partial<HealthDeps> = {}): HealthDeps => ({
  origin: "https://portal.example",
  authority: "https://id.example/realms/relicario",
  publicHttp: createService(),
  fetch: () => Promise.resolve(new Response("{}")),
  timeLimit: () => new AbortController().signal,
  ...changes,
});

describe("checkHealth", () => {
  it.each([
    ["portal", "https://portal.example/healthz"],
    ["identity", "https://id.example/realms/relicario/.well-known/openid-configuration"],
  ] as const)("checks the %s at %s, without cookies", async (name, address) => {
    const fetch = jest.fn(() => Promise.resolve(new Response("{}")));
    await checkHealth(name, createDeps({ fetch }));
    expect(fetch).toHaveBeenCalledWith(address, expect.objectContaining({ cache: "no-store", credentials: "omit" }));
  });

  it("checks a provider whose issuer ends with a slash without a double slash", async () => {
    const fetch = jest.fn(() => Promise.resolve(new Response("{}")));
    await checkHealth("identity", createDeps({ authority: "https://id.example/", fetch }));
    expect(fetch).toHaveBeenCalledWith("https://id.example/.well-known/openid-configuration", expect.anything());
  });

  it.each([
    ["service", "/readyz"],
    ["trust", "/auth/certs"],
  ] as const)("checks the %s at %s", async (name, path) => {
    const http = createService();
    await checkHealth(name, createDeps({ publicHttp: http }));
    expect(http.calls.map((call) => call.path)).toEqual([path]);
  });

  it.each<[string, Partial<HealthDeps>, string]>([
    ["it cannot be reached", { fetch: () => Promise.reject(new TypeError("Failed to fetch")) }, "service_unavailable"],
    [
      "it responds with an error",
      { fetch: () => Promise.resolve(new Response("", { status: 503 })) },
      "service_unavailable",
    ],
    [
      "it times out",
      { fetch: () => Promise.reject(new DOMException("late", "TimeoutError")), timeLimit: () => AbortSignal.abort() },
      "timed_out",
    ],
  ])("rejects with the reason when %s", async (_name, changes, code) => {
    await expect(checkHealth("identity", createDeps(changes))).rejects.toMatchObject({ code });
  });

  it("rejects a service that knows no key of the provider", async () => {
    await expect(
      checkHealth(
        "trust",
        createDeps({ publicHttp: createFakeHttpClient({ "GET /auth/certs": () => ({ keys: [] }) }) }),
      ),
    ).rejects.toMatchObject({ code: "bad_answer" });
  });
});

describe("StatusPage", () => {
  const fetchMock = jest.fn((_address: string) => Promise.resolve(new Response("{}")));

  beforeEach(() => {
    fetchMock.mockReset().mockImplementation(() => Promise.resolve(new Response("{}")));
    window.fetch = (address) => fetchMock(address instanceof Request ? address.url : address.toString());
  });

  const show = async (
    settings: FakeHostSettings & { http?: FakeHttpClient } = {},
    appearance: { language?: "en" | "es"; theme?: "light" | "dark" } = {},
  ) => {
    const fake = createFakeHost({ http: createService(), ...settings });
    await renderApp(
      <HostContext value={fake.host}>
        <StatusPage />
      </HostContext>,
      appearance,
    );
    return fake;
  };

  it.each([
    ["en", "light", "Everything works."],
    ["es", "dark", "Todo funciona."],
  ] as const)("says that everything responds, accessibly (%s, %s)", async (language, theme, text) => {
    await show({}, { language, theme });
    expect(await screen.findByText(text)).toBeVisible();
    expect(screen.getAllByRole("listitem")).toHaveLength(healthNames.length);
    await expectAccessible();
  });

  it("shows failed checks with the reason, and then their success", async () => {
    fetchMock.mockImplementation((address) =>
      address.includes("id.example")
        ? Promise.reject(new TypeError("Failed to fetch"))
        : Promise.resolve(new Response("{}")),
    );
    const http = createService();
    http.answer("GET /readyz", () => {
      throw new PortalError("service_unavailable");
    });
    await show({ http });
    expect(await screen.findByText("Not working: Service, Sign-in provider.")).toBeVisible();
    const rows = screen.getAllByRole("listitem");
    expect(within(rows[1] ?? document.body).getByText("It does not respond.")).toBeVisible();
    await expectAccessible();

    fetchMock.mockImplementation(() => Promise.resolve(new Response("{}")));
    http.answer("GET /readyz", () => ({ status: "ok" }));
    await userEvent.click(screen.getByRole("button", { name: "Check again" }));
    await waitFor(() => {
      expect(screen.getByText("Everything works.")).toBeVisible();
    });
  });

  it("names the refused remotes", async () => {
    await show({ refusedRemotes: ["sharing", "settings"] });
    expect(
      await screen.findByText("Not started, because they do not match what was signed: Settings, Sharing."),
    ).toBeVisible();
    expect(screen.queryByText("Everything works.")).not.toBeInTheDocument();
  });
});
