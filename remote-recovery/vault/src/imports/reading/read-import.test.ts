import "fake-indexeddb/auto";

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parseRecord } from "@relicario/shared/api";
import type { ImportItem, ImportReadResult } from "@relicario/shared/contract";
import { makeZip } from "client-zip";

import { exportSecrets } from "../../operations/export-secrets.ts";
import { setFavorite } from "../../operations/favorite-and-trash.ts";
import { list } from "../../operations/list.ts";
import { protect } from "../../operations/protect.ts";
import { copyOf, type Bytes } from "../../seal/bytes.ts";
import { readItemText } from "../../testing/import-item-text.ts";
import { createWorld, makePicture, textSecret } from "../../testing/world.ts";
import type { Sink } from "../../transfer/sinks.ts";
import { importSecrets } from "../import-secrets.ts";
import { computeSource, computeSources } from "../source.ts";
import { readImport } from "./read-import.ts";

const readSample = (name: string): Buffer<ArrayBuffer> =>
  Buffer.from(readFileSync(join(__dirname, "../samples", name)));
const readFile = (content: BlobPart, path = "export", exitIdentity?: string): Promise<ImportReadResult> =>
  readImport([{ path, content: new Blob([content]) }], {
    language: "en",
    ...(exitIdentity === undefined ? {} : { exitIdentity }),
  });
const createZip = async (files: Record<string, BlobPart>): Promise<ArrayBuffer> =>
  new Response(
    makeZip(
      Object.entries(files).map(([name, input]) => ({
        name,
        input: new Blob([input]).stream(),
        lastModified: new Date(0),
      })),
    ),
  ).arrayBuffer();

interface ReadContents {
  readonly format: string;
  readonly items: readonly (Pick<ImportItem, "title" | "tags" | "kind" | "adjustments" | "omitted"> & {
    readonly text: string;
  })[];
  readonly failures: readonly unknown[];
}
/** Items that were read, with their contents as text. */
const readContents = async (reading: Promise<ImportReadResult>): Promise<ReadContents> => {
  const read = await reading;
  if (read.status !== "read") throw new Error(read.status);
  const items = await Promise.all(
    read.items.map(async (item) => ({
      title: item.title,
      tags: item.tags,
      kind: item.kind,
      adjustments: item.adjustments,
      ...(item.omitted === undefined ? {} : { omitted: item.omitted }),
      text: await readItemText(item),
    })),
  );
  return { format: read.format, items, failures: read.failures };
};

