import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { maxKitBytes } from "@relicario/shared/api";

import { main } from "./relicario-open.ts";
import { writeUniqueFile } from "./write-unique.ts";

jest.setTimeout(120_000); // a real picture and 64 MiB of Argon2id on a busy machine

const kitPath = join(import.meta.dirname, "../vectors/kit.html");
const getPhotoPath = (name: string) => join(import.meta.dirname, "../../../e2e/fixtures/photos", name);
const picturePath = getPhotoPath("picos-1200x900.jpg");
const passphrase = "correct horse";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relicario-open-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function run(
  args: readonly string[],
  input = "",
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "../bin/relicario-open.mjs"), ...args],
    { cwd: folder, env: { ...process.env, NODE_OPTIONS: "" } },
  );
  child.stdin.on("error", () => undefined); // a rejected call does not read its input
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, stdout, stderr };
}

/** Like {@link run}, but in this process: for calls that end before they read a passphrase. */
async function runInProcess(args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const consoleError = jest.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    const code = await main(args);
    return { code, stderr: consoleError.mock.calls.join("\n") };
  } finally {
    consoleError.mockRestore();
  }
}

const readOutputFolder = () =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));

describe("relicario-open", () => {
  it("writes the secrets to the folder, readable only by their owner, without overwriting files", async () => {
    writeFileSync(join(folder, "secret.txt"), "mine");
    const { code, stdout, stderr } = await run([kitPath, picturePath, "--passphrase-stdin"], `${passphrase}\n`);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("“Árbol 🌳”: secret (2).txt\n");
    expect(readOutputFolder()).toEqual({
      "secret.txt": "mine",
      "secret (2).txt": "abandon ability able\n",
      "bytes.bin": "\0\u0001\u0002þÿ",
      "_.._.profile": "<script>alert(1)</script>",
    });
    if (process.platform !== "win32") expect(statSync(join(folder, "bytes.bin")).mode & 0o777).toBe(0o600);
  });

  it("prints the identity for age without writing files", async () => {
    const { code, stdout } = await run([kitPath, picturePath, "--passphrase-stdin", "--identity"], passphrase);
    expect([code, readOutputFolder()]).toEqual([0, {}]);
    expect(stdout).toMatch(/^AGE-SECRET-KEY-PQ-1[0-9A-Z]+\n$/);
  });

  it("reports a wrong or unreadable picture without writing files", async () => {
    const result = await run([kitPath, getPhotoPath("rocket.jpg"), "--passphrase-stdin"], passphrase);
    expect([result, readOutputFolder()]).toEqual([
      { code: 1, stdout: "", stderr: "This is not the picture of this kit, or not its passphrase.\n" },
      {},
    ]);
    expect(await run([kitPath, kitPath, "--passphrase-stdin"], passphrase)).toMatchObject({
      code: 1,
      stderr: "This file cannot be read as a picture. JPEG, PNG, WebP, AVIF and HEIC are read.\n",
    });
  });

  it("needs a terminal to ask for a passphrase", async () => {
    expect(await runInProcess([kitPath, picturePath])).toEqual({
      code: 1,
      stderr: "There is no terminal to type a passphrase at: pass it with --passphrase-stdin.",
    });
  });

  it.each<[string, (file: string) => void, string]>([
    [
      "that is not a kit",
      (file) => {
        writeFileSync(file, "<!doctype html><script>alert(1)</script>");
      },
      "This file is no kit.",
    ],
    [
      "that was changed",
      (file) => {
        writeFileSync(file, readFileSync(kitPath, "utf8").replace("In the drawer", "In the Drawer"));
      },
      "This kit was changed or is damaged. Take another copy of the file.",
    ],
    [
      "with two kits",
      (file) => {
        writeFileSync(file, readFileSync(kitPath, "utf8").repeat(2));
      },
      "This file is no kit.",
    ],
    [
      "that is too large",
      (file) => {
        copyFileSync(kitPath, file);
        truncateSync(file, maxKitBytes + 1);
      },
      "This file is too large to be read.",
    ],
    ["that does not exist", () => undefined, expect.stringMatching(/^There is no file .*hostile\.html\.$/) as string],
  ])("rejects a kit file %s", async (_, prepareFile, stderr) => {
    const file = join(folder, "hostile.html");
    prepareFile(file);
    expect(await runInProcess([file, picturePath])).toEqual({ code: 1, stderr });
  });

  it.each([
    [[]],
    [[kitPath]],
    [[kitPath, picturePath, "--passphrase", "x"]],
    [[kitPath, picturePath, "more"]],
    [["--help"]],
  ])("prints its usage when called with %j", async (args) => {
    const { code, stderr } = await runInProcess(args);
    expect(code).toBe(2);
    expect(stderr).toContain("relicario-open <kit.html> <picture>");
  });
});

describe("writeUniqueFile", () => {
  it("removes the file when its source fails", async () => {
    const failingSource = async function* () {
      yield Uint8Array.of(1);
      await Promise.reject(new Error("the source has failed"));
    };
    await expect(writeUniqueFile(folder, "a.txt", failingSource())).rejects.toThrow("the source has failed");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("throws storage_full when the folder cannot be written to", async () => {
    const chunks = async function* () {
      yield Uint8Array.of(1);
    };
    await expect(writeUniqueFile(join(folder, "none"), "a.txt", chunks())).rejects.toMatchObject({
      code: "storage_full",
    });
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
