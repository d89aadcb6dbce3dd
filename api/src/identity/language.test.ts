import { chooseLanguage, interpolate, textsOf } from "./language.ts";

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

describe("the texts", () => {
  const flatten = (texts: object, path = ""): [string, string][] =>
    Object.entries(texts).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "object" && value !== null
        ? flatten(value, `${path}${key}.`)
        : [[path + key, String(value)] as [string, string]],
    );
  const placeholders = (text: string) => (text.match(/\{\{\w+\}\}/g) ?? []).sort();
  const [en, es] = [new Map(flatten(textsOf("en"))), new Map(flatten(textsOf("es")))];

  it("say the same things in both languages", () => {
    expect([...es.keys()]).toEqual([...en.keys()]);
    for (const [key, text] of en) expect([key, placeholders(es.get(key) ?? "")]).toEqual([key, placeholders(text)]);
  });

  it("name no product and shout at nobody", () => {
    for (const text of [...en.values(), ...es.values()]) expect(text).not.toMatch(/Relicario|[!¡]/);
  });
});

describe("fill", () => {
  it("puts values where they belong, once, and leaves what it does not know", () => {
    expect(interpolate("{{count}} of {{product}}, {{other}}", { count: 2, product: "{{count}}" })).toBe(
      "2 of {{count}}, {{other}}",
    );
  });
});