describe("reading an export", () => {
  it("reads a Bitwarden CSV: commas, quotes, line ends, an empty title, blank lines, a short row, an empty item", async () => {
    const { format, items, failures } = await readContents(readFile(readSample("bitwarden.csv")));
    expect(format).toBe("bitwarden_csv");
    expect(items).toEqual([
      {
        title: 'Mail, "the old one"',
        tags: ["Work/Café"],
        kind: "login",
        adjustments: [],
        text: 'User name: ana@example.org\nPassword: p,a"ss\\wörd\nWebsite: https://mail.example/?a=1,2\nPIN: 0042\nOwner: José\nOne-time code: otpauth://totp/Mail?secret=JBSWY3DPEHPK3PXP\n\nLine one\r\nline two, with a comma',
      },
      { title: "Wi-Fi", tags: [], kind: "note", adjustments: [], text: "SSID: Casa ☕" },
      {
        title: "https://untitled.example",
        tags: [],
        kind: "login",
        adjustments: [],
        text: "User name: ana\nPassword: secret\nWebsite: https://untitled.example",
      },
      { title: "Untitled", tags: ["short"], kind: "login", adjustments: ["title_made"], text: "favorite: row" },
    ]);
    expect(failures).toEqual([{ location: "8 (Nothing in it)", reason: "title_only" }]);
  });

  it("reads Bitwarden's JSON: folders, cards, identities, fields without a name, former passwords, unknown members", async () => {
    const { format, items, failures } = await readContents(readFile(readSample("bitwarden.json")));
    expect(format).toBe("bitwarden_json");
    expect(items.map(({ title, tags, kind }) => [title, tags, kind])).toEqual([
      ["Mail “old”", ["Work", "Mail"], "login"],
      ["Untitled", [], "note"],
      ["Card", [], "card"],
      ["Me", [], "identity"],
      ["6", [], "other"],
      ["Passkey alone", [], "login"],
      ["Papers", [], "other"],
    ]);
    expect(items[0]?.text).toBe(
      'User name: ana\nPassword: p"a,ss\\\nWebsite: https://mail.example\nWebsite: https://webmail.example\nPIN: 0042\n…: no name\nPassword (previous, 2025-02-01): pw of, "January"\nPassword (previous): the first\nPasskey (not here): mail.example, ana@mail.example\nOne-time code: JBSWY3DPEHPK3PXP\n\nFirst line\nsecond, line',
    );
    expect(items[1]?.adjustments).toEqual(["title_made"]);
    expect(items[2]?.text).toBe(
      "Name on the card: Ana Pérez\nBrand: Visa\nNumber: 4111111111111111\nExpires: 4/2031\nSecurity code: 123",
    );
    expect(items[3]?.text).toBe("First Name: Ana\nLast Name: Pérez");
    expect(items[4]?.text).toBe("…: not an item");
    expect(items[5]?.text).toBe("Passkey (not here): shop.example, ana");
    expect(items[6]?.text).toBe(
      "Passport / Number: X123\nPassport / Issued / By: Madrid\nPassport / Issued / Copies: 1\nPassport / Issued / Copies: 2",
    );
    expect(items.flatMap(({ title, omitted = [] }) => omitted.map((omission) => [title, omission]))).toEqual([
      ["Mail “old”", "passkey"],
      ["Passkey alone", "passkey"],
    ]);
    expect(failures).toEqual([
      { location: "Empty", reason: "title_only" },
      { location: "6", reason: "not_understood" },
      { location: "Thrown away", reason: "in_trash" },
    ]);
  });

  it("reads Bitwarden's archive: attachments by item id, those without an item as files, and reports a missing one", async () => {
    const { format, items, failures } = await readContents(
      readFile(
        await createZip({
          "attachments/b2/data.json": "{}",
          "data.json": JSON.stringify({
            items: [
              {
                id: "b1",
                type: 2,
                name: "Deed",
                notes: "of the house",
                attachments: [{ fileName: "deed ñ.pdf" }, { fileName: "gone.pdf" }],
              },
              { id: "b2", type: 2, name: "Scan", notes: null },
              { type: 2, name: "Of no id", notes: "none" },
            ],
          }),
          "attachments/b1/deed ñ.pdf": "deed",
          "attachments/b2/a/scan.png": "scan",
          "attachments/b3/nobody's.txt": "x",
          "attachments//also nobody's.txt": "y",
        }),
      ),
    );
    expect(format).toBe("bitwarden_json");
    expect(items.map(({ title, kind, text }) => [title, kind, text])).toEqual([
      ["Deed", "note", "of the house"],
      ["Deed: deed ñ.pdf", "attachment", "deed"],
      ["Scan: data.json", "attachment", "{}"],
      ["Scan: a/scan.png", "attachment", "scan"],
      ["Of no id", "note", "none"],
      ["nobody's.txt", "attachment", "x"],
      ["also nobody's.txt", "attachment", "y"],
    ]);
    expect(failures).toEqual([{ location: "Deed: gone.pdf", reason: "missing_file" }]);
  });

  it.each([
    [
      "1password.csv",
      "onepassword_csv",
      ["Bank"],
      ["money", "home"],
      'User name: ana\nPassword: a,b"c\nWebsite: https://bank.example\nOne-time code: otpauth://totp/Bank?secret=GEZDGNBVGY3TQOJQ\n\ntwo\nlines',
    ],
    [
      "google.csv",
      "google_csv",
      ["shop.example"],
      [],
      "User name: ana@example.org\nPassword: contraseña, larga\nWebsite: https://shop.example/login",
    ],
    [
      "firefox.csv",
      "firefox_csv",
      ["forum.example"],
      [],
      'User name: ana\nPassword: x"y\nWebsite: https://forum.example\nhttpRealm: Members only',
    ],
    [
      "proton.csv",
      "proton_pass",
      ["Games", "Door"],
      ["Personal"],
      "E-mail: ana@example.org\nUser name: ana\nPassword: pw\nWebsite: https://games.example",
    ],
  ])("reads %s", async (name, format, titles, tags, text) => {
    const read = await readContents(readFile(readSample(name)));
    expect([read.format, read.items.map(({ title }) => title), read.items[0]?.tags, read.items[0]?.text]).toEqual([
      format,
      titles,
      tags,
      text,
    ]);
  });

  it("reads Proton Pass's archive: seeds, aliases, cards, sections, files, but no trash", async () => {
    const { format, items, failures } = await readContents(
      readFile(
        await createZip({
          "Proton Pass/data.json": readSample("proton.json"),
          "Proton Pass/files/door plan.txt": "left",
        }),
      ),
    );
    expect(format).toBe("proton_pass");
    expect(items.map(({ title, kind }) => [title, kind])).toEqual([
      ["Games", "login"],
      ["Alias", "other"],
      ["Card", "card"],
      ["Locker", "other"],
      ["Locker: door plan.txt", "attachment"],
      ["Me", "identity"],
      ["Home network", "other"],
    ]);
    expect(items[0]?.text).toBe(
      'E-mail: ana@example.org\nPassword: p,"w\nWebsite: https://games.example\nRecovery: r-1, r-2\nPasskey (not here): games.example, ana\nOne-time code: otpauth://totp/Games?secret=JBSWY3DP\nOne-time code: otpauth://totp/Second?secret=MFRGGZDF\n\nline\nbreak',
    );
    expect(items[1]?.text).toBe("E-mail: hidden@alias.example");
    expect(items[3]?.text).toBe(
      "Door / Code: 4711\nDoor / Since: 2024-05-06\nFloor: 2\nOne-time code: otpauth://totp/Locker?secret=GEZDGNBV",
    );
    expect(items[5]?.text).toBe(
      "Full Name: Ana Pérez\nBirthdate: 1990-01-02\nBlood type: 0+\nBadge: b-9\nPassport / Number: X123",
    );
    expect(items[6]?.text).toBe("Ssid: Casa\nPassword: larga\nSecurity: 2");
    expect(items.filter(({ omitted }) => omitted !== undefined).map(({ title }) => title)).toEqual(["Games"]);
    expect(failures).toEqual([
      { location: "Locker: gone.txt", reason: "missing_file" },
      { location: "Old forum", reason: "in_trash" },
      { location: "Nothing (Personal)", reason: "title_only" },
    ]);
  });

  it("reads KeePass XML: groups, entities, attachments, replaced values, but no recycle bin", async () => {
    const { items, failures } = await readContents(readFile(readSample("keepass.xml")));
    expect(items).toEqual([
      { title: "Work & Play", tags: ["Work & Play"], kind: "note", adjustments: [], text: "Ask Eva first." },
      {
        title: "Mail <old>",
        tags: ["Work & Play", "old", "mail"],
        kind: "login",
        adjustments: [],
        omitted: ["passkey"],
        text: 'User name: ana\nPassword: p&"ss, ñ\nWebsite: https://mail.example\nQuestion: First pet?\nExpires: 2030-01-01\nPassword (previous, 2025-01-01): January\nPassword (previous): the first\nPasskey (not here): mail.example, ana\nOne-time code: otpauth://totp/Mail?secret=JBSWY3DP\n\ntwo\nlines',
      },
      {
        title: "Mail <old>: hello.txt",
        tags: ["Work & Play", "old", "mail"],
        kind: "attachment",
        adjustments: [],
        text: "hello",
      },
    ]);
    expect(failures).toEqual([
      { location: "Mail <old>: gone.txt", reason: "missing_file" },
      { location: "Thrown away", reason: "in_trash" },
    ]);
  });

  it("reads a 1PUX archive with its attachments, and reports a missing one", async () => {
    const archive = await createZip({
      "export.attributes": "{}",
      "export.data": readSample("1password-export-data.json"),
      "files/doc1__scan ñ.pdf": "scan",
    });
    const { format, items, failures } = await readContents(readFile(archive));
    expect(format).toBe("onepassword_1pux");
    expect(items.map(({ title, kind, text }) => [title, kind, text])).toEqual([
      [
        "Bank",
        "login",
        'User name: ana\nPassword: p,"w\nWebsite: https://bank.example\nbranch / Website: https://branch.example\nSecurity / since: 2023-11-14\nSecurity / door: -----BEGIN\nSecurity / door / Metadata / Fingerprint: SHA256:abc\nSecurity / door / Metadata / Public Key: ssh-ed25519 AAAA\nSecurity / mail: ana@example.org\nSecurity / until: 04/2031\nPassword (previous, 2016-03-18): 12345\nPasskey (not here): bank.example, ana\nOne-time code: otpauth://totp/Bank?secret=JBSWY3DP\n\nnote\nover lines',
      ],
      ["Bank: scan ñ.pdf", "attachment", "scan"],
    ]);
    expect(failures).toEqual([
      { location: "Deed: deed.pdf", reason: "missing_file" },
      { location: "Thrown away", reason: "in_trash" },
    ]);
  });

  it.each<readonly [string, () => BlobPart | Promise<BlobPart>, readonly string[]]>([
    ["bitwarden.json", () => readSample("bitwarden.json"), ["Mail “old”"]],
    ["bitwarden.csv", () => readSample("bitwarden.csv"), ['Mail, "the old one"']],
    ["1password.csv", () => readSample("1password.csv"), ["Bank"]],
    [
      "1PUX",
      () => createZip({ "export.data": readSample("1password-export-data.json"), "files/doc1__scan ñ.pdf": "scan" }),
      ["Bank", "Bank: scan ñ.pdf"],
    ],
    ["proton.json", () => readSample("proton.json"), ["Games"]],
  ])("keeps favourites of %s, for all items that an entry becomes", async (_name, content, titles) => {
    const read = await readFile(await content());
    if (read.status !== "read") throw new Error(read.status);
    expect(read.items.filter(({ favorite }) => favorite).map(({ title }) => title)).toEqual(titles);
  });

  it.each([
    ["a table", "google_csv", () => "name,url,username,password,note\nMail,https://mail.example,ana,pw,\n"],
    ["JSON", "proton_pass", () => readSample("proton.json")],
    ["XML", "keepass_xml", () => readSample("keepass.xml")],
    [
      "an archive",
      "onepassword_1pux",
      async () => createZip({ "export.data": readSample("1password-export-data.json") }),
    ],
    ["one-time codes", "otp_addresses", () => "otpauth://totp/Mail:ana?secret=JBSWY3DPEHPK3PXP\n"],
  ])("reads a program's export that is named like a text file: %s", async (_name, format, content) => {
    for (const name of ["export.txt", "passwords.md"])
      expect(await readContents(readFile(await content(), name))).toMatchObject({ format });
  });

  it.each([
    ["commas", "milk, bread\nname, url\n"],
    ["brackets", "[ ] call ana\n{ not JSON"],
    ["JSON of its own", '{"colour":"red"}'],
    ["markup", "<p>hello</p>"],
    ["the letters of an archive", "PK is short for primary key"],
    ["nothing but a word", "code"],
  ])("keeps a note with %s as a text", async (_name, text) => {
    expect(await readContents(readFile(text, "note.txt"))).toMatchObject({
      format: "text_files",
      items: [{ title: "note", text }],
    });
  });

  it("reads the text files of a folder, with its folders as tags", async () => {
    const files = [
      { path: "notes/home/Wi-Fi.txt", content: new Blob(["﻿código"]) },
      { path: "notes/photo.jpg", content: new Blob([new Uint8Array([255, 216, 0])]) },
      { path: "notes/.hidden.txt", content: new Blob(["x"]) },
    ];
    const { items, failures } = await readContents(readImport(files, { language: "en" }));
    expect(items).toEqual([{ title: "Wi-Fi", tags: ["notes", "home"], kind: "text", adjustments: [], text: "código" }]);
    expect(failures).toEqual([{ location: "notes/photo.jpg", reason: "damaged" }]);
  });

  it("keeps a text file that is too large for a text as a file", async () => {
    const content = new Blob(["\uFEFF", "línea\r\n".repeat(60_000)]);
    const read = await readImport([{ path: "notes/home/Log ñ.md", content }], { language: "en" });
    if (read.status !== "read") throw new Error(read.status);
    expect(read.items).toMatchObject([
      {
        title: "Log ñ",
        tags: ["notes", "home"],
        kind: "text",
        contentKind: "file",
        name: "Log ñ.md",
        mime: "text/plain",
      },
    ]);
    expect(await read.items[0]?.content.arrayBuffer()).toEqual(await content.arrayBuffer());
    expect(read.failures).toEqual([]);
    const short = await readImport([{ path: "notes/home/Log ñ.md", content: new Blob(["x"]) }], { language: "en" });
    expect(short.status === "read" ? short.items[0]?.sourceId : null).toBe(read.items[0]?.sourceId);
  });

  it("reads the encodings that spreadsheets write, and asks if the file does not state one", async () => {
    const text = "name,url,username,password,note\nCafé,https://a.example,ana,señal,\n";
    const utf16 = new Uint8Array(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]));
    const latin1 = new Uint8Array(Buffer.from(text, "latin1"));
    const question = await readFile(latin1);
    if (question.status !== "encoding_needed") throw new Error(question.status);
    expect(question.encodings[0]).toEqual({ encoding: "windows-1252", samples: ["Café", "señal"] });
    for (const bytes of [utf16, latin1, new Uint8Array(Buffer.from(`﻿${text}`))]) {
      const reading = readImport([{ path: "x.csv", content: new Blob([bytes]) }], {
        language: "en",
        encoding: "windows-1252",
      });
      expect((await readContents(reading)).items[0]).toMatchObject({
        title: "Café",
        text: expect.stringContaining("señal") as string,
      });
    }
  });

  it("names fields of the same items in another language, with the same marks", async () => {
    const [english, spanish] = await Promise.all(
      (["en", "es"] as const).map((language) =>
        readImport([{ path: "x.csv", content: new Blob([readSample("google.csv")]) }], { language }),
      ),
    );
    if (english?.status !== "read" || spanish?.status !== "read") throw new Error("expected both files to be read");
    expect(await spanish.items[0]?.content.text()).toContain('"label": "Contraseña"');
    expect([spanish.items[0]?.sourceId, spanish.items[0]?.canonicalContent]).toEqual([
      english.items[0]?.sourceId,
      english.items[0]?.canonicalContent,
    ]);
  });

  it("keeps the marks of earlier releases for entries whose content is unchanged, in any section", async () => {
    const google = await readFile(readSample("google.csv"));
    const section = (title: string): Promise<ImportReadResult> =>
      createZip({
        "export.data": JSON.stringify({
          accounts: [
            {
              vaults: [
                {
                  attrs: { name: "V" },
                  items: [
                    {
                      uuid: "o1",
                      details: { sections: [{ title, fields: [{ title: "PIN", value: { concealed: "1" } }] }] },
                      overview: { title: "Card" },
                    },
                  ],
                },
              ],
            },
          ],
        }),
      }).then((archive) => readFile(archive));
    const holdings = [google, await section(""), await section("Codes")].map((read) =>
      read.status === "read" ? read.items[0]?.canonicalContent : null,
    );
    const inSection = '[[{"name":{"own":"PIN"},"value":"1"}],""]';
    expect(holdings).toEqual([
      '[[{"name":"username","value":"ana@example.org"},{"name":"password","value":"contraseña, larga"},{"name":"url","value":"https://shop.example/login"}],""]',
      inSection,
      inSection,
    ]);
  });

  it("cuts values that exceed the limits of a secret, reports this, and keeps all of them in the text", async () => {
    const [title, tag] = ["🗝️x".repeat(200), "x".repeat(50)];
    const { items } = await readContents(
      readFile(`title,url,username,password,otpauth,tags\n${title},https://a.example,ana,pw,,a;${tag}\n`),
    );
    expect(Array.from(items[0]?.title ?? "")).toHaveLength(200);
    expect(items[0]?.adjustments).toEqual(["title_cut", "tags_cut"]);
    expect(items[0]?.text).toBe(
      `Title: ${title}\nTags: a, ${tag}\nUser name: ana\nPassword: pw\nWebsite: https://a.example`,
    );
  });

  it("numbers repeated entries, so that both are kept", async () => {
    const read = await readFile(
      "name,url,username,password,note\nA,https://a.example,ana,one,\nA,https://a.example,ana,two,\n",
    );
    if (read.status !== "read") throw new Error("expected the file to be read");
    expect(new Set(read.items.map(({ sourceId }) => sourceId)).size).toBe(2);
  });
});

