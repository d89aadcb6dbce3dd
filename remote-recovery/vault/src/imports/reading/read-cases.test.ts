import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import type { ImportReadOptions, ImportReadResult } from "@relicario/shared/contract";

import { makeZip } from "client-zip";

import { readItemText } from "../../testing/import-item-text.ts";
import { readImport } from "./read-import.ts";

const readText = (content: BlobPart, answers: Partial<ImportReadOptions> = {}): Promise<ImportReadResult> =>
  readImport([{ path: "export", content: new Blob([content]) }], { language: "en", ...answers });
const readCase = (name: string, answers?: Partial<ImportReadOptions>): Promise<ImportReadResult> =>
  readText(readFileSync(join(__dirname, "../samples/cases", name)), answers);

/** Reduces each item to its title, tags and text. */
const summarize = async (reading: Promise<ImportReadResult>): Promise<unknown> => {
  const read = await reading;
  if (read.status !== "read") return read;
  const items = await Promise.all(
    read.items.map(async (item) => [item.title, item.tags.join(" > "), await readItemText(item)]),
  );
  return [read.format, items, read.failures.map(({ location, reason }) => `${location}: ${reason}`)];
};
/** Reads a table with the guessed roles of columns. */
const readTable = async (content: BlobPart): Promise<ImportReadResult> => {
  const question = await readText(content);
  if (question.status !== "columns_needed") throw new Error(question.status);
  return readText(content, {
    columns: question.columns.map(({ role }) => role),
    isFirstRowEntry: question.isFirstRowEntry,
  });
};

const bank = "User name: ana\nPassword: pw\nWebsite: https://bank.example";
const first = "User name: ana\nPassword: pw\nWebsite: https://a.example";
const seed = "JBSWY3DPEHPK3PXP";
const otp = (address: string): string => `One-time code: ${address}`;

