import { findFolderProblems, findPhraseProblems, readGlossary } from "./glossary.ts";

const markdown = `# Words

## Names that code does not have

| instead of | say |
| --- | --- |
| \`acts/\`, act | operations |
| \`putAway\`, \`PutAway\` | lock |

## Phrases that texts do not have

| language | instead of | say |
| --- | --- | --- |
| en | go on, get on with it | Continue |
| es | seguir | Continuar |
`;
const glossary = readGlossary(markdown);

describe("the glossary", () => {
  it("reads code spans as names, and ignores other words", () => {
    expect([...glossary.names]).toEqual([
      ["putAway", "lock"],
      ["PutAway", "lock"],
    ]);
    expect([...glossary.folders]).toEqual([["acts", "operations"]]);
  });

  it.each([
    ["a missing table", "# Words\n"],
    ["no code span in its names", markdown.replace(/^\| `.*$/gm, "| act | operation |")],
  ])("is invalid with %s", (_title, text) => {
    expect(() => readGlossary(text)).toThrow(/glossary/);
  });

  it("finds a phrase in any case, in nested texts, as whole words of its language", () => {
    const texts = { a: { b: "Go on", c: "Ergo on, go once" }, d: "¿Seguir?" };
    expect(findPhraseProblems(glossary, "x.json", "en", texts)).toEqual([
      'x.json, a.b: replace "go on" with "Continue".',
    ]);
    expect(findPhraseProblems(glossary, "x.json", "es", texts)).toEqual([
      'x.json, d: replace "seguir" with "Continuar".',
    ]);
    expect(findPhraseProblems(glossary, "x.json", "es", { a: "conseguirá, seguirás, seguirían" })).toEqual([]);
    expect(findPhraseProblems(glossary, "x.json", "en", { a: "{{link}}/go on", b: "{{link}}/let-go on" })).toEqual([
      'x.json, a: replace "go on" with "Continue".',
    ]);
  });

  it("finds a folder by name", () => {
    expect(findFolderProblems(glossary, "vault/src/acts/open.ts")).toEqual([
      'vault/src/acts/open.ts: rename the folder "acts" to operations.',
    ]);
    expect(findFolderProblems(glossary, "vault/src/facts/acts.ts")).toEqual([]);
  });
});
