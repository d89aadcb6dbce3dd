import { problemsOfTexts, type TextFile } from "./text-keys.ts";

const both = (namespace: string, en: unknown, es: unknown = en): TextFile[] => [
  { language: "en", namespace, owner: "x", content: en },
  { language: "es", namespace, owner: "x", content: es },
];
const check = (text: string, texts: readonly TextFile[]): string[] =>
  problemsOfTexts([{ path: "a.tsx", text }], texts, ["en", "es"]);
const using = (body: string, namespace = "home"): string => `const { t } = useTranslation("${namespace}"); ${body}`;

describe("problemsOfTexts", () => {
  it("has nothing to say when every key is used and exists", () => {
    expect(
      check(using('t("row.title"); t(`phase.${x}_status`); t(y ? "a" : "b"); t("errors:offline")'), [
        ...both("home", { row: { title: "T" }, phase: { one_status: "1", two_status: "2" }, a: "a", b: "b" }),
        ...both("errors", { offline: "Offline" }),
      ]),
    ).toEqual([]);
  });

  it("finds a key that is used and not there", () => {
    expect(check(using('t("row.titel"); t("row.title")'), both("home", { row: { title: "T" } }))).toEqual([
      expect.stringContaining('"row.titel" is in no text file'),
    ]);
  });

  it("finds a template that fits no key", () => {
    expect(check(using('t(`row.${x}_body`); t("row.title")'), both("home", { row: { title: "T" } }))).toEqual([
      expect.stringContaining("is in no text file"),
    ]);
  });

  it("finds a key in the wrong namespace", () => {
    expect(check(using('t("title")', "list"), [...both("home", { title: "T" }), ...both("list", {})])).toContainEqual(
      expect.stringContaining('"title" is in no text file (list)'),
    );
  });

  it("finds a title that a manifest names and nobody wrote, and counts one that is there as used", () => {
    const named = ["home:row.title", "home:row.titel"].map((key) => ({ path: "remote-x/manifest.json", key }));
    expect(problemsOfTexts([], both("home", { row: { title: "T" } }), ["en", "es"], named)).toEqual([
      'remote-x/manifest.json: "home:row.titel" is in no text file (home).',
    ]);
  });

  it("finds a key that nobody uses", () => {
    expect(check(using('t("a")'), both("home", { a: "A", left_over: "B" }))).toEqual([
      "home:left_over is used nowhere.",
    ]);
  });

  it("counts a key that is named outside a call as used", () => {
    expect(check('export const r = { titleKey: "home:a" }; const z = "b";', both("home", { a: "A", b: "B" }))).toEqual(
      [],
    );
  });

  it("finds a key that one language lacks", () => {
    expect(check(using('t("a"); t("b")'), both("home", { a: "A", b: "B" }, { a: "A" }))).toEqual([
      "home:b is missing in es.",
    ]);
  });

  it("asks for every plural form of a language", () => {
    expect(check(using('t("n", { count })'), both("home", { n_one: "1", n_other: "{{count}}" }))).toEqual([
      "home:n_many is missing in es.",
    ]);
  });

  it("finds placeholders that differ", () => {
    expect(check(using('t("a", { name })'), both("home", { a: "Hello {{name}}" }, { a: "Hola {{nombre}}" }))).toEqual([
      expect.stringContaining("other placeholders in es (nombre)"),
    ]);
  });

  it("finds an empty text", () => {
    expect(check(using('t("a")'), both("home", { a: " " }, { a: "A" }))).toEqual(["home:a is empty in en."]);
  });

  it("finds words in the code", () => {
    expect(check(using('t("a"); const x = <p title="Close it">Hello there</p>;'), both("home", { a: "A" }))).toEqual([
      expect.stringContaining('title="Close it" is written in the code'),
      expect.stringContaining('"Hello there" is written in the code'),
    ]);
  });
});
