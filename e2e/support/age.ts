import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { Decrypter } from "age-encryption";
import { z } from "zod";

import { readZip } from "./zip.ts";

const execFileAsync = promisify(execFile);

/** The documented command was tested with this version; hybrid identities need 1.3 or newer. */
const AGE = "filippo.io/age/cmd/age@v1.3.2";
const binFolder = path.join(import.meta.dirname, "../../.cache/go-bin");

/** Without Go, typage opens files instead of Go's age. */
export async function hasGo(): Promise<boolean> {
  return execFileAsync("go", ["version"]).then(
    () => true,
    () => false,
  );
}

/** Path of the standard `age` command, installed with Go; `null` without Go. */
async function findAgeCommand(): Promise<string | null> {
  const age = path.join(binFolder, process.platform === "win32" ? "age.exe" : "age");
  try {
    await access(age);
    return age;
  } catch {
    // not installed yet
  }
  if (!(await hasGo())) return null;
  await mkdir(binFolder, { recursive: true });
  await execFileAsync("go", ["install", AGE], {
    env: { ...process.env, GOBIN: binFolder, GOFLAGS: "-mod=mod" },
    timeout: 240_000,
  });
  return age;
}

/** Shells that the README of an export has commands for. */
const shells = {
  sh: { commandFlags: ["-euc"], commands: /^for ticket[\s\S]*?^done$/m },
  pwsh: { commandFlags: ["-NoProfile", "-NonInteractive", "-Command"], commands: /^Get-ChildItem[\s\S]*?^\}$/m },
  powershell: { commandFlags: ["-NoProfile", "-NonInteractive", "-Command"], commands: /^Get-ChildItem[\s\S]*?^\}$/m },
} as const;
type Shell = keyof typeof shells;

/** An opened export: its contents by title, and the tools that opened it. */
export interface OpenedExport {
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly tools: readonly (Shell | "typage")[];
}

/** The system's shell, and PowerShell if installed; none without Go's age. */
async function findShells(age: string | null): Promise<readonly Shell[]> {
  if (age === null) return [];
  const isInstalled = (shell: Shell): Promise<boolean> =>
    execFileAsync(shell, [...shells[shell].commandFlags, "exit 0"]).then(
      () => true,
      () => false,
    );
  return [
    process.platform === "win32" ? "powershell" : "sh",
    ...((await isInstalled("pwsh")) ? (["pwsh"] as const) : []),
  ];
}

/**
 * Opens an export by the commands of its README in every installed shell, else by typage.
 * @throws Error when two shells disagree
 */
export async function openExport(zip: Buffer, identityText: string): Promise<OpenedExport> {
  const age = await findAgeCommand();
  const shellsFound = await findShells(age);
  const results = await Promise.all(
    (shellsFound.length === 0 ? [null] : shellsFound).map((shell) => openExportWith(shell, age, zip, identityText)),
  );
  const [contents] = results;
  if (contents === undefined) throw new Error("no tool opened the export");
  for (const otherContents of results)
    for (const [title, content] of contents)
      if (otherContents.size !== contents.size || otherContents.get(title)?.equals(content) !== true)
        throw new Error(`${title}: the shells disagree`);
  return { contents, tools: shellsFound.length === 0 ? ["typage"] : shellsFound };
}

