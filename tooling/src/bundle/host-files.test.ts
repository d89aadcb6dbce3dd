import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { computeFileIntegrity } from "../release/integrity.ts";
import { hashHostFiles } from "./host-files.ts";

describe("hashHostFiles", () => {
  let folder: string;
  const page = '<script type="application/json" id="host-files"></script><script src="/static/main.js"></script>';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "host-files-"));
    mkdirSync(join(folder, "static"));
    writeFileSync(join(folder, "static/main.js"), "begin()");
    writeFileSync(join(folder, "static/295.11461abc.js"), "later()");
    writeFileSync(join(folder, "index.html"), page);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("names entry scripts by their hash, and lists the hashes of all files in the page", () => {
    hashHostFiles(folder);
    const hashedName = `main.${createHash("sha256").update("begin()").digest("hex").slice(0, 8)}.js`;
    expect(readdirSync(join(folder, "static")).sort()).toEqual(["295.11461abc.js", hashedName]);
    const files = Object.fromEntries(
      ["295.11461abc.js", hashedName].map((file) => [
        `/static/${file}`,
        computeFileIntegrity(join(folder, "static", file)),
      ]),
    );
    expect(JSON.parse(readFileSync(join(folder, "host-files.json"), "utf8"))).toEqual(files);
    const finalPage = readFileSync(join(folder, "index.html"), "utf8");
    expect(finalPage).toContain(
      `<script integrity="${files[`/static/${hashedName}`] ?? ""}" crossorigin="anonymous" src="/static/${hashedName}">`,
    );
    expect(finalPage).toContain(`id="host-files">${JSON.stringify(files)}<`);
  });

  it("refuses a page without a host-files element, or with a script that was not built", () => {
    writeFileSync(join(folder, "index.html"), page.replace("host-files", "other"));
    expect(() => hashHostFiles(folder)).toThrow("host-files");
    writeFileSync(join(folder, "index.html"), `${page}<script src="/static/gone.1.js"></script>`);
    expect(() => hashHostFiles(folder)).toThrow("which was not built");
  });
});
