import { chooseLanguage, interpolate } from "./language.ts";

describe("chooseLanguage", () => {
  it.each([
    ["es", "en", "es"],
    ["fr es-MX", "en", "es"],
    ["fr", "es-ES,es;q=0.9,en;q=0.8", "es"],
    [undefined, "en;q=0.3, es;q=0.7", "es"],
    [undefined, "es;q=0, en", "en"],
    [undefined, "de", "en"],
    [undefined, undefined, "en"],
    [["es"], undefined, "en"], // the same parameter twice
    ["", "EN-gb", "en"],
  ])("given ui_locales %j and Accept-Language %j chooses %s", (uiLocales, accepted, language) => {
    expect(chooseLanguage(uiLocales, accepted)).toBe(language);
  });
});

describe("interpolate", () => {
  it("inserts values once, and keeps unknown placeholders", () => {
    expect(interpolate("{{count}} of {{product}}, {{other}}", { count: 2, product: "{{count}}" })).toBe(
      "2 of {{count}}, {{other}}",
    );
  });
});
