import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { Decrypter } from "age-encryption";

const run = promisify(execFile);

/** Go's age, the version that the documented command was tried with; it knows hybrid identities from 1.3 on. */
const AGE = "filippo.io/age/cmd/age@v1.3.2";
const bin = path.join(import.meta.dirname, "../../.cache/go-bin");

/** Where there is none, typage opens files instead of Go's age. */
export async function hasGo(): Promise<boolean> {
  return run("go", ["version"]).then(
    () => true,
    () => false,
  );
}

/** The standard `age` command where Go is there to install it, else null. */
async function ageCommand(): Promise<string | null> {
  const age = path.join(bin, process.platform === "win32" ? "age.exe" : "age");
  try {
    await access(age);
    return age;
  } catch {
    // not installed yet
  }
  if (!(await hasGo())) return null;
  await mkdir(bin, { recursive: true });
  await run("go", ["install", AGE], { env: { ...process.env, GOBIN: bin, GOFLAGS: "-mod=mod" }, timeout: 240_000 });
  return age;
}

/** Opens an age file with the text of an identity file, by Go's age where there is one, else by typage. */
export async function openWithAge(sealed: Uint8Array, identityText: string): Promise<{ plain: Buffer; by: "age" | "typage" }> {
  const age = await ageCommand();
  if (age === null) {
    const decrypter = new Decrypter();
    for (const line of identityText.split("\n")) if (line.startsWith("AGE-SECRET-KEY-")) decrypter.addIdentity(line.trim());
    return { plain: Buffer.from(await decrypter.decrypt(sealed)), by: "typage" };
  }
  const folder = await mkdtemp(path.join(tmpdir(), "age-"));
  try {
    await writeFile(path.join(folder, "identity.txt"), identityText, { mode: 0o600 });
    await writeFile(path.join(folder, "content.age"), sealed);
    await run(age, ["-d", "-i", "identity.txt", "-o", "plain", "content.age"], { cwd: folder });
    return { plain: await readFile(path.join(folder, "plain")), by: "age" };
  } finally {
    await rm(folder, { recursive: true });
  }
}