/**
 * Each file format with an item without a title and an item with a seed, as far as the format
 * allows.
 */
const untitledAndSeeds: readonly (readonly [
  name: string,
  content: () => BlobPart | Promise<BlobPart>,
  generatedTitles: number,
])[] = [
  [
    "Bitwarden's JSON",
    () =>
      JSON.stringify({
        items: [
          { id: "b1", type: 1, name: "", login: { totp: "JBSWY3DP" } },
          { id: "b2", type: 2, name: " ", notes: "x" },
        ],
      }),
    2,
  ],
  [
    "Bitwarden's CSV",
    () =>
      "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n,,login,Mail,,,0,,ana,pw,JBSWY3DP\n,,note,,x,,0,,,,\n",
    1,
  ],
  [
    "1PUX",
    () =>
      createZip({
        "export.data": JSON.stringify({
          accounts: [
            {
              vaults: [
                {
                  attrs: { name: "V" },
                  items: [
                    {
                      uuid: "o1",
                      details: {
                        notesPlain: "x",
                        sections: [{ title: "", fields: [{ title: "otp", value: { totp: "JBSWY3DP" } }] }],
                      },
                      overview: { title: "" },
                    },
                  ],
                },
              ],
            },
          ],
        }),
      }),
    1,
  ],
  ["1Password's CSV", () => "Title,Url,Username,Password,OTPAuth,Tags,Notes\n,,,,JBSWY3DP,,x\n", 1],
  [
    "Proton's JSON",
    () =>
      createZip({
        "Proton Pass/data.json": JSON.stringify({
          vaults: {
            v: {
              name: "V",
              items: [
                {
                  itemId: "p1",
                  data: {
                    type: "login",
                    metadata: { name: "", note: "x" },
                    extraFields: [],
                    content: { totpUri: "JBSWY3DP" },
                  },
                },
              ],
            },
          },
        }),
      }),
    1,
  ],
  [
    "Proton's CSV",
    () => "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\nnote,,,,,,x,JBSWY3DP,1,1,V\n",
    1,
  ],
  [
    "KeePass XML",
    () =>
      "<KeePassFile><Root><Group><Entry><UUID>a</UUID><String><Key>otp</Key><Value>JBSWY3DP</Value></String><String><Key>Notes</Key><Value>x</Value></String></Entry></Group></Root></KeePassFile>",
    1,
  ],
  ["Google's CSV", () => "name,url,username,password,note\n,,,pw,\n", 1],
  ["Firefox's CSV", () => "url,username,password,httpRealm,formActionOrigin\n,,pw,,\n", 1],
];

