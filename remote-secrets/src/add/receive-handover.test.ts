import { receiveHandover } from "./receive-handover.ts";

const application = { name: "Notes", url: "https://notes.example.org/hand-over?to=portal" };
const origin = "https://notes.example.org";
const secret = { relicario: "secret", name: "Wallet", text: "legal winner" };

function createPage({ blocked = false } = {}) {
  const applicationWindow = { closed: false, close: jest.fn() };
  const listeners = new Set<(event: MessageEvent) => void>();
  const intervals = new Map<number, () => void>();
  const page = {
    open: jest.fn(() => (blocked ? null : applicationWindow)),
    addEventListener: (_type: string, listener: (event: MessageEvent) => void) => listeners.add(listener),
    removeEventListener: (_type: string, listener: (event: MessageEvent) => void) => listeners.delete(listener),
    setInterval: (callback: () => void) => {
      intervals.set(1, callback);
      return 1;
    },
    clearInterval: (id: number) => intervals.delete(id),
  };
  const controller = new AbortController();
  const outcome = receiveHandover(application, controller.signal, page as unknown as Window);
  return {
    page,
    applicationWindow,
    controller,
    outcome,
    isListening: () => listeners.size > 0 || intervals.size > 0,
    send: (data: unknown, from: object = {}) => {
      const event = { data, origin, source: applicationWindow, ...from } as unknown as MessageEvent;
      for (const listener of listeners) listener(event);
    },
    lookAtWindow: () => {
      for (const callback of [...intervals.values()]) callback();
    },
  };
}

describe("receiveHandover", () => {
  it("takes one secret from the window that it opened, then closes the window", async () => {
    const { page, send, outcome, applicationWindow, isListening } = createPage();
    expect(page.open).toHaveBeenCalledWith(application.url, "_blank", expect.stringContaining("popup"));
    send(secret);
    expect(isListening()).toBe(false);
    expect(applicationWindow.close).toHaveBeenCalled();
    expect(await outcome).toEqual({ kind: "received", secret: { name: "Wallet", text: "legal winner" } });
  });

  it.each([
    ["another window of that origin", { source: {} }],
    ["the same window after it went to another origin", { origin: "https://other.example.org" }],
    ["an origin that only begins like it", { origin: "https://notes.example.org.evil.example" }],
  ])("ignores %s", async (_, from) => {
    const { send, outcome, isListening, applicationWindow, lookAtWindow } = createPage();
    send(secret, from);
    expect(isListening()).toBe(true);
    applicationWindow.closed = true;
    lookAtWindow();
    expect(await outcome).toEqual({ kind: "nothing" });
    expect(isListening()).toBe(false);
  });

  it.each([
    null,
    "text",
    { ...secret, relicario: "other" },
    { ...secret, text: "" },
    { ...secret, text: "x".repeat(65_537) },
    { ...secret, name: "x".repeat(201) },
    { ...secret, key: "x" },
  ])("refuses %j", async (message) => {
    const { send, outcome } = createPage();
    send(message);
    expect(await outcome).toEqual({ kind: "invalid" });
  });

  it("takes nothing after the person cancelled", async () => {
    const { controller, send, outcome, isListening } = createPage();
    controller.abort();
    send(secret);
    expect(await outcome).toEqual({ kind: "nothing" });
    expect(isListening()).toBe(false);
  });

  it("says that the window was blocked", async () => {
    expect(await createPage({ blocked: true }).outcome).toEqual({ kind: "blocked" });
  });
});
