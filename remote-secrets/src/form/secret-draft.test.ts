import { maxFileBytes, maxTags, maxTagLength, maxTitleLength } from "@relicario/shared/api";
import type { ShownImage } from "@relicario/shared/contract";
import { maxTextBytes } from "@relicario/shared/forms";
import { shownImage } from "@relicario/shared/testing";

import { allImages, isDraftProblem, newImage, protectRequestOf, sameImages, SecretDraft } from "./secret-draft.ts";

const shown: ShownImage = shownImage(new Blob(["garden"]), " as typed ");
const draft: SecretDraft = {
  kind: "text",
  file: null,
  contentKept: false,
  text: "abandon ability\n",
  title: "Wallet",
  tags: ["family"],
  image: newImage,
  imageName: "Garden",
  shown,
  first: false,
  promised: false,
};
const sized = (name: string, size: number): File =>
  Object.defineProperty(new File(["x"], name), "size", { value: size });
const problems = (change: Partial<SecretDraft>) => {
  const parsed = SecretDraft.safeParse({ ...draft, ...change });
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("SecretDraft", () => {
  it("keeps the text as typed and takes spaces off the title", () => {
    const parsed = SecretDraft.parse({ ...draft, text: "  a \n", title: "  Wallet " });
    expect(parsed.text).toBe("  a \n");
    expect(parsed.title).toBe("Wallet");
    expect(parsed.shown).toBe(shown);
  });

  it.each<[Partial<SecretDraft>, string]>([
    [{ text: "" }, "text: text_missing"],
    [{ text: "x".repeat(maxTextBytes + 1) }, "text: text_long"],
    [{ text: "\ud800" }, "text: text_broken"],
    [{ title: "   " }, "title: title_missing"],
    [{ title: "x".repeat(maxTitleLength + 1) }, "title: title_long"],
    [{ tags: Array.from({ length: maxTags + 1 }, (_, index) => String(index)) }, "tags: tags_many"],
    [{ tags: ["x".repeat(maxTagLength + 1)] }, "tags.0: tags_long"],
    [{ shown: null }, "shown: image_missing"],
    [{ imageName: " " }, "imageName: image_name_missing"],
    [{ first: true }, "promised: promise_missing"],
    [{ kind: "seed", text: "" }, "text: text_missing"],
    [{ kind: "file" }, "file: file_missing"],
    [{ kind: "file", file: new File([], "a.pdf") }, "file: file_empty"],
    [{ kind: "file", file: new File(["x"], "x".repeat(256)) }, "file: file_name_long"],
    [{ kind: "file", file: sized("film.mp4", maxFileBytes + 1) }, "file: file_large"],
    [{ contentKept: true, image: allImages }, "image: content_needed"],
  ])("refuses %j", (change, expected) => {
    expect(problems(change)).toContain(expected);
  });

  it.each<[Partial<SecretDraft>]>([
    [{ text: "x".repeat(maxTextBytes) }],
    [{ image: allImages, shown: null, imageName: "" }],
    [{ first: true, promised: true }],
    [{ kind: "file", text: "", file: sized("film.mp4", maxFileBytes) }],
    [{ contentKept: true, text: "", image: sameImages }],
  ])("accepts %j", (change) => {
    expect(problems(change)).toEqual([]);
  });

  it("measures a text in bytes, not in letters", () => {
    expect(problems({ text: "ñ".repeat(maxTextBytes / 2 + 1) })).toContain("text: text_long");
  });
});

describe("protectRequestOf", () => {
  it("makes the file secret.txt of a text", () => {
    const request = protectRequestOf(draft);
    expect(request).toMatchObject({
      title: "Wallet",
      tags: ["family"],
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
    });
    expect(request.content.size).toBe(16);
    expect(request.protection).toEqual({ kind: "picture", shown, name: "Garden" });
  });

  it("keeps a file as it is, and does not call it a text", () => {
    const file = new File(["%PDF"], "pasaporte.pdf", { type: "application/pdf" });
    const request = protectRequestOf({ ...draft, kind: "file", file });
    expect(request).toMatchObject({ contentKind: "file", name: "pasaporte.pdf", mime: "application/pdf" });
    expect(request.content).toBe(file);
    expect(protectRequestOf({ ...draft, kind: "file", file: new File(["?"], "thing") }).mime).toBe(
      "application/octet-stream",
    );
  });

  it("marks a seed phrase as one", () => {
    expect(protectRequestOf({ ...draft, kind: "seed" })).toMatchObject({ contentKind: "seed", name: "secret.txt" });
  });

  it("names the images in use, none for all of them", () => {
    expect(protectRequestOf({ ...draft, image: allImages }).protection).toEqual({ kind: "openers", openers: [] });
    expect(protectRequestOf({ ...draft, image: "id-1" }).protection).toEqual({ kind: "openers", openers: ["id-1"] });
  });
});

it("knows its own problems from other words", () => {
  expect(isDraftProblem("title_missing")).toBe(true);
  expect(isDraftProblem("Required")).toBe(false);
  expect(isDraftProblem(undefined)).toBe(false);
});
