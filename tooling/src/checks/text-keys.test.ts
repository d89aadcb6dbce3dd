import { findTextProblems, type TextFile } from "./text-keys.ts";

const createBothLanguages = (namespace: string, en: unknown, es: unknown = en): TextFile[] => [
  { language: "en", namespace, owner: "x", content: en },
  { language: "es", namespace, owner: "x", content: es },
];
const findProblems = (text: string, texts: readonly TextFile[]): string[] =>
  findTextProblems([{ path: "a.tsx", text }], texts, ["en", "es"]);
const buildComponentSource = (body: string, namespace = "home"): string =>
  `const { t } = useTranslation("${namespace}"); ${body}`;

describe("findTextProblems", () => {
  it("accepts keys that exist and are used", () => {
    expect(
      findProblems(
        buildComponentSource('t("row.title"); t(`phase.${x}_status`); t(y ? "a" : "b"); t("errors:offline")'),
        [
          ...createBothLanguages("home", {
            row: { title: "T" },
            phase: { one_status: "1", two_status: "2" },
            a: "a",
            b: "b",
          }),
          ...createBothLanguages("errors", { offline: "Offline" }),
        ],
      ),
    ).toEqual([]);
  });

  it("finds a used key that does not exist", () => {
    expect(
      findProblems(
        buildComponentSource('t("row.titel"); t("row.title")'),
        createBothLanguages("home", { row: { title: "T" } }),
      ),
    ).toEqual([expect.stringContaining('"row.titel" is in no text file')]);
  });

  it("finds a template that matches no key", () => {
    expect(
      findProblems(
        buildComponentSource('t(`row.${x}_body`); t("row.title")'),
        createBothLanguages("home", { row: { title: "T" } }),
      ),
    ).toEqual([expect.stringContaining("is in no text file")]);
  });

  it("finds a key in the wrong namespace", () => {
    expect(
      findProblems(buildComponentSource('t("title")', "list"), [
        ...createBothLanguages("home", { title: "T" }),
        ...createBothLanguages("list", {}),
      ]),
    ).toContainEqual(expect.stringContaining('"title" is in no text file (list)'));
  });

  it("finds a manifest's title that has no text, and counts an existing one as used", () => {
    const manifestTitles = ["home:row.title", "home:row.titel"].map((key) => ({ path: "remote-x/manifest.json", key }));
    expect(
      findTextProblems([], createBothLanguages("home", { row: { title: "T" } }), ["en", "es"], manifestTitles),
    ).toEqual(['remote-x/manifest.json: "home:row.titel" is in no text file (home).']);
  });

  it("finds an unused key", () => {
    expect(
      findProblems(buildComponentSource('t("a")'), createBothLanguages("home", { a: "A", left_over: "B" })),
    ).toEqual(["home:left_over is used nowhere."]);
  });

  it("counts a key that is named outside a call as used", () => {
    expect(
      findProblems(
        'export const r = { titleKey: "home:a" }; const z = "b";',
        createBothLanguages("home", { a: "A", b: "B" }),
      ),
    ).toEqual([]);
  });

  it("finds a key that one language lacks", () => {
    expect(
      findProblems(buildComponentSource('t("a"); t("b")'), createBothLanguages("home", { a: "A", b: "B" }, { a: "A" })),
    ).toEqual(["home:b is missing in es."]);
  });

  it("asks for every plural form of a language", () => {
    expect(
      findProblems(
        buildComponentSource('t("n", { count })'),
        createBothLanguages("home", { n_one: "1", n_other: "{{count}}" }),
      ),
    ).toEqual(["home:n_many is missing in es."]);
  });

  it("finds placeholders that differ", () => {
    expect(
      findProblems(
        buildComponentSource('t("a", { name })'),
        createBothLanguages("home", { a: "Hello {{name}}" }, { a: "Hola {{nombre}}" }),
      ),
    ).toEqual([expect.stringContaining("other placeholders in es (nombre)")]);
  });

  it("finds an empty text", () => {
    expect(findProblems(buildComponentSource('t("a")'), createBothLanguages("home", { a: " " }, { a: "A" }))).toEqual([
      "home:a is empty in en.",
    ]);
  });

  it("finds hard-coded texts", () => {
    expect(
      findProblems(
        buildComponentSource('t("a"); const x = <p title="Close it">Hello there</p>;'),
        createBothLanguages("home", { a: "A" }),
      ),
    ).toEqual([
      expect.stringContaining('title="Close it" is written in the code'),
      expect.stringContaining('"Hello there" is written in the code'),
    ]);
  });
});
