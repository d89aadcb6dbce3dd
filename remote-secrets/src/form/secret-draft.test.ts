import { maxFileBytes, maxTags, maxTagLength, maxTitleLength } from "@relicario/shared/api";
import type { OpenerHandle } from "@relicario/shared/contract";
import { maxTextBytes } from "@relicario/shared/forms";
import { createOpenerHandle } from "@relicario/shared/testing";

import { allImages, isDraftProblem, newImage, toProtectRequest, sameImages, SecretDraft } from "./secret-draft.ts";

const openerHandle: OpenerHandle = createOpenerHandle(new Blob(["garden"]), " as typed ");
const draft: SecretDraft = {
  kind: "text",
  record: [],
  file: null,
  keepsContent: false,
  text: "abandon ability\n",
  title: "Wallet",
  tags: ["family"],
  image: newImage,
  imageName: "Garden",
  openerHandle,
  isFirstSecret: false,
  emptyConfirmed: false,
};
const createSizedFile = (name: string, size: number): File =>
  Object.defineProperty(new File(["x"], name), "size", { value: size });
const listProblems = (overrides: Partial<SecretDraft>) => {
  const parsed = SecretDraft.safeParse({ ...draft, ...overrides });
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

describe("SecretDraft", () => {
  it("keeps the text as typed and trims the title", () => {
    const parsed = SecretDraft.parse({ ...draft, text: "  a \n", title: "  Wallet " });
    expect(parsed.text).toBe("  a \n");
    expect(parsed.title).toBe("Wallet");
    expect(parsed.openerHandle).toBe(openerHandle);
  });

  it.each<[Partial<SecretDraft>, string]>([
    [{ text: "" }, "text: text_missing"],
    [{ text: "x".repeat(maxTextBytes + 1) }, "text: text_long"],
    [{ text: "\ud800" }, "text: text_broken"],
    [{ title: "   " }, "title: title_missing"],
    [{ title: "x".repeat(maxTitleLength + 1) }, "title: title_long"],
    [{ tags: Array.from({ length: maxTags + 1 }, (_, index) => String(index)) }, "tags: tags_many"],
    [{ tags: ["x".repeat(maxTagLength + 1)] }, "tags.0: tags_long"],
    [{ openerHandle: null }, "openerHandle: image_missing"],
    [{ imageName: " " }, "imageName: image_name_missing"],
    [{ isFirstSecret: true }, "emptyConfirmed: promise_missing"],
    [{ kind: "seed", text: "" }, "text: text_missing"],
    [{ kind: "file" }, "file: file_missing"],
    [{ kind: "file", file: new File([], "a.pdf") }, "file: file_empty"],
    [{ kind: "file", file: new File(["x"], "x".repeat(256)) }, "file: file_name_long"],
    [{ kind: "file", file: createSizedFile("film.mp4", maxFileBytes + 1) }, "file: file_large"],
    [{ keepsContent: true, image: allImages }, "image: content_needed"],
  ])("refuses %j", (overrides, expected) => {
    expect(listProblems(overrides)).toContain(expected);
  });

  it.each<[Partial<SecretDraft>]>([
    [{ text: "x".repeat(maxTextBytes) }],
    [{ image: allImages, openerHandle: null, imageName: "" }],
    [{ isFirstSecret: true, emptyConfirmed: true }],
    [{ kind: "file", text: "", file: createSizedFile("film.mp4", maxFileBytes) }],
    [{ keepsContent: true, text: "", image: sameImages }],
  ])("accepts %j", (overrides) => {
    expect(listProblems(overrides)).toEqual([]);
  });

  it("limits the length of a text in bytes, not in characters", () => {
    expect(listProblems({ text: "ñ".repeat(maxTextBytes / 2 + 1) })).toContain("text: text_long");
  });
});

describe("toProtectRequest", () => {
  it("turns a text into the file secret.txt", () => {
    const request = toProtectRequest(draft);
    expect(request).toMatchObject({
      title: "Wallet",
      tags: ["family"],
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
    });
    expect(request.content.size).toBe(16);
    expect(request.protection).toEqual({ kind: "picture", picture: openerHandle, name: "Garden" });
  });

  it("keeps a file unchanged, and not as a text", () => {
    const file = new File(["%PDF"], "pasaporte.pdf", { type: "application/pdf" });
    const request = toProtectRequest({ ...draft, kind: "file", file });
    expect(request).toMatchObject({ contentKind: "file", name: "pasaporte.pdf", mime: "application/pdf" });
    expect(request.content).toBe(file);
    expect(toProtectRequest({ ...draft, kind: "file", file: new File(["?"], "thing") }).mime).toBe(
      "application/octet-stream",
    );
  });

  it("marks a seed phrase with its kind", () => {
    expect(toProtectRequest({ ...draft, kind: "seed" })).toMatchObject({ contentKind: "seed", name: "secret.txt" });
  });

  it("lists the ids of the chosen images, or none for all images", () => {
    expect(toProtectRequest({ ...draft, image: allImages }).protection).toEqual({ kind: "openers", openerIds: [] });
    expect(toProtectRequest({ ...draft, image: "id-1" }).protection).toEqual({ kind: "openers", openerIds: ["id-1"] });
  });
});

it("isDraftProblem accepts only draft problems", () => {
  expect(isDraftProblem("title_missing")).toBe(true);
  expect(isDraftProblem("Required")).toBe(false);
  expect(isDraftProblem(undefined)).toBe(false);
});
