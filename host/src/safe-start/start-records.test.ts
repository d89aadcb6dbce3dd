import { createStartRecords, type PageState } from "./start-records.ts";

/** A browser with tabs. A tab's session storage survives reloads, and ends with the tab. */
function setUp() {
  let idCount = 0;
  const createTab = () => {
    const items = new Map<string, string>();
    const session = {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
    } as unknown as Storage;
    return {
      open: () => {
        const events = new EventTarget();
        const page = { state: "shown" as PageState, visibilityState: "visible" as DocumentVisibilityState };
        const timers = new Set<number>();
        const records = createStartRecords({
          local: localStorage,
          session,
          window: {
            addEventListener: events.addEventListener.bind(events),
            setInterval: (handler: () => void, delay: number) => {
              const timer = window.setInterval(handler, delay);
              timers.add(timer);
              return timer;
            },
            clearInterval: window.clearInterval.bind(window),
            document: page,
          },
          now: Date.now,
          createId: () => `id-${String(++idCount)}`,
          getPageState: () => page.state,
        });
        return {
          ...records,
          page,
          load: (...remotes: readonly string[]) => {
            for (const remote of remotes) records.recordLoad(remote)();
          },
          /** An endless loop, or a process that ended: no timer and no listener runs any more. */
          hang: () => {
            for (const timer of timers) window.clearInterval(timer);
          },
          leave: () => events.dispatchEvent(new Event("pagehide")),
          hide: () => {
            page.visibilityState = "hidden";
            events.dispatchEvent(new Event("visibilitychange"));
          },
        };
      },
    };
  };
  return { createTab };
}

describe("createStartRecords", () => {
  beforeEach(() => {
    jest.useFakeTimers();
    localStorage.clear();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Opens a page in the tab that loads remotes and hangs. */
  const hangOnce = (tab: ReturnType<ReturnType<typeof setUp>["createTab"]>, ...remotes: readonly string[]) => {
    const page = tab.open();
    page.load(...remotes);
    page.hang();
    return page.suspects;
  };

  it("suspects the remotes that both of two failed starts in a row had loaded", () => {
    const tab = setUp().createTab();
    expect(hangOnce(tab, "secrets", "garden")).toEqual([]);
    expect(hangOnce(tab, "garden", "recovery")).toEqual([]);
    expect(hangOnce(tab, "garden")).toEqual(["garden"]);
  });

  it("suspects those of the last start when both had none in common", () => {
    const tab = setUp().createTab();
    hangOnce(tab, "secrets");
    hangOnce(tab, "garden", "recovery");
    expect(tab.open().suspects).toEqual(["garden", "recovery"]);
  });

  it("suspects no remote after which the page still worked, while another one had not loaded", () => {
    const tab = setUp().createTab();
    for (let count = 0; count < 2; count++) {
      const { recordLoad, load, hang } = tab.open();
      recordLoad("garden");
      load("recovery");
      hang();
    }
    for (let count = 0; count < 2; count++) {
      const { page, load, hang } = tab.open();
      load("secrets");
      page.state = "broken";
      load("garden");
      hang();
    }
    expect(tab.open().suspects).toEqual(["garden"]);
  });

  it("counts a start of a tab that was closed once it was silent for eight seconds", () => {
    const { createTab } = setUp();
    hangOnce(createTab(), "garden");
    hangOnce(createTab(), "garden");
    jest.advanceTimersByTime(8_000);
    expect(createTab().open().suspects).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(createTab().open().suspects).toEqual(["garden"]);
  });

  it("counts no start of another tab that still loads", () => {
    const { createTab } = setUp();
    for (let count = 0; count < 2; count++) createTab().open().recordLoad("garden");
    jest.advanceTimersByTime(60_000);
    expect(createTab().open().suspects).toEqual([]);
  });

  it("counts a page that runs, but that people cannot use", () => {
    const tab = setUp().createTab();
    for (let count = 0; count < 2; count++) {
      const { load, page, leave } = tab.open();
      load("garden");
      page.state = "broken";
      jest.advanceTimersByTime(60_000);
      leave();
    }
    expect(tab.open().suspects).toEqual(["garden"]);
  });

  it("forgets failed starts once a page has settled", () => {
    const tab = setUp().createTab();
    hangOnce(tab, "garden");
    tab.open().load("garden");
    jest.advanceTimersByTime(3_000);
    expect(localStorage).toHaveLength(0);
    hangOnce(tab, "garden");
    expect(tab.open().suspects).toEqual([]);
  });

  it("settles only once no code was loading for three seconds", () => {
    const tab = setUp().createTab();
    const page = tab.open();
    const onLoaded = page.recordLoad("garden");
    jest.advanceTimersByTime(20_000);
    onLoaded();
    jest.advanceTimersByTime(2_000);
    expect(localStorage).toHaveLength(1);
    jest.advanceTimersByTime(1_000);
    expect(localStorage).toHaveLength(0);
    page.load("recovery"); // later, when a person opens its area
    page.hang();
    hangOnce(tab, "recovery");
    expect(tab.open().suspects).toEqual(["recovery"]);
  });

  it.each(["leave", "hide"] as const)("counts no page that worked when people %s it, and keeps earlier ones", (how) => {
    const tab = setUp().createTab();
    hangOnce(tab, "garden");
    for (let count = 0; count < 2; count++) {
      const page = tab.open();
      page.load("garden");
      page[how]();
    }
    hangOnce(tab, "garden");
    expect(tab.open().suspects).toEqual(["garden"]);
  });

  it("counts a page that shows nothing, unless it is left at once", () => {
    const tab = setUp().createTab();
    for (const milliseconds of [0, 2_999, 3_000, 3_000]) {
      const { page, load, leave } = tab.open();
      page.state = "not_shown_yet";
      load("garden");
      jest.advanceTimersByTime(milliseconds);
      leave();
    }
    expect(localStorage).toHaveLength(2);
    expect(tab.open().suspects).toEqual(["garden"]);
  });

  it("forgets failed starts once the person has decided", () => {
    const tab = setUp().createTab();
    hangOnce(tab, "garden");
    hangOnce(tab, "garden");
    tab.open().forgetFailedStarts();
    expect(tab.open().suspects).toEqual([]);
  });

  it("ignores items of yesterday, and those that it cannot read", () => {
    const tab = setUp().createTab();
    hangOnce(tab, "garden");
    hangOnce(tab, "garden");
    localStorage.setItem("unsettledStart.x", "{}");
    jest.advanceTimersByTime(24 * 60 * 60_000);
    expect(tab.open().suspects).toEqual([]);
    expect(localStorage).toHaveLength(0);
  });

  it("records nothing where the storage is full, and lets the page start", () => {
    const tab = setUp().createTab();
    const setItem = jest.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    hangOnce(tab, "garden");
    hangOnce(tab, "garden");
    setItem.mockRestore();
    expect(tab.open().suspects).toEqual([]);
  });
});
