import { createTelemetry, sendDelayMs, type TelemetryConsent } from "./telemetry.ts";
import { ScreenHistory } from "./vitals.ts";

const release = "secrets-0.3.1-0123456789ab";

function setUp({ privacyControl = false } = {}) {
  const sentRequests: unknown[] = [];
  const events = new EventTarget();
  const page = { wish: "unknown" as TelemetryConsent, visibilityState: "visible" as DocumentVisibilityState };
  const telemetry = createTelemetry({
    endpoint: "http://localhost:3000/api/telemetry",
    findRelease: (remote) => (remote === "secrets" ? release : null),
    getConsent: () => page.wish,
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
  return { telemetry, sent: sentRequests, page, hide, waitForSend: () => jest.advanceTimersByTimeAsync(sendDelayMs) };
}

describe("createTelemetry", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("sends what was noted together, without anything of the person", async () => {
    const { telemetry, sent, page, waitForSend } = setUp();
    page.wish = "yes";
    telemetry.recordLoad("secrets", "load", { milliseconds: 12.4 });
    telemetry.recordLoad("secrets", "render", { code: "remote_crashed" });
    telemetry.recordLoad("unknown", "load", { milliseconds: 1 });
    telemetry.recordVital({ remote: "secrets", release, route: "/home", metric: "LCP", value: 700.5 });
    await waitForSend();
    const events = [
      { remote: "secrets", release, phase: "load", duration_ms: 12 },
      { remote: "secrets", release, phase: "render", code: "remote_crashed" },
    ];
    expect(sent).toMatchObject([
      {
        method: "POST",
        credentials: "omit",
        keepalive: true,
        body: { events, vitals: [{ remote: "secrets", release, route: "/home", metric: "LCP", value: 701 }] },
      },
    ]);
    await waitForSend();
    expect(sent).toHaveLength(1);
  });

  it("waits until the account is known, and sends nothing for one that switched it off, not even signed out", async () => {
    const { telemetry, sent, page, hide, waitForSend } = setUp();
    telemetry.recordLoad("secrets", "load", { milliseconds: 1 });
    await waitForSend();
    expect(sent).toEqual([]);
    page.wish = "no";
    await waitForSend();
    page.wish = "visitor";
    telemetry.recordLoad("secrets", "page", { milliseconds: 1 });
    await waitForSend();
    hide();
    expect(sent).toEqual([]);
    page.wish = "yes"; // switched on again
    telemetry.recordLoad("secrets", "page", { milliseconds: 2 });
    await waitForSend();
    expect(sent).toMatchObject([{ body: { events: [{ duration_ms: 2 }] } }]);
  });

  it("sends what a visitor's page noted when it is hidden, and nothing where the browser says Global Privacy Control", async () => {
    for (const [privacyControl, calls] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { telemetry, sent, page, hide } = setUp({ privacyControl });
      page.wish = "visitor";
      telemetry.recordLoad("secrets", "load", { milliseconds: 1 });
      hide();
      expect(sent).toHaveLength(calls);
    }
  });

  it("holds no more than the service takes", async () => {
    const { telemetry, sent, page, waitForSend } = setUp();
    page.wish = "yes";
    for (let index = 0; index < 60; index++) telemetry.recordLoad("secrets", "load", { milliseconds: index });
    await waitForSend();
    expect((sent[0] as { body: { events: unknown[] } }).body.events).toHaveLength(50);
  });
});

describe("ScreenHistory", () => {
  it("knows which screen was shown when, the first from the beginning", () => {
    const screens = new ScreenHistory();
    expect(screens.findAt(0)).toBeNull();
    screens.record("/home", 900);
    screens.record("/home", 1_000);
    screens.record("/secrets", 2_000);
    expect([0, 1_999, 2_000, 9_000].map((time) => screens.findAt(time))).toEqual([
      "/home",
      "/home",
      "/secrets",
      "/secrets",
    ]);
  });
});
