import { createTelemetry, sendAfterMs, type Wish } from "./telemetry.ts";
import { ScreenHistory } from "./vitals.ts";

const release = "secrets-0.3.1-0123456789ab";

function setUp({ privacyControl = false } = {}) {
  const sent: unknown[] = [];
  const events = new EventTarget();
  const page = { wish: "unknown" as Wish, visibilityState: "visible" as DocumentVisibilityState };
  const telemetry = createTelemetry({
    address: "http://localhost:3000/api/telemetry",
    releaseOf: (remote) => (remote === "secrets" ? release : null),
    wish: () => page.wish,
    window: {
      addEventListener: events.addEventListener.bind(events),
      setTimeout: window.setTimeout.bind(window),
      document: page,
    },
    privacyControl,
    fetch: (_address, init) => {
      sent.push({ ...init, body: JSON.parse(typeof init?.body === "string" ? init.body : "null") as unknown });
      return Promise.resolve(new Response(null, { status: 202 }));
    },
  });
  const hide = () => {
    page.visibilityState = "hidden";
    events.dispatchEvent(new Event("visibilitychange"));
  };
  return { telemetry, sent, page, hide, after: () => jest.advanceTimersByTimeAsync(sendAfterMs) };
}

describe("createTelemetry", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("sends what was noted together, without anything of the person", async () => {
    const { telemetry, sent, page, after } = setUp();
    page.wish = "yes";
    telemetry.loaded("secrets", "load", { milliseconds: 12.4 });
    telemetry.loaded("secrets", "render", { code: "remote_crashed" });
    telemetry.loaded("unknown", "load", { milliseconds: 1 });
    telemetry.measured({ remote: "secrets", release, route: "/home", metric: "LCP", value: 700.5 });
    await after();
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
    await after();
    expect(sent).toHaveLength(1);
  });

  it("waits until the account is known, and sends nothing for one that switched it off, not even signed out", async () => {
    const { telemetry, sent, page, hide, after } = setUp();
    telemetry.loaded("secrets", "load", { milliseconds: 1 });
    await after();
    expect(sent).toEqual([]);
    page.wish = "no";
    await after();
    page.wish = "visitor";
    telemetry.loaded("secrets", "page", { milliseconds: 1 });
    await after();
    hide();
    expect(sent).toEqual([]);
    page.wish = "yes"; // switched on again
    telemetry.loaded("secrets", "page", { milliseconds: 2 });
    await after();
    expect(sent).toMatchObject([{ body: { events: [{ duration_ms: 2 }] } }]);
  });

  it("sends what a visitor's page noted when it is hidden, and nothing where the browser says Global Privacy Control", async () => {
    for (const [privacyControl, calls] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { telemetry, sent, page, hide } = setUp({ privacyControl });
      page.wish = "visitor";
      telemetry.loaded("secrets", "load", { milliseconds: 1 });
      hide();
      expect(sent).toHaveLength(calls);
    }
  });

  it("holds no more than the service takes", async () => {
    const { telemetry, sent, page, after } = setUp();
    page.wish = "yes";
    for (let nth = 0; nth < 60; nth++) telemetry.loaded("secrets", "load", { milliseconds: nth });
    await after();
    expect((sent[0] as { body: { events: unknown[] } }).body.events).toHaveLength(50);
  });
});

describe("ScreenHistory", () => {
  it("knows which screen was shown when, the first from the beginning", () => {
    const screens = new ScreenHistory();
    expect(screens.at(0)).toBeNull();
    screens.show("/home", 900);
    screens.show("/home", 1_000);
    screens.show("/secrets", 2_000);
    expect([0, 1_999, 2_000, 9_000].map((time) => screens.at(time))).toEqual([
      "/home",
      "/home",
      "/secrets",
      "/secrets",
    ]);
  });
});