describe("the same file in another language", () => {
  const readInLanguage = async (content: BlobPart, language: "en" | "es"): Promise<readonly ImportItem[]> => {
    const read = await readImport([{ path: "export", content: new Blob([content]) }], { language });
    if (read.status !== "read") throw new Error(read.status);
    return read.items;
  };
  const key = new Uint8Array(32).fill(7);

  it.each(untitledAndSeeds)(
    "has the same marks despite generated titles: %s",
    async (_name, content, generatedTitles) => {
      const bytes = await new Blob([await content()]).arrayBuffer();
      const [english, spanish] = [await readInLanguage(bytes, "en"), await readInLanguage(bytes, "es")];
      expect(spanish.filter(({ title }, at) => title !== english[at]?.title)).toHaveLength(generatedTitles);
      expect(await Promise.all(spanish.map((item) => computeSource(key, item)))).toEqual(
        await Promise.all(english.map((item) => computeSource(key, item))),
      );
      // as earlier releases computed them
      const formerSources = await Promise.all(
        [...english, ...spanish].map(({ canonicalTitles: _, ...item }) => computeSource(key, item)),
      );
      const currentSources = (await Promise.all(english.map((item) => computeSources(key, item)))).flat();
      expect(currentSources).toEqual(expect.arrayContaining(formerSources));
    },
  );
});

