import {
  createI18n,
  detectLanguage,
  getFormats,
  languageStorageKey,
  loadTexts,
  saveLanguage,
  textLoadingOptions,
} from "./index.ts";

const settings = { language: "es", product: "Relicario" } as const;

describe("detectLanguage", () => {
  const createStorageWith = (value: string | null) => ({ getItem: () => value });

  it.each([
    ["es", "en-GB", "es"],
    ["en", "es-ES", "en"],
    [null, "es-MX", "es"],
    [null, "en", "en"],
    [null, "fr-FR", "en"],
    [null, undefined, "en"],
    ["fr", "es", "es"],
  ])("chosen %s, browser %s: %s", (chosen, browser, expected) => {
    expect(detectLanguage(createStorageWith(chosen), browser)).toBe(expected);
  });

  it("uses the browser's language when storage is forbidden", () => {
    const forbiddenStorage = {
      getItem: () => {
        throw new DOMException("forbidden", "SecurityError");
      },
    };
    expect(detectLanguage(forbiddenStorage, "es-ES")).toBe("es");
  });

  it("stores the chosen language", () => {
    saveLanguage(localStorage, "es");
    expect(localStorage.getItem(languageStorageKey)).toBe("es");
  });
});

describe("createI18n", () => {
  it("does not escape values, and inserts the product's name", async () => {
    const i18n = await createI18n({
      ...settings,
      namespaces: ["n"],
      fetchTexts: () => Promise.resolve({ a: "{{product}}: {{title}}" }),
    });
    expect(i18n.t("n:a", { title: "<b>&</b>" })).toBe("Relicario: <b>&</b>");
  });

  it("supports the formats of i18next", async () => {
    const i18n = await createI18n({
      ...settings,
      language: "en",
      namespaces: ["n"],
      fetchTexts: () => Promise.resolve({ a: "{{beds, number}} in $t(n:b)", b: "Garden" }),
    });
    expect(i18n.t("n:a", { beds: 1234.5 })).toBe("1,234.5 in Garden");
  });

  it("falls back to English for a text missing in a language", async () => {
    const i18n = await createI18n({
      ...settings,
      namespaces: ["n"],
      fetchTexts: (language) => Promise.resolve(language === "en" ? { a: "one", b: "two" } : { a: "uno" }),
    });
    expect([i18n.t("n:a"), i18n.t("n:b")]).toEqual(["uno", "two"]);
  });

  it("has bundled texts at once, and fetches other texts", async () => {
    const fetchTexts = jest.fn(() => Promise.resolve({ a: "fetched" }));
    const i18n = await createI18n({ ...settings, fetchTexts, bundledTexts: { es: { common: { a: "bundled" } } } });
    expect(i18n.t("common:a")).toBe("bundled");
    await i18n.loadNamespaces(["n"]);
    expect(i18n.t("n:a")).toBe("fetched");
  });

  it("resolves plurals, even of keys with underscores", async () => {
    const i18n = await createI18n({
      ...settings,
      namespaces: ["n"],
      fetchTexts: () =>
        Promise.resolve({ save_action: "Guardar", items_one: "{{count}} cosa", items_other: "{{count}} cosas" }),
    });
    expect([i18n.t("n:save_action"), i18n.t("n:items", { count: 1 }), i18n.t("n:items", { count: 2 })]).toEqual([
      "Guardar",
      "1 cosa",
      "2 cosas",
    ]);
  });

  it("retries a failed load 5 times, starting at 350 ms and doubling", async () => {
    jest.useFakeTimers();
    let calls = 0;
    const callTimes: number[] = [];
    const start = Date.now();
    const ready = createI18n({
      ...settings,
      language: "en",
      namespaces: ["n"],
      fetchTexts: () => {
        calls += 1;
        callTimes.push(Date.now() - start);
        return calls <= 5 ? Promise.reject(new Error("down")) : Promise.resolve({ a: "at last" });
      },
    });
    await jest.advanceTimersByTimeAsync(20_000);
    jest.useRealTimers();
    expect((await ready).t("n:a")).toBe("at last");
    expect(callTimes).toEqual([0, 350, 1050, 2450, 5250, 10_850]);
    expect(textLoadingOptions).toEqual({ maxRetries: 5, retryTimeout: 350, maxParallelReads: 10 });
  });

  it("reads at most 10 namespaces at once", async () => {
    let openReads = 0;
    let maxOpenReads = 0;
    const i18n = await createI18n({
      ...settings,
      language: "en",
      fetchTexts: async () => {
        maxOpenReads = Math.max(maxOpenReads, ++openReads);
        await new Promise((resolve) => {
          setTimeout(resolve, 0);
        });
        openReads -= 1;
        return {};
      },
    });
    await i18n.loadNamespaces(Array.from({ length: 25 }, (_item, index) => `n${String(index)}`));
    expect(maxOpenReads).toBe(10);
  });
});

