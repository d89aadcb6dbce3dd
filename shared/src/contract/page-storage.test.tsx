import { createPageStorage } from "./page-storage.ts";

const refuse = (): never => {
  throw new DOMException("denied", "SecurityError");
};

const refusals = {
  "the property throws": {
    get localStorage() {
      return refuse();
    },
    get sessionStorage() {
      return refuse();
    },
  },
  "the property is null": { localStorage: null, sessionStorage: null },
  "its methods throw": (() => {
    const storage = { length: 0, key: refuse, getItem: refuse, setItem: refuse, removeItem: refuse, clear: refuse };
    return { localStorage: storage, sessionStorage: storage };
  })(),
  "only reading throws": (() => {
    const accept = (): undefined => undefined;
    const storage = { length: 0, key: accept, getItem: refuse, setItem: accept, removeItem: accept, clear: accept };
    return { localStorage: storage, sessionStorage: storage } as unknown as Parameters<typeof createPageStorage>[0];
  })(),
};

describe("createPageStorage", () => {
  beforeEach(() => {
    localStorage.clear();
    sessionStorage.clear();
  });

  it("returns the browser's storage, and leaves no additional item in it", () => {
    const storage = createPageStorage(window);
    storage.local.setItem("a", "1");
    storage.session.setItem("b", "2");
    expect(Object.entries(localStorage)).toEqual([["a", "1"]]);
    expect(Object.entries(sessionStorage)).toEqual([["b", "2"]]);
    expect(storage.isSessionRefused()).toBe(false);
  });

  it.each(Object.entries(refusals))("keeps items in memory when %s", (_when, page) => {
    const storage = createPageStorage(page);
    expect(storage.isSessionRefused()).toBe(true);
    for (const area of [storage.local, storage.session]) {
      area.setItem("a", "1");
      area.setItem("b", "2");
      area.removeItem("b");
      expect([area.length, area.key(0), area.key(1), area.getItem("a"), area.getItem("b")]).toEqual([
        1,
        "a",
        null,
        "1",
        null,
      ]);
    }
    storage.local.clear();
    expect([storage.local.getItem("a"), storage.session.getItem("a")]).toEqual([null, "1"]);
  });

  it("returns the browser's storage even if it is full", () => {
    localStorage.setItem("theme", "dark");
    const full = {
      get length() {
        return localStorage.length;
      },
      key: (index: number) => localStorage.key(index),
      getItem: (key: string) => localStorage.getItem(key),
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
      removeItem: () => undefined,
      clear: () => undefined,
    };
    expect(createPageStorage({ localStorage: full, sessionStorage: full }).local.getItem("theme")).toBe("dark");
  });
});
