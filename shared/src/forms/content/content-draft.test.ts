import { toContentInput, findContentProblem, suggestTitle } from "./content-draft.ts";

describe("contentProblem", () => {
  it("looks at what the kind means, and at nothing else", () => {
    expect(findContentProblem({ kind: "text", text: "", file: new File(["x"], "a.pdf") })).toBe("text_missing");
    expect(findContentProblem({ kind: "file", text: "words", file: null })).toBe("file_missing");
    expect(findContentProblem({ kind: "seed", text: "abandon ability", file: null })).toBeNull();
  });

  it("refuses letters that UTF-8 cannot keep", () => {
    expect(findContentProblem({ kind: "text", text: "\ud800", file: null })).toBe("text_broken");
  });
});

it("contentOf keeps a text as typed, under one name", () => {
  expect(toContentInput({ kind: "seed", text: " a ", file: null })).toMatchObject({
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
])("makes a title of the name %s", (name, title) => {
  expect(suggestTitle(name)).toBe(title);
});