describe("loadTexts", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it("loads missing namespaces in the displayed language, each once", async () => {
    const fetchTexts = jest.fn(() => Promise.resolve({ a: "fetched" }));
    const i18n = await createI18n({ ...settings, fetchTexts });
    await loadTexts(i18n, ["one", "two"]);
    await loadTexts(i18n, ["two"]);
    expect([i18n.t("one:a"), i18n.t("two:a")]).toEqual(["fetched", "fetched"]);
    expect(fetchTexts.mock.calls).toEqual(
      expect.arrayContaining([
        ["es", "one"],
        ["es", "two"],
        ["en", "one"],
        ["en", "two"],
      ]),
    );
    expect(fetchTexts).toHaveBeenCalledTimes(4); // English is the fallback
  });

  it("leaves namespaces that never loaded out of a change of language", async () => {
    jest.useFakeTimers();
    const i18n = await createI18n({
      ...settings,
      fetchTexts: (_language, namespace) =>
        namespace === "broken" ? Promise.reject(new Error("down")) : Promise.resolve({ a: "fetched" }),
    });
    await loadTexts(i18n, ["one"]);
    const failure = expect(loadTexts(i18n, ["broken"])).rejects.toMatchObject({ code: "remote_texts_missing" });
    await jest.advanceTimersByTimeAsync(20_000);
    await failure;
    let isChanged = false;
    void i18n.changeLanguage("en").then(() => (isChanged = true));
    await jest.advanceTimersByTimeAsync(0);
    expect([isChanged, i18n.resolvedLanguage]).toEqual([true, "en"]);
  });

  it("loads the texts of a language that is chosen meanwhile", async () => {
    let endFirstRead: () => void = () => undefined;
    const firstRead = new Promise<void>((resolve) => {
      endFirstRead = resolve;
    });
    const i18n = await createI18n({
      ...settings,
      fetchTexts: async (language) => {
        if (language === "es") await firstRead;
        return { a: language };
      },
    });
    const loading = loadTexts(i18n, ["one"]);
    await i18n.changeLanguage("en");
    endFirstRead();
    await loading;
    expect(i18n.t("one:a")).toBe("en");
  });

  it("rejects with remote_texts_missing, and retries at the next call", async () => {
    jest.useFakeTimers();
    let isReachable = false;
    const i18n = await createI18n({
      ...settings,
      fetchTexts: () => (isReachable ? Promise.resolve({ a: "at last" }) : Promise.reject(new Error("down"))),
    });
    const loading = expect(loadTexts(i18n, ["n"])).rejects.toMatchObject({ code: "remote_texts_missing" });
    await jest.advanceTimersByTimeAsync(20_000);
    await loading;
    isReachable = true;
    await loadTexts(i18n, ["n"]);
    expect(i18n.t("n:a")).toBe("at last");
  });
});

describe("getFormats", () => {
  it("formats numbers, dates, times and sizes for the language", () => {
    const at = "2026-11-21T10:04:05.678Z";
    expect([getFormats("en").number(1234.5), getFormats("es").number(12_345.5)]).toEqual(["1,234.5", "12.345,5"]);
    expect([getFormats("en").date(at), getFormats("es").date(at)]).toEqual(["21 Nov 2026", "21 nov 2026"]);
    expect([getFormats("en").size(1_500_000), getFormats("es").size(1_500_000), getFormats("en").size(1)]).toEqual([
      "1.5 MB",
      "1,5 MB",
      "1 byte",
    ]);
    expect([getFormats("en").time("2026-11-21T14:05:00"), getFormats("es").time("2026-11-21T09:05:00")]).toEqual([
      "14:05",
      "9:05",
    ]);
    expect(getFormats("es").relative("2026-11-18T10:04:05.678Z", Date.parse(at))).toBe("hace 3 días");
    expect(getFormats("en").relative("2026-11-28T10:04:00Z", Date.parse(at))).toBe("in 7 days");
  });
});
