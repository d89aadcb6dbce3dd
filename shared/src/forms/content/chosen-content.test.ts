import { contentOf, contentProblem, titleOfFile } from "./chosen-content.ts";

describe("contentProblem", () => {
  it("looks at what the kind means, and at nothing else", () => {
    expect(contentProblem({ kind: "text", text: "", file: new File(["x"], "a.pdf") })).toBe("text_missing");
    expect(contentProblem({ kind: "file", text: "words", file: null })).toBe("file_missing");
    expect(contentProblem({ kind: "seed", text: "abandon ability", file: null })).toBeNull();
  });

  it("refuses letters that UTF-8 cannot keep", () => {
    expect(contentProblem({ kind: "text", text: "\ud800", file: null })).toBe("text_broken");
  });
});

it("contentOf keeps a text as typed, under one name", () => {
  expect(contentOf({ kind: "seed", text: " a ", file: null })).toMatchObject({
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
  expect(titleOfFile(name)).toBe(title);
});