async function openExportWith(
  shell: Shell | null,
  age: string | null,
  zip: Buffer,
  identityText: string,
): Promise<Map<string, Buffer>> {
  const files = readZip(zip);
  const tickets = [...files.keys()].filter((name) => name.endsWith(".ticket.age"));
  const folder = await mkdtemp(path.join(tmpdir(), "age-"));
  try {
    for (const [name, bytes] of files) await writeFile(path.join(folder, name), bytes);
    await writeFile(path.join(folder, "exit.txt"), identityText, { mode: 0o600 });
    if (shell === null || age === null) await openTicketsWithTypage(folder, tickets, identityText);
    else {
      const { commandFlags, commands } = shells[shell];
      const documentedCommands = commands.exec(files.get("README.txt")?.toString("utf8") ?? "")?.[0];
      if (documentedCommands === undefined) throw new Error(`the README has no commands for ${shell}`);
      await execFileAsync(shell, [...commandFlags, documentedCommands], {
        cwd: folder,
        env: { ...process.env, PATH: `${path.dirname(age)}${path.delimiter}${process.env["PATH"] ?? ""}` },
      });
    }
    const entries = tickets.map(async (name) => {
      const id = name.replace(".ticket.age", "");
      const { title } = Ticket.parse(JSON.parse(await readFile(path.join(folder, `${id}.json`), "utf8")));
      return [title, await readFile(path.join(folder, `${id}.opened`))] as const;
    });
    return new Map(await Promise.all(entries));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Opens one secret of a kit by the `commands` that it shows, or by typage without Go's age or a
 * shell. `position` counts from 1.
 */
export async function openKitWithAge(
  kitFile: string,
  identityText: string,
  commands: string,
  position: number,
): Promise<{ plain: Buffer; tool: "age" | "typage" }> {
  const html = await readFile(kitFile, "utf8");
  const age = await findAgeCommand();
  if (age === null || process.platform === "win32") {
    const line = /^\{"author_keys".*$/m.exec(html)?.[0] ?? "";
    const { secrets } = Kit.parse(JSON.parse(line));
    const secret = secrets[position - 1];
    if (secret === undefined) throw new Error("the kit has fewer secrets");
    const { plain: ticket } = await openWithAge(Buffer.from(secret.ticket, "base64"), identityText);
    const { content_identity: identity, size } = Ticket.parse(JSON.parse(ticket.toString("utf8")));
    const { plain } = await openWithAge(Buffer.from(secret.content, "base64"), identity);
    return { plain: plain.subarray(0, size), tool: "typage" };
  }
  const folder = await mkdtemp(path.join(tmpdir(), "age-"));
  try {
    await writeFile(path.join(folder, "kit.html"), html);
    await writeFile(path.join(folder, "opener.txt"), identityText, { mode: 0o600 });
    await execFileAsync("sh", ["-euc", commands.replace("n=1", `n=${String(position)}`)], {
      cwd: folder,
      env: { ...process.env, PATH: `${path.dirname(age)}${path.delimiter}${process.env["PATH"] ?? ""}` },
    });
    return { plain: await readFile(path.join(folder, "secret")), tool: "age" };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const Kit = z.object({ secrets: z.array(z.object({ ticket: z.string(), content: z.string() })) });
const Ticket = z.object({ title: z.string(), size: z.number(), content_identity: z.string() });

async function openTicketsWithTypage(folder: string, tickets: readonly string[], identityText: string): Promise<void> {
  for (const name of tickets) {
    const id = name.replace(".ticket.age", "");
    const { plain: ticket } = await openWithAge(await readFile(path.join(folder, name)), identityText);
    const { content_identity: identity, size } = Ticket.parse(JSON.parse(ticket.toString("utf8")));
    const { plain } = await openWithAge(await readFile(path.join(folder, `${id}.age`)), identity);
    await writeFile(path.join(folder, `${id}.json`), ticket);
    await writeFile(path.join(folder, `${id}.opened`), plain.subarray(0, size));
  }
}

/** Opens an age file by Go's age, or else typage. */
export async function openWithAge(
  sealed: Uint8Array,
  identityText: string,
): Promise<{ plain: Buffer; tool: "age" | "typage" }> {
  const age = await findAgeCommand();
  if (age === null) return { plain: await openWithTypage(sealed, identityText), tool: "typage" };
  const folder = await mkdtemp(path.join(tmpdir(), "age-"));
  try {
    await writeFile(path.join(folder, "identity.txt"), identityText, { mode: 0o600 });
    await writeFile(path.join(folder, "content.age"), sealed);
    await execFileAsync(age, ["-d", "-i", "identity.txt", "-o", "plain", "content.age"], { cwd: folder });
    return { plain: await readFile(path.join(folder, "plain")), tool: "age" };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function openWithTypage(sealed: Uint8Array, identityText: string): Promise<Buffer> {
  const decrypter = new Decrypter();
  for (const line of identityText.split("\n"))
    if (line.startsWith("AGE-SECRET-KEY-")) decrypter.addIdentity(line.trim());
  return Buffer.from(await decrypter.decrypt(sealed));
}

const bech32Letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/** Decodes the identity in an identity file (bech32, without checking its checksum). */
export function decodeIdentity(identityText: string): Buffer {
  const letters = /^AGE-SECRET-KEY-PQ-1([0-9A-Z]+)$/m.exec(identityText)?.[1]?.slice(0, -6).toLowerCase() ?? "";
  const bits = Array.from(letters, (letter) => bech32Letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/[01]{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Encodes 32 bytes as an age identity: bech32 (BIP 173) in upper case. */
export function encodeIdentity(seed: Uint8Array): string {
  const prefix = "age-secret-key-pq-";
  const bits = Array.from(seed, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const fiveBitGroups = (bits.match(/[01]{1,5}/g) ?? []).map((group) => Number.parseInt(group.padEnd(5, "0"), 2));
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  const checksum =
    polymod([
      ...codes.map((code) => code >> 5),
      0,
      ...codes.map((code) => code & 31),
      ...fiveBitGroups,
      0,
      0,
      0,
      0,
      0,
      0,
    ]) ^ 1;
  const checksumDigits = [25, 20, 15, 10, 5, 0].map((shift) => (checksum >> shift) & 31);
  return `${prefix}1${[...fiveBitGroups, ...checksumDigits].map((word) => bech32Letters[word] ?? "").join("")}`.toUpperCase();
}

function polymod(values: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  return values.reduce((sum, value) => {
    const next = ((sum & 0x1ffffff) << 5) ^ value;
    return generator.reduce((mixed, part, bit) => (((sum >> 25) >> bit) & 1 ? mixed ^ part : mixed), next);
  }, 1);
}
