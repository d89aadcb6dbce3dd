import { toContentInput, findContentProblem, suggestTitle } from "./content-draft.ts";

describe("findContentProblem", () => {
  it("checks only the field of the chosen kind", () => {
    expect(findContentProblem({ kind: "text", text: "", record: [], file: new File(["x"], "a.pdf") })).toBe(
      "text_missing",
    );
    expect(findContentProblem({ kind: "file", text: "words", record: [], file: null })).toBe("file_missing");
    expect(findContentProblem({ kind: "seed", text: "abandon ability", record: [], file: null })).toBeNull();
  });

  it("refuses text that UTF-8 cannot encode", () => {
    expect(findContentProblem({ kind: "text", text: "\ud800", record: [], file: null })).toBe("text_broken");
  });
});

it("toContentInput keeps a text as typed, in secret.txt", () => {
  expect(toContentInput({ kind: "seed", text: " a ", record: [], file: null })).toMatchObject({
    contentKind: "seed",
    name: "secret.txt",
    mime: "text/plain",
    content: { size: 3 },
  });
});

it.each([
  ["pasaporte.pdf", "pasaporte"],
  ["archive.tar.gz", "archive.tar"],
  [".env", ".env"],
  ["README", "README"],
])("suggestTitle removes the extension of %s", (name, title) => {
  expect(suggestTitle(name)).toBe(title);
});
