import { createTelemetry, sendDelayMs, type TelemetryConsent } from "./telemetry.ts";
import { ScreenHistory } from "./vitals.ts";

const release = "secrets-0.3.1-0123456789ab";

function setUp({ privacyControl = false } = {}) {
  const sentRequests: unknown[] = [];
  const events = new EventTarget();
  const page = { consent: "unknown" as TelemetryConsent, visibilityState: "visible" as DocumentVisibilityState };
  const telemetry = createTelemetry({
    endpoint: "http://localhost:3000/api/telemetry",
    findRelease: (remote) => (remote === "secrets" ? release : null),
    getConsent: () => page.consent,
    window: {
      addEventListener: events.addEventListener.bind(events),
      setTimeout: window.setTimeout.bind(window),
      document: page,
    },
    privacyControl,
    fetch: (_address, init) => {
      sentRequests.push({ ...init, body: JSON.parse(typeof init?.body === "string" ? init.body : "null") as unknown });
      return Promise.resolve(new Response(null, { status: 202 }));
    },
  });
  const hide = () => {
    page.visibilityState = "hidden";
    events.dispatchEvent(new Event("visibilitychange"));
  };
  return { telemetry, sentRequests, page, hide, waitForSend: () => jest.advanceTimersByTimeAsync(sendDelayMs) };
}

describe("createTelemetry", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("sends records together, without personal data", async () => {
    const { telemetry, sentRequests, page, waitForSend } = setUp();
    page.consent = "yes";
    telemetry.recordLoad("secrets", "load", { milliseconds: 12.4 });
    telemetry.recordLoad("secrets", "render", { code: "remote_crashed" });
    telemetry.recordLoad("unknown", "load", { milliseconds: 1 });
    telemetry.recordVital({ remote: "secrets", release, route: "/home", metric: "LCP", value: 700.5 });
    await waitForSend();
    const events = [
      { remote: "secrets", release, phase: "load", duration_ms: 12 },
      { remote: "secrets", release, phase: "render", code: "remote_crashed" },
    ];
    expect(sentRequests).toMatchObject([
      {
        method: "POST",
        credentials: "omit",
        keepalive: true,
        body: { events, vitals: [{ remote: "secrets", release, route: "/home", metric: "LCP", value: 701 }] },
      },
    ]);
    await waitForSend();
    expect(sentRequests).toHaveLength(1);
  });

  it("waits until the account is known, and after a refusal sends nothing, not even once signed out", async () => {
    const { telemetry, sentRequests, page, hide, waitForSend } = setUp();
    telemetry.recordLoad("secrets", "load", { milliseconds: 1 });
    await waitForSend();
    expect(sentRequests).toEqual([]);
    page.consent = "no";
    await waitForSend();
    page.consent = "visitor";
    telemetry.recordLoad("secrets", "page", { milliseconds: 1 });
    await waitForSend();
    hide();
    expect(sentRequests).toEqual([]);
    page.consent = "yes"; // the person consents again
    telemetry.recordLoad("secrets", "page", { milliseconds: 2 });
    await waitForSend();
    expect(sentRequests).toMatchObject([{ body: { events: [{ duration_ms: 2 }] } }]);
  });

  it("sends a visitor's records when the page is hidden, and nothing with Global Privacy Control", async () => {
    for (const [privacyControl, calls] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { telemetry, sentRequests, page, hide } = setUp({ privacyControl });
      page.consent = "visitor";
      telemetry.recordLoad("secrets", "load", { milliseconds: 1 });
      hide();
      expect(sentRequests).toHaveLength(calls);
    }
  });

  it("keeps at most as many records as the service accepts in one call", async () => {
    const { telemetry, sentRequests, page, waitForSend } = setUp();
    page.consent = "yes";
    for (let index = 0; index < 60; index++) telemetry.recordLoad("secrets", "load", { milliseconds: index });
    await waitForSend();
    expect((sentRequests[0] as { body: { events: unknown[] } }).body.events).toHaveLength(50);
  });
});

describe("ScreenHistory", () => {
  it("finds the screen shown at a time, and the first screen from time zero on", () => {
    const screenHistory = new ScreenHistory();
    expect(screenHistory.findAt(0)).toBeNull();
    screenHistory.record("/home", 900);
    screenHistory.record("/home", 1_000);
    screenHistory.record("/secrets", 2_000);
    expect([0, 1_999, 2_000, 9_000].map((time) => screenHistory.findAt(time))).toEqual([
      "/home",
      "/home",
      "/secrets",
      "/secrets",
    ]);
  });
});
