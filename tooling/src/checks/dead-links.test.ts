import { findDeadLinks } from "./dead-links.ts";

/**
 * Separate from the numbers, so that the check does not take examples in this file for citations.
 */
const folder = "docs/decisions";
const word = "decision";

const paths = ["README.md", "docs/guide.md", `${folder}/0001-first.md`, `${folder}/0002-second.md`];
const guide = { path: "docs/guide.md", text: "# Guide\n\n## What `start` does, and why\n" };

const check = (path: string, text: string) => findDeadLinks([{ path, text }, guide], paths);

describe("findDeadLinks", () => {
  it.each([
    ["a file", "[guide](docs/guide.md)"],
    ["a folder", "[decisions](docs/decisions) and [again](docs/decisions/)"],
    ["a heading", "[guide](docs/guide.md#what-start-does-and-why)"],
    ["a heading of the same file", "# First part\n\n[up](#first-part)"],
    ["a second heading of the same words", "# Part\n\n# Part\n\n[second](#part-1)"],
    ["another site", "[site](https://example.org/x.md) and [mail](mailto:a@example.org)"],
    ["an example in code", "`[guide](guid.md)`\n\n```md\n[guide](guid.md)\n```\n"],
  ])("accepts a link to %s", (_, text) => {
    expect(check("README.md", text)).toEqual([]);
  });

  it.each([
    ["a link", "[guide](docs/guid.md)", "docs/guid.md leads to no file."],
    ["a link with a title", '[guide](docs/guid.md "Guide")', "docs/guid.md leads to no file."],
    ["a definition", "[guide]: docs/guid.md", "docs/guid.md leads to no file."],
    ["a picture", '<img src="docs/guide.png">', "docs/guide.png leads to no file."],
    ["a heading", "[guide](docs/guide.md#what-stop-does)", "docs/guide.md#what-stop-does leads to no heading."],
  ])("refuses %s that leads nowhere", (_, text, sentence) => {
    expect(check("README.md", text)).toEqual([`README.md: ${sentence}`]);
  });

  it("resolves links from the folder of their file", () => {
    expect(check("docs/other.md", "[a](guide.md) [b](../README.md) [c](docs/guide.md)")).toEqual([
      "docs/other.md: docs/guide.md leads to no file.",
    ]);
  });

  it.each([
    ["by number", `/** ${folder}/0001. */`],
    ["by file", `/** ${folder}/0002-second.md */`],
    ["in a sentence", `// ${word} 0001, ${word}s 0001 and 0002`],
  ])("accepts a decision that code cites %s", (_, text) => {
    expect(check("host/src/a.ts", text)).toEqual([]);
  });

  it.each([
    ["by number", `/** ${folder}/0003. */`, "0003"],
    ["by a former name", `/** ${folder}/0002-former.md */`, "0002-former.md"],
    ["in a sentence", `// Why: ${word}s 0001, 0002 and 0003`, "0003"],
    ["over two lines", `/**\n * as ${word}\n * 0003 says\n */`, "0003"],
  ])("refuses a decision that code cites %s and that does not exist", (_, text, cited) => {
    expect(check("host/src/a.ts", text)).toEqual([`host/src/a.ts: there is no decision ${cited} in docs/decisions.`]);
  });

  describe("a test cited in Markdown", () => {
    const test = { path: "api/src/mail/mail.test.ts", text: 'it("sends a mail once", () => undefined);' };
    const checkCitation = (text: string) => findDeadLinks([{ path: "docs/guide.md", text }, test], paths);

    it.each([
      ["its path", "`api/src/mail/mail.test.ts`"],
      ["a shortened folder", "`service:mail/mail.test.ts`"],
      ["part of its title", '`service:mail/mail.test.ts` ("a mail once")'],
      ["a shortened path, which is not checked", "`posts/post.test.ts`"],
    ])("is accepted by %s", (_, text) => {
      expect(checkCitation(text)).toEqual([]);
    });

    it.each([
      ["a missing file", "`service:mail/post.test.ts`", "there is no test file api/src/mail/post.test.ts."],
      ["a missing file of a package", "`api/post.test.ts`", "there is no test file api/post.test.ts."],
      [
        "a former title",
        '`service:mail/mail.test.ts` ("a mail twice")',
        'api/src/mail/mail.test.ts has no test "a mail twice".',
      ],
    ])("is refused with %s", (_, text, sentence) => {
      expect(checkCitation(text)).toEqual([`docs/guide.md: ${sentence}`]);
    });
  });
});