/** Small files of kinds from which imports have lost data, and the contents of each. */
const cases: Readonly<Record<string, readonly [string, readonly (readonly string[])[], readonly string[]]>> = {
  "utf8-one-bad-byte.csv": [
    "google_csv",
    [
      ["Café", "", "User name: ana\nPassword: señal\nWebsite: https://cafe.example"],
      ["Truncated", "", "User name: ben\nPassword: pw\nWebsite: https://b.example\n\nabc\uFFFD"],
    ],
    ["Truncated: Note: unreadable_character"],
  ],
  "dashlane.csv": [
    "dashlane_csv",
    [
      [
        "Bank",
        "Money",
        `User name: ana@example.org\nPassword: pw1\nWebsite: https://bank.example\n${otp(seed)}\n\nmy only recovery codes: 11-22`,
      ],
    ],
    [],
  ],
  "nordpass.csv": [
    "nordpass_csv",
    [
      ["Bank", "Money", `${bank}\n\nn`],
      [
        "Me",
        "",
        "E-mail: ana@example.org\nfull_name: Ana P\nphone_number: +34 600\naddress1: Calle 1\ncity: Madrid\ncountry: es",
      ],
    ],
    [],
  ],
  "bitwarden-org.csv": [
    "bitwarden_csv",
    [["Router", "Team > Ops", "User name: admin\nPassword: pw\nWebsite: https://r.example\n\nn"]],
    [],
  ],
  "proton-old.csv": ["proton_pass", [["Bank", "", `${bank}\n${otp(`otpauth://totp/Bank?secret=${seed}`)}\n\nn`]], []],
  "excel-sep.csv": ["google_csv", [["A", "", `${first}\n\nn`]], []],
  "header-lf-rows-crlf.csv": [
    "google_csv",
    [
      ["A", "", "User name: ana\nPassword: pw1\nWebsite: https://a.example"],
      ["B", "", "User name: ben\nPassword: pw2\nWebsite: https://b.example"],
    ],
    [],
  ],
  "excel-short-rows.csv": [
    "google_csv",
    [
      ["A", "", first],
      ["B", "", "User name: ben\nPassword: pw2\nWebsite: https://b.example\n\nn"],
    ],
    [],
  ],
  "header-trailing-comma.csv": ["google_csv", [["A", "", `${first}\n\nn`]], []],
  "bw-slash.zip": [
    "bitwarden_json",
    [
      ["Deed", "Home > Papers", "No.: 7\n\nn"],
      ["Deed: scan 1/2.pdf", "Home > Papers", "PDF1"],
    ],
    [],
  ],
  "enpass.json": [
    "enpass_json",
    [
      [
        "Bank",
        "Work",
        `User name: ana\nPassword: hunter2\nPassword (previous, 1970-01-01): old-hunter\n${otp(seed)}\n\nmy note`,
      ],
      ["Bank: a.txt", "Work", "hi"],
    ],
    [],
  ],
  "aegis.json": ["aegis_json", [["A: ana", "", otp(`otpauth://totp/A:ana?secret=${seed}&issuer=A`)]], []],
  "kp-history-binaries.xml": [
    "keepass_xml",
    [
      ["Mail", "Work/Mail", "User name: ana\nPassword: new\nPassword (previous, 2024-01-01): old\n\na & b"],
      ["Mail: a/b.txt", "Work/Mail", "hello"],
      ["Mail: empty.bin", "Work/Mail", ""],
      ["Mail: old.txt", "Work/Mail", "older"],
    ],
    [],
  ],
  "kp-control-char.xml": [
    "keepass_xml",
    [
      ["A", "", "Password: a\u001Bb"],
      ["B", "", "Password: fine"],
    ],
    [],
  ],
  // the referenced entry has another id
  "kp-ref.xml": [
    "keepass_xml",
    [
      [
        "Alias",
        "",
        "User name: {REF:U@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}\nPassword: {REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}",
      ],
      ["Main", "", "User name: ana\nPassword: pw"],
    ],
    ["Alias: UserName: unresolved_reference", "Alias: Password: unresolved_reference"],
  ],
  "kp-proto-names.xml": [
    "keepass_xml",
    [["A", "", "constructor: value one\ntoString: value two\n__proto__: value three\npassword: lower"]],
    [],
  ],
  "kp-1251.xml": ["keepass_xml", [["Почта", "", "Password: пароль"]], []],
  "kp-totp-settings.xml": [
    "keepass_xml",
    [
      ["A", "", `Password: pw\n${otp(`otpauth://totp/A?secret=${seed}&issuer=A&digits=8&period=60`)}`],
      ["B", "", otp(`otpauth://totp/B?secret=${seed}&issuer=B&algorithm=SHA256&digits=8&period=60`)],
      ["C", "", otp("JBSWY3DP")],
    ],
    [],
  ],
  "collectionIds-null-member.json": ["bitwarden_json", [["A", "Home", "User name: ana\nPassword: pw"]], []],
};

describe("a file of a kind from which imports have lost data", () => {
  it.each(Object.entries(cases))("is read completely: %s", async (name, expected) => {
    expect(await summarize(readCase(name))).toEqual(expected);
  });

  it("causes a question about its encoding: cyrillic-1251.csv", async () => {
    const question = await readCase("cyrillic-1251.csv");
    if (question.status !== "encoding_needed") throw new Error(question.status);
    expect(question.encodings[0]).toEqual({ encoding: "windows-1251", samples: ["Почта", "анна", "пароль"] });
    expect(await summarize(readCase("cyrillic-1251.csv", { encoding: "windows-1251" }))).toEqual([
      "google_csv",
      [["Почта", "", "User name: анна\nPassword: пароль\nWebsite: https://a.example"]],
      [],
    ]);
  });

  it.each([
    ["1p-email-col.csv", [["Bank", "Money", `E-mail: ana@example.org\n${bank}\n${otp(seed)}\n\nPIN is 4711`]]],
    [
      "duplicate-header.csv",
      [
        [
          "A",
          "",
          "User name: ana\nPassword: pw\nWebsite: https://one.example\nWebsite: https://two.example\n\nfirst note\n\nsecond note",
        ],
      ],
    ],
  ])("is read by the roles that the person assigns to its columns: %s", async (name, items) => {
    const content = readFileSync(join(__dirname, "../samples/cases", name));
    expect(await summarize(readTable(content))).toEqual(["other_csv", items, []]);
  });
});

describe("a table", () => {
  it.each([
    ["Title,URL,Username,Password,Notes,OTPAuth\nA,https://a.example,ana,pw,n,\n", "onepassword_csv"],
    ["url,username,password,totp,extra,name,grouping,fav\nhttps://a.example,ana,pw,,n,A,,0\n", "google_csv"],
  ])("that earlier releases read as another format keeps their marks: %#", async (content, format) => {
    const read = await readText(content);
    if (read.status !== "read") throw new Error(read.status);
    expect(read.items[0]?.sourceId).toBe(`${format}:["A","ana","https://a.example"]`);
  });

  it("without column names is read by its values, with its first row as an entry", async () => {
    const content = "Bank,ana@example.org,pw1,https://bank.example\nShop,ana@example.org,pw2,https://shop.example\n";
    expect(await summarize(readTable(content))).toEqual([
      "other_csv",
      [
        ["Bank", "", "User name: ana@example.org\nWebsite: https://bank.example\n3: pw1"],
        ["Shop", "", "User name: ana@example.org\nWebsite: https://shop.example\n3: pw2"],
      ],
      [],
    ]);
  });

  it("keeps and reports what its quotation marks and commas leave unclear", async () => {
    const content = 'name,url,username,password,note\nA,https://a.example,ana,"pw,n\nB,https://a.example,ana,p,w,n\n';
    expect(await summarize(readText(content))).toEqual([
      "google_csv",
      [
        ["A", "", 'User name: ana\nPassword: "pw\nWebsite: https://a.example\n\nn'],
        ["B", "", "User name: ana\nPassword: p\nWebsite: https://a.example\n…: n\n\nw"],
      ],
      ["2 (A): doubtful_quotes", "3 (B): extra_cells"],
    ]);
  });

  it("of LastPass has its entities decoded, and keeps both forms if a part of the file is not encoded", async () => {
    const names = "url,username,password,totp,extra,name,grouping,fav\n";
    expect(await summarize(readText(`${names}https://a.example/?a&amp;b,ana,p&lt;w,,,A,Work\\Mail,1\n`))).toEqual([
      "lastpass_csv",
      [["A", "Work > Mail", "User name: ana\nPassword: p<w\nWebsite: https://a.example/?a&b"]],
      [],
    ]);
    expect(await summarize(readText(`${names}https://a.example/?a&b,ana,p&lt;w,,,A,,0\n`))).toEqual([
      "lastpass_csv",
      [["A", "", "User name: ana\nPassword: p<w\nWebsite: https://a.example/?a&b\npassword, as in the file: p&lt;w"]],
      [],
    ]);
  });

  it("of LastPass has notes with fields", async () => {
    const note = "NoteType:Server\nLanguage:en-US\nHostname:h\nKey:one\ntwo\nNotes:mine\nand more";
    expect(
      await summarize(readText(`url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,"${note}",Box,,0\n`)),
    ).toEqual([
      "lastpass_csv",
      [["Box", "", "NoteType: Server\nLanguage: en-US\nHostname: h\nKey: one\ntwo\n\nmine\nand more"]],
      [],
    ]);
  });

  it.each([
    [
      "KeePassXC",
      '"Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created"\n"Root/Work","A","ana","pw","https://a.example","n","","0","2024-01-01T00:00:00Z","2024-01-01T00:00:00Z"\n',
      "keepassxc_csv",
      ["A", "Work", `${first}\n\nn`],
    ],
    [
      "RoboForm",
      'Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\nA,https://a.example,https://a.example,ana,pw,n,/Work,"User ID$,,,txt,ana","Password$,,,pwd,pw","Colour,,,txt,red, blue"\n',
      "roboform_csv",
      [
        "A",
        "Work",
        "User name: ana\nPassword: pw\nWebsite: https://a.example\nColour: red, blue\nMatchUrl: https://a.example\n\nn",
      ],
    ],
    [
      "Keeper",
      "Folder,Title,Login,Password,Website Address,Notes,Shared Folder,Custom Fields\nWork\\Mail,A,ana,pw,https://a.example,n,,Colour,red,,,Shape,round\n",
      "keeper_csv",
      ["A", "Work > Mail", `${first}\nColour: red\nShape: round\n\nn`],
    ],
    [
      "Apple",
      "Title,URL,Username,Password,Notes,OTPAuth\nA,https://a.example,ana,pw,n,\n",
      "apple_csv",
      ["A", "", `${first}\n\nn`],
    ],
  ])("of %s is recognised by its columns", async (_name, content, format, item) => {
    expect(await summarize(readText(content))).toEqual([format, [item], []]);
  });
});

describe("an archive of tables", () => {
  it("is read table by table, as Dashlane writes it, and another file in it is reported", async () => {
    const files = {
      "credentials.csv":
        "username,username2,username3,title,password,note,url,category,otpUrl\nana,,,A,pw,n,https://a.example,Work,\n",
      "securenotes.csv": "title,note\nDoor,4711\n",
      "payments.csv":
        "type,account_name,account_holder,cc_number,code,expiration_month,expiration_year,note\ncredit_card,Visa,Ana,4111,9,5,2031,\n",
      "ids.csv": "",
      "readme.pdf": "x",
    };
    const zip = await new Response(
      makeZip(
        Object.entries(files).map(([name, text]) => ({
          name,
          input: new Blob([text]).stream(),
          lastModified: new Date(0),
        })),
      ),
    ).arrayBuffer();
    expect(await summarize(readText(zip))).toEqual([
      "dashlane_csv",
      [
        ["A", "Work", `${first}\n\nn`],
        ["Door", "", "4711"],
        ["Visa", "", "Name on the card: Ana\nNumber: 4111\nExpires: 5/2031\nSecurity code: 9\ntype: credit_card"],
      ],
      ["readme.pdf: damaged"],
    ]);
  });
});

describe("one-time passwords", () => {
  it("are read from Google Authenticator's migration URL, and a missing part is reported", async () => {
    // two accounts in part 1 of 2
    const payload = Buffer.from(
      "0a1c0a0a48656c6c6f21deadbeef12034269621a03416d65200228023002" +
        "0a140a0548656c6c6f12036f6e6520012801300138051001180220002807",
      "hex",
    );
    const address = `otpauth-migration://offline?data=${encodeURIComponent(payload.toString("base64"))}`;
    expect(await summarize(readText(address))).toEqual([
      "otp_addresses",
      [
        ["Ame: Bib", "", otp("otpauth://totp/Ame:Bib?secret=JBSWY3DPEHPK3PXP&issuer=Ame&algorithm=SHA256&digits=8")],
        ["one", "", otp("otpauth://hotp/one?secret=JBSWY3DP&counter=5")],
      ],
      ["2/2: missing_file"],
    ]);
  });

  it("are read from a list of URLs with other lines", async () => {
    expect(await summarize(readText(`otpauth://totp/A%3Aana?secret=${seed}\r\nsomething\r\n`))).toEqual([
      "otp_addresses",
      [
        ["A: ana", "", otp(`otpauth://totp/A%3Aana?secret=${seed}`)],
        ["Untitled", "", "something"],
      ],
      [],
    ]);
  });
});

describe("a KeePass reference", () => {
  const entry = (uuid: string, title: string, password: string): string =>
    `<Entry><UUID>${uuid}</UUID><String><Key>Title</Key><Value>${title}</Value></String><String><Key>UserName</Key><Value>ana</Value></String><String><Key>Password</Key><Value>${password}</Value></String></Entry>`;
  const file = (...entries: readonly string[]): string =>
    `<KeePassFile><Root><Group>${entries.join("")}</Group></Root></KeePassFile>`;

  it("is replaced by the value that it refers to by id or title, even through other references", async () => {
    const content = file(
      entry("AAECAwQFBgcICQoLDA0ODw==", "Main", "pw"),
      entry("BBBBBBBBBBBBBBBBBBBBBB==", "Alias", "{REF:P@I:000102030405060708090A0B0C0D0E0F}"),
      entry("CCCCCCCCCCCCCCCCCCCCCC==", "Other", "x{REF:P@T:alia}y"),
    );
    expect(await summarize(readText(content))).toEqual([
      "keepass_xml",
      [
        ["Main", "", "User name: ana\nPassword: pw"],
        ["Alias", "", "User name: ana\nPassword: pw"],
        ["Other", "", "User name: ana\nPassword: xpwy"],
      ],
      [],
    ]);
  });

  it("that leads back to itself ends", async () => {
    const content = file(entry("AAECAwQFBgcICQoLDA0ODw==", "A", "{REF:P@I:000102030405060708090A0B0C0D0E0F}"));
    expect(await summarize(readText(content))).toEqual([
      "keepass_xml",
      [["A", "", "User name: ana\nPassword: {REF:P@I:000102030405060708090A0B0C0D0E0F}"]],
      ["A: Password: unresolved_reference"],
    ]);
  });
});

describe("an entry with only a title", () => {
  it("is reported, and becomes a text if the title is too long", async () => {
    const long = "words ".repeat(100);
    const read = await readText(`name,url,username,password,note\nshort,,,,\n${long},,,,\n`);
    if (read.status !== "read") throw new Error(read.status);
    expect(read.failures).toEqual([{ location: "2 (short)", reason: "title_only" }]);
    expect(await read.items[0]?.content.text()).toContain(`Title: ${long.trim()}`);
  });
});

describe("a JSON file", () => {
  it("without entries is read as an empty one", async () => {
    expect(await summarize(readText('{"encrypted":false,"folders":[],"items":[]}'))).toEqual([
      "bitwarden_json",
      [],
      [],
    ]);
    expect(await summarize(readText('{"encrypted":false,"vaults":{}}'))).toEqual(["proton_pass", [], []]);
  });

  it("keeps numbers as they are written", async () => {
    const content =
      '{"encrypted":false,"items":[{"id":"i","type":1,"name":"A","fields":[{"name":"No.","value":12345678901234567890},{"name":"Rate","value":1.10}]}]}';
    expect(await summarize(readText(content))).toEqual([
      "bitwarden_json",
      [["A", "", "No.: 12345678901234567890\nRate: 1.10"]],
      [],
    ]);
  });

  it("loses no members that have an unexpected type", async () => {
    const content = JSON.stringify({
      encrypted: false,
      folders: [null, "x", { id: 7, name: "Seven" }],
      items: [
        null,
        {
          id: "i",
          type: "login",
          name: "A",
          folderId: 7,
          notes: ["a", "b"],
          fields: [null, 7],
          login: "ana",
          favorite: "yes",
        },
      ],
    });
    expect(await summarize(readText(content))).toEqual([
      "bitwarden_json",
      [
        ["A", "Seven", "Type: login\nNotes: a\nNotes: b\nFields: 7\nLogin: ana\nFavorite: yes"],
        ["Bitwarden", "", "Folders: x"],
      ],
      ["1: damaged"],
    ]);
  });
});

describe("a file of a known but unsupported format", () => {
  const bytes = (...values: readonly number[]): Uint8Array<ArrayBuffer> => new Uint8Array(values);
  it.each<readonly [BlobPart, string]>([
    [bytes(0x03, 0xd9, 0xa2, 0x9a, 0x65, 0xfb, 0x4b, 0xb5), "keepass_1"],
    ["SQLite format 3\0x", "database"],
    ["PWS3xxxx", "password_safe"],
    ['<?xml version="1.0"?><pwlist></pwlist>', "keepass_xml_1"],
    ['{"uuid":"1"}\n***5642bee8-a5ff-11dc-8314-0800200c9a66***\n', "onepassword_1pif"],
    ['{"services":[],"schemaVersion":4}', "two_fas"],
    ['[{"secret":"A","label":"b","type":"TOTP"}]', "andotp"],
    ["Title,Field,*,Value\n", "enpass_csv"],
    ["-----BEGIN PGP MESSAGE-----\n", "pgp"],
  ])("is refused by name: %#", async (content, format) => {
    expect(await readText(content)).toEqual({ status: "refused", reason: "unreadable_format", format });
  });

  it("is refused as unknown, not as damaged, if it is intact", async () => {
    expect(await readText("<!DOCTYPE html><html><body>hello</body></html>")).toEqual({
      status: "refused",
      reason: "unknown_format",
    });
    expect(await readText('{"hello": 1}')).toEqual({ status: "refused", reason: "unknown_format" });
    expect(await readText("[1, 2]")).toEqual({ status: "refused", reason: "unknown_format" });
  });

  it("is refused as encrypted if its program has encrypted it", async () => {
    expect(await readText('{"version":1,"header":{"slots":[{}]},"db":"YWJj"}')).toEqual({
      status: "refused",
      reason: "encrypted",
    });
  });
});

describe("a file that was packed or marked on its way", () => {
  const table = "name,url,username,password\nBank,https://b.example,ana,p\u00e4;ss\n";
  const createZip = (files: Record<string, BlobPart>): Promise<ArrayBuffer> =>
    new Response(
      makeZip(
        Object.entries(files).map(([name, input]) => ({
          name,
          input: new Blob([input]).stream(),
          lastModified: new Date(0),
        })),
      ),
    ).arrayBuffer();
  const encodeUtf16 = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, "utf16le");
  const encodeUtf32 = (text: string): ArrayBuffer =>
    Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0).buffer; // of this machine: little-endian

  it.each<readonly [string, (content: string) => BlobPart | Promise<BlobPart>]>([
    ["two byte order marks", (content) => `\ufeff\ufeff${content}`],
    ["a no-break space in front", (content) => `\u00a0${content}`],
    ["a space without width in front", (content) => `\u200b${content}`],
    ["zeros at its end", (content) => `${content}\0\0\0`],
    ["the end sign of DOS", (content) => `${content}\u001a`],
    ["UTF-16", (content) => encodeUtf16(`\ufeff${content}`)],
    ["UTF-16 of the other order", (content) => encodeUtf16(`\ufeff${content}`).swap16()],
    ["UTF-32", (content) => encodeUtf32(`\ufeff${content}`)],
    ["gzip", (content) => Buffer.from(gzipSync(content))],
    ["an archive", (content) => createZip({ "export 2026.bin": content })],
    ["an archive in an archive", async (content) => createZip({ "a.zip": await createZip({ "b.txt": content }) })],
    ["gzip in an archive", (content) => createZip({ "a.gz": Buffer.from(gzipSync(content)) })],
    [
      "an archive of a Mac",
      (content) => createZip({ "x/a.dat": content, "__MACOSX/x/._a.dat": "\0\u0005", "x/.DS_Store": "\0\0\0\u0001" }),
    ],
    ["an archive that was split", async (content) => new Blob(["PK00", await createZip({ "a.dat": content })])],
  ])("is read as it was: %s", async (_name, change) => {
    for (const content of [table, readFileSync(join(__dirname, "../samples/bitwarden.json"), "utf8")])
      expect(await summarize(readText(await change(content)))).toEqual(await summarize(readText(content)));
  });

  it.each(['"sep=,"', "sep = ,", "SEP=,"])("names its delimiter: %s", async (line) => {
    expect(await summarize(readText(`${line}\r\n${table}`))).toEqual([
      "google_csv",
      [["Bank", "", "User name: ana\nPassword: p\u00e4;ss\nWebsite: https://b.example"]],
      [],
    ]);
  });

  it("has folders as Windows wrote them, and names nothing that systems added", async () => {
    const json = readFileSync(join(__dirname, "../samples/bitwarden.json"), "utf8");
    expect(await summarize(readText(await createZip({ "x\\data.json": json })))).toEqual(
      await summarize(readText(json)),
    );
    const [, , failures] = (await summarize(
      readText(await createZip({ "a.csv": table, "__MACOSX/._a.csv": "\0\u0005", ".DS_Store": "\0" })),
    )) as readonly unknown[];
    expect(failures).toEqual([]);
  });

  it("is a folder of notes", async () => {
    const read = await readText(
      await createZip({ "notes/a.txt": "one", "notes/b.md": "two", "notes/c.png": "\u0089PNG" }),
    );
    expect(await summarize(Promise.resolve(read))).toEqual([
      "text_files",
      [
        ["a", "notes", "one"],
        ["b", "notes", "two"],
      ],
      ["notes/c.png: damaged"],
    ]);
  });

  it("is not unpacked for ever", async () => {
    let content: BlobPart = table;
    for (let depth = 0; depth < 8; depth++) content = await createZip({ "a.zip": content });
    expect(await readText(content)).toMatchObject({ status: "refused", reason: "unknown_format" });
  });
});
