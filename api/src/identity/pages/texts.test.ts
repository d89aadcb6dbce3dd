import { getTexts } from "./texts.ts";

describe("the texts of the pages", () => {
  const flattenTexts = (texts: object, path = ""): [string, string][] =>
    Object.entries(texts).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "object" && value !== null
        ? flattenTexts(value, `${path}${key}.`)
        : [[path + key, String(value)] as [string, string]],
    );
  const findPlaceholders = (text: string) => (text.match(/\{\{\w+\}\}/g) ?? []).sort();
  const [en, es] = [new Map(flattenTexts(getTexts("en"))), new Map(flattenTexts(getTexts("es")))];

  it("have the same keys and placeholders in both languages", () => {
    expect([...es.keys()]).toEqual([...en.keys()]);
    for (const [key, text] of en)
      expect([key, findPlaceholders(es.get(key) ?? "")]).toEqual([key, findPlaceholders(text)]);
  });

  it("name no product and have no exclamation marks", () => {
    for (const text of [...en.values(), ...es.values()]) expect(text).not.toMatch(/Relicario|[!¡]/);
  });
});
