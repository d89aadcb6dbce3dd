import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** An entry that is put into another program, and must come out of an export of this portal. */
export interface RealEntry {
  readonly title: string;
  readonly username: string;
  readonly password: string;
  readonly formerPassword: string;
  readonly url: string;
  readonly notes: string;
  readonly pin: string;
  readonly otp: string;
  readonly attachment: string;
}

const values = [
  { password: `p,"w\\ñ&<x>;'`, notes: 'First line\nsecond, "quoted" line', pin: "0042" },
  { password: "{REF}: %41 = ☕", notes: "- a list\n- of things\n\nand an end", pin: "=1+1" },
] as const;

/** Builds two entries with their own titles for a program. */
export function buildRealEntries(program: string): readonly RealEntry[] {
  return values.map((entry, index) => ({
    ...entry,
    title: `${program} “${String(index)}”, mail`,
    username: `ana+${String(index)}@example.org`,
    formerPassword: `former ${String(index)}`,
    url: `https://mail.example/?a=1&b=${String(index)}`,
    otp: `otpauth://totp/Mail:ana?secret=JBSWY3DPEHPK3PXP&period=60&digits=8&issuer=Mail`,
    attachment: `of ${program} ${String(index)}\n`,
  }));
}

/** Runs a program with lines on its standard input; gives its output. */
function run(command: string, parameters: readonly string[], input: string, env = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { env, stdio: ["pipe", "pipe", "pipe"] });
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    child.on("error", (cause) => {
      reject(new Error(`${command} cannot be run; it comes with the packages keepassxc and pass`, { cause }));
    });
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString("utf8"));
      else reject(new Error(`${command} ended with ${String(code)}: ${Buffer.concat(errors).toString("utf8")}`));
    });
    child.stdin.end(input);
  });
}

export interface KeePassFiles {
  readonly password: string;
  readonly database: string;
  readonly xml: string;
  readonly csv: string;
}

/** Makes and changes a database with KeePassXC, and exports it as XML and as a table. */
export async function exportFromKeePassXc(folder: string, entries: readonly RealEntry[]): Promise<KeePassFiles> {
  await mkdir(folder, { recursive: true });
  const password = "contraseña larga";
  const [source, database] = [path.join(folder, "source.xml"), path.join(folder, "passwords.kdbx")];
  const keepassxc = (command: string, ...parameters: readonly string[]): Promise<string> =>
    run("keepassxc-cli", [command, ...parameters], `${password}\n${password}\n`);
  await writeFile(source, buildKeePassXml(entries));
  await keepassxc("import", "-p", source, database);
  for (const [index, { title, password: newPassword, attachment }] of entries.entries()) {
    const file = path.join(folder, `${String(index)}.txt`);
    await writeFile(file, attachment);
    await keepassxc("attachment-import", database, `/Work/${title}`, "scan ñ.txt", file);
    await run("keepassxc-cli", ["edit", "-p", database, `/Work/${title}`], `${password}\n${newPassword}\n`);
  }
  const files = { password, database, xml: path.join(folder, "export.xml"), csv: path.join(folder, "export.csv") };
  await writeFile(files.xml, await keepassxc("export", "-f", "xml", database));
  await writeFile(files.csv, await keepassxc("export", "-f", "csv", database));
  return files;
}

function buildKeePassXml(entries: readonly RealEntry[]): string {
  const escape = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const string = (key: string, value: string): string =>
    `<String><Key>${key}</Key><Value>${escape(value)}</Value></String>`;
  const uuid = (number: number): string => Buffer.alloc(16, number + 1).toString("base64");
  const xmlEntries = entries.map(
    ({ title, username, formerPassword, url, notes, pin, otp }, index) =>
      `<Entry><UUID>${uuid(10 + index)}</UUID>${[
        string("Title", title),
        string("UserName", username),
        string("Password", formerPassword),
        string("URL", url),
        string("Notes", notes),
        string("PIN", pin),
        string("otp", otp),
      ].join("")}</Entry>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta><Generator>x</Generator></Meta><Root><Group><UUID>${uuid(1)}</UUID><Name>Root</Name><Group><UUID>${uuid(2)}</UUID><Name>Work</Name>${xmlEntries.join("")}</Group></Group></Root></KeePassFile>`;
}

/**
 * Makes a store of `pass`, and writes each of its entries, as `pass show` prints it, to a text
 * file.
 */
export async function exportFromPass(folder: string, entries: readonly RealEntry[]): Promise<string> {
  const [gnupg, texts] = [path.join(folder, "gnupg"), path.join(folder, "texts")];
  await mkdir(gnupg, { recursive: true, mode: 0o700 });
  await mkdir(texts, { recursive: true });
  const env = { ...process.env, GNUPGHOME: gnupg, PASSWORD_STORE_DIR: path.join(folder, "store") };
  const key = "ana@example.org";
  await run("gpg", ["--batch", "--passphrase", "", "--quick-gen-key", key], "", env);
  await run("pass", ["init", key], "", env);
  for (const { title, username, password, notes } of entries) {
    await run("pass", ["insert", "-m", title], `${password}\nlogin: ${username}\n${notes}\n`, env);
    await writeFile(path.join(texts, `${title}.txt`), await run("pass", ["show", title], "", env));
  }
  await run("gpgconf", ["--kill", "all"], "", env);
  return texts;
}

/** Writes JSON in the format that Bitwarden documents for a person's export. */
export async function writeBitwardenExport(file: string, entries: readonly RealEntry[]): Promise<string> {
  const folderId = "11111111-1111-4111-8111-111111111111";
  await writeFile(
    file,
    JSON.stringify({
      encrypted: false,
      folders: [{ id: folderId, name: "Work" }],
      items: entries.map(({ title, username, password, formerPassword, url, notes, pin, otp }, index) => ({
        passwordHistory: [{ lastUsedDate: "2024-01-01T10:00:00.000Z", password: formerPassword }],
        revisionDate: "2024-01-01T10:00:00.000Z",
        creationDate: "2023-01-01T10:00:00.000Z",
        deletedDate: null,
        id: `22222222-2222-4222-8222-22222222222${String(index)}`,
        organizationId: null,
        folderId,
        type: 1,
        reprompt: 0,
        name: title,
        notes,
        favorite: false,
        fields: [{ name: "PIN", value: pin, type: 1, linkedId: null }],
        login: { fido2Credentials: [], uris: [{ match: null, uri: url }], username, password, totp: otp },
        collectionIds: null,
      })),
    }),
  );
  return file;
}
