import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { generateIdentity, openWith, deriveRecipient, sealTo } from "./age.ts";
import { copyOf, utf8 } from "./bytes.ts";
import { sealContent } from "./content.ts";

const ageCommand = "age";

/**
 * Go's `age` 1.3 or newer, where it is on the path; the vectors hold files that it made in any
 * case.
 */
function hasGoAge(): boolean {
  try {
    return /^v?1\.([3-9]|\d\d)/.test(execFileSync(ageCommand, ["--version"], { encoding: "utf8" }));
  } catch {
    return false; // not here: the vectors have to do
  }
}

(hasGoAge() ? describe : describe.skip)("Go's age", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "age-"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("opens what we seal, as the documented command does", async () => {
    const { sealed, identity, size } = await sealContent("text", utf8("twelve words"));
    writeFileSync(join(folder, "identity.txt"), `${identity}\n`);
    writeFileSync(join(folder, "secret.txt.age"), sealed);
    const opened = execFileSync(ageCommand, ["-d", "-i", join(folder, "identity.txt"), join(folder, "secret.txt.age")]);
    expect(opened.subarray(0, size).toString()).toBe("twelve words");
  });

  it("opens what we seal to many, and seals what we open", async () => {
    const identities = Array.from({ length: 32 }, generateIdentity);
    const recipients = await Promise.all(identities.map(deriveRecipient));
    writeFileSync(join(folder, "last.txt"), `${identities[31] ?? ""}\n`);
    const sealedByPortal = await sealTo(recipients, utf8("to many"));
    expect(execFileSync(ageCommand, ["-d", "-i", join(folder, "last.txt")], { input: sealedByPortal }).toString()).toBe(
      "to many",
    );
    writeFileSync(join(folder, "recipients.txt"), `${recipients.join("\n")}\n`);
    const sealedByAge = execFileSync(ageCommand, ["-R", join(folder, "recipients.txt")], { input: "from Go" });
    expect(await openWith(identities[7] ?? "", copyOf(sealedByAge), "many")).toEqual(utf8("from Go"));
  });
});