describe("hostile and foreign files", () => {
  const createXml = (inner: string): string => `<?xml version="1.0"?>${inner}`;
  it.each([
    ["an encrypted Bitwarden export", '{"encrypted": true, "passwordProtected": true}', "encrypted"],
    ["JSON that is broken", '{"items": [', "damaged"],
    ["lines that are no table", "one\ntwo\n", "unknown_format"],
    ["bytes", new Uint8Array([0, 1, 2, 250, 0]), "unknown_format"],
    ["another XML", createXml("<html></html>"), "unknown_format"],
    [
      "XML that names a file of the device",
      createXml('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><KeePassFile>&e;</KeePassFile>'),
      "damaged",
    ],
    [
      "XML that grows by its entities",
      createXml('<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><KeePassFile>&b;</KeePassFile>'),
      "damaged",
    ],
    ["XML without an end", createXml("<KeePassFile><Root>"), "damaged"],
    ["XML that is nested without end", createXml(`<KeePassFile>${"<Group>".repeat(10_000)}`), "damaged"],
    ["a ZIP that is cut", new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), "damaged"],
  ])("refuses %s", async (_name, content, reason) => {
    expect(await readFile(content)).toEqual({ status: "refused", reason });
  });

  it("reads a line of several megabytes as a file", async () => {
    const read = await readFile(
      `name,url,username,password,note\nA,https://a.example,ana,pw,"${"x".repeat(4_000_000)}"\n`,
    );
    if (read.status !== "read") throw new Error(read.status);
    expect(read.items).toMatchObject([{ title: "A", contentKind: "file", name: "secret.txt", mime: "text/plain" }]);
    expect(read.items[0]?.content.size).toBeGreaterThan(4_000_000);
    expect(read.failures).toEqual([]);
  });

  it.each([
    [
      "Bitwarden",
      (deep: string) =>
        `{"items":[{"id":"b1","type":1,"name":"Deep","x":${deep}},{"id":"b2","type":2,"name":"Flat","notes":"x"}]}`,
    ],
    [
      "Proton",
      (deep: string) =>
        `{"vaults":{"v":{"name":"V","items":[{"itemId":"p1","data":{"type":"custom","metadata":{"name":"Deep"},"content":{"x":${deep}}}},{"itemId":"p2","data":{"type":"note","metadata":{"name":"Flat","note":"x"}}}]}}}`,
    ],
  ])("reads an endlessly nested member as one field, and the others: %s", async (_name, file) => {
    const { items, failures } = await readContents(readFile(file(`${'[{"a":'.repeat(5_000)}7${"}]".repeat(5_000)}`)));
    expect(items.map(({ title }) => title)).toEqual(["Deep", "Flat"]);
    expect(items[0]?.text).toMatch(/^X[^:]*: (?:X[^:]*: )?(?:a\n)+7$/);
    expect(failures).toEqual([]);
  });

  it("refuses an archive that unpacks to more than it states", async () => {
    const packed = new Uint8Array(
      await new Response(
        new Blob([new Uint8Array(70 * 1024 ** 2)]).stream().pipeThrough(new CompressionStream("deflate-raw")),
      ).arrayBuffer(),
    );
    expect(await readFile(makeZipBomb(packed, 100))).toEqual({ status: "refused", reason: "damaged" });
    expect(await readFile(makeZipBomb(packed, 70 * 1024 ** 2))).toEqual({ status: "refused", reason: "too_large" });
  });
});

