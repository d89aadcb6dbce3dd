import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { generateIdentity, openWith, deriveRecipient, sealTo } from "./age.ts";
import { copyOf, utf8 } from "./bytes.ts";
import { sealContent } from "./content.ts";

const ageCommand = "age";

/**
 * Whether Go's `age` 1.3 or newer is on the path. The test vectors include its files in any case.
 */
function hasGoAge(): boolean {
  try {
    return /^v?1\.([3-9]|\d\d)/.test(execFileSync(ageCommand, ["--version"], { encoding: "utf8" }));
  } catch {
    return false; // not installed
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

  it("opens what the vault seals, with the documented command", async () => {
    const { sealed, identity, size } = await sealContent("text", utf8("twelve words"));
    writeFileSync(join(folder, "identity.txt"), `${identity}\n`);
    writeFileSync(join(folder, "secret.txt.age"), sealed);
    const opened = execFileSync(ageCommand, ["-d", "-i", join(folder, "identity.txt"), join(folder, "secret.txt.age")]);
    expect(opened.subarray(0, size).toString()).toBe("twelve words");
  });

  it("opens what the vault seals to 32 recipients, and the vault opens what age seals", async () => {
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
