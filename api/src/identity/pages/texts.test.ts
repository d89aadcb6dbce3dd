import { textsOf } from "./texts.ts";

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