/** Builds a ZIP with one compressed entry `export.data` that claims this size. */
function makeZipBomb(packed: Uint8Array, claimedSize: number): Uint8Array<ArrayBuffer> {
  const name = Buffer.from("export.data");
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(claimedSize, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, name, packed]);
  const central = Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), fields, Buffer.alloc(14), name]);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return new Uint8Array(Buffer.concat([local, central, end]));
}

interface ArchiveVectors {
  readonly exit_identity: string;
  /** base64url. */
  readonly archives: readonly { readonly v: number; readonly zip: string }[];
  readonly secrets: readonly {
    readonly secret_id: string;
    readonly title: string;
    readonly favorite: boolean;
    readonly text_utf8: string;
  }[];
}

describe("this portal's own archive", () => {
  const vectors = JSON.parse(
    readFileSync(join(process.cwd(), "remote-recovery/vault/vectors/archives.json"), "utf8"),
  ) as ArchiveVectors;

  it.each(vectors.archives)("is read in version $v as another implementation writes it", async ({ v, zip }) => {
    const read = await readFile(
      new Uint8Array(Buffer.from(zip, "base64url")),
      "secrets-export.zip",
      vectors.exit_identity,
    );
    if (read.status !== "read") throw new Error(read.status);
    const items = await Promise.all(
      read.items.map(async ({ title, sourceId, favorite = false, content }) => ({
        title,
        origin: sourceId,
        favorite,
        text: await content.text(),
      })),
    );
    expect(items).toEqual(
      vectors.secrets.map(({ secret_id: id, title, favorite, text_utf8: text }) => ({
        title,
        origin: `relicario:${id}`,
        favorite: v === 1 ? false : favorite,
        text,
      })),
    );
    expect(read.failures).toEqual([]);
  });

  it("is refused in an unknown version", async () => {
    expect(
      await readFile(
        await createZip({ "manifest.json": JSON.stringify({ v: 3, secrets: [] }) }),
        "x.zip",
        vectors.exit_identity,
      ),
    ).toEqual({ status: "refused", reason: "damaged" });
  });

  it("restores the same list into an empty account, and asks for its identity", async () => {
    const world = createWorld();
    const vault = await world.open();
    await protect(vault, textSecret("First ñ", makePicture("market")), {});
    await protect(
      vault,
      {
        ...textSecret("Second"),
        tags: ["a", "b"],
        contentKind: "file",
        name: "x.bin",
        mime: "application/x",
        content: new Blob(["bytes"]),
      },
      {},
    );
    const ids = (await list(vault)).map(({ secretId }) => secretId);
    await setFavorite(vault, ids[1] ?? "", true);
    const chunks: Bytes[] = [];
    const sink: Sink = {
      write: async (bytes) => void chunks.push(copyOf(bytes)),
      commit: async () => new Blob(chunks),
      discard: () => Promise.resolve(),
    };
    const exportDeps = {
      range: () => Promise.reject(new Error("expected a small content")),
      retryPolicy: { wait: () => Promise.resolve() },
      openSink: () => Promise.resolve(sink),
    };
    const { archive, identity } = await exportSecrets(vault, exportDeps, ids, makePicture("market"));

    const bytes = await archive.arrayBuffer();
    expect(await readFile(bytes)).toEqual({ status: "refused", reason: "identity_needed" });
    expect(await readFile(bytes, "x.zip", "AGE-SECRET-KEY-PQ-1")).toEqual({
      status: "refused",
      reason: "identity_wrong",
    });
    const read = await readFile(bytes, "secrets-export.zip", `# exit\n${identity}\n`);
    if (read.status !== "read") throw new Error(read.status);
    expect(await importSecrets(vault, read.items, makePicture("market"))).toMatchObject({ added: 0, unchanged: 2 });

    const emptyVault = await createWorld().open();
    await importSecrets(emptyVault, read.items, makePicture("lake"), { name: "The lake" });
    const summarize = async (openedVault: typeof vault) =>
      (await list(openedVault))
        .map(({ label, favorite }) => [
          label?.title,
          label?.tags,
          label?.contentKind,
          label?.name,
          label?.size,
          favorite,
        ])
        .sort();
    expect(await summarize(emptyVault)).toEqual(await summarize(vault)); // ids of the same moment have no order
    expect((await summarize(emptyVault)).map(([title, , , , , favorite]) => [title, favorite])).toEqual([
      ["First ñ", false],
      ["Second", true],
    ]);
  });
});

describe("an entry with fields", () => {
  const readFields = async (content: BlobPart): Promise<unknown> => {
    const read = await readFile(content);
    if (read.status !== "read") throw new Error(read.status);
    return Promise.all(
      read.items.map(async ({ contentKind, name, mime, content: record }) => ({
        contentKind,
        name,
        mime,
        fields: parseRecord(await record.text()),
      })),
    );
  };
  const record = { contentKind: "record", name: "record.json", mime: "application/json" };

  it("becomes a record with the kinds that the file states; other fields are secret", async () => {
    const file = JSON.stringify({
      items: [
        {
          type: 1,
          name: "Mail",
          notes: "a note",
          fields: [
            { name: "Colour", value: "red", type: 0 },
            { name: "PIN", value: "0042", type: 1 },
            { name: "Since", value: "2024-02-29" },
          ],
          login: { uris: [{ uri: "https://a.example" }], username: "ana", password: "p\u001Bw", totp: "JBSWY3DP" },
          unknown: "x",
        },
      ],
    });
    expect(await readFields(file)).toEqual([
      {
        ...record,
        fields: [
          { label: "User name", value: "ana", kind: "text" },
          { label: "Password", value: "p\u001Bw", kind: "secret" },
          { label: "Website", value: "https://a.example", kind: "address" },
          { label: "Colour", value: "red", kind: "text" },
          { label: "PIN", value: "0042", kind: "secret" },
          { label: "Since", value: "2024-02-29", kind: "date" },
          { label: "Unknown", value: "x", kind: "secret" },
          { label: "One-time code", value: "JBSWY3DP", kind: "one_time_code" },
          { label: "Note", value: "a note", kind: "note" },
        ],
      },
    ]);
  });

  it("keeps a seed that cannot produce codes, and an invalid label", async () => {
    const label = `a\nb ${"x".repeat(300)}`;
    const file = JSON.stringify({
      items: [{ type: 1, name: "A", fields: [{ name: label, value: "v", type: 0 }], login: { totp: "not a seed: 1" } }],
    });
    expect(await readFields(file)).toEqual([
      {
        ...record,
        fields: [
          { label: "Name of the next field", value: label, kind: "text" },
          { label: `a b ${"x".repeat(195)}…`, value: "v", kind: "text" },
          { label: "One-time code", value: "not a seed: 1", kind: "secret" },
        ],
      },
    ]);
  });

  it("cuts only a label that is too long, between characters, and keeps its secret and its URL", async () => {
    const [fitting, long] = ["l".repeat(200), `${"l".repeat(198)}😀😀`];
    const file = JSON.stringify({
      items: [
        {
          type: 1,
          name: "A",
          fields: [
            { name: fitting, value: "pw1", type: 1 },
            { name: long, value: "pw2", type: 1 },
          ],
        },
      ],
    });
    expect(await readFields(file)).toEqual([
      {
        ...record,
        fields: [
          { label: fitting, value: "pw1", kind: "secret" },
          { label: "Name of the next field", value: long, kind: "text" },
          { label: `${"l".repeat(198)}…`, value: "pw2", kind: "secret" },
        ],
      },
    ]);
  });

  it("becomes a text if it has more than a record may have", async () => {
    const fields = Array.from({ length: 201 }, (_, index) => ({ name: `n${String(index)}`, value: "v", type: 0 }));
    const read = await readFile(
      JSON.stringify({ items: [{ type: 1, name: "A", fields, login: { totp: "JBSWY3DP" } }] }),
    );
    if (read.status !== "read") throw new Error(read.status);
    expect(read.items).toMatchObject([{ contentKind: "text", name: "secret.txt" }]);
    const text = await read.items[0]?.content.text();
    expect(text?.split("\n")).toHaveLength(202);
    expect(text).toContain("n200: v\nOne-time code: JBSWY3DP");
  });
});
