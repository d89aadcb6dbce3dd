import type { ImportFormat } from "@relicario/shared/contract";

/**
 * A program's file with every member that it is known to write. Each `~` stands for a value of the
 * person, which {@link fillSample} replaces by a unique one.
 */
export type ImportSample =
  | {
      readonly format: ImportFormat;
      readonly kind: "csv";
      /** A name and a value for each column. */
      readonly columns: readonly (readonly [name: string, value: string])[];
    }
  | { readonly format: ImportFormat; readonly kind: "json"; readonly root: unknown }
  | { readonly format: ImportFormat; readonly kind: "xml"; readonly text: string };

const csv = (format: ImportFormat, columns: string): ImportSample => ({
  format,
  kind: "csv",
  columns: columns.split(",").map((column) => {
    const [name = "", ...value] = column.split("=");
    return [name, value.length === 0 ? "~" : value.join("=").replaceAll(";", ",")];
  }),
});

const bitwardenItem = {
  id: "b1",
  organizationId: null,
  folderId: "f1",
  type: 1,
  reprompt: 0,
  name: "~",
  notes: "~",
  favorite: true,
  fields: [
    { name: "~", value: "~", type: 1, linkedId: null },
    { name: null, value: "~", type: 0 },
  ],
  login: {
    uris: [{ match: null, uri: "~" }, { uri: "~" }],
    username: "~",
    password: "~",
    totp: "~",
  },
  card: { cardholderName: "~", brand: "~", number: "~", expMonth: "~", expYear: "~", code: "~" },
  identity: { firstName: "~", constructor: "~", address1: "~" },
  sshKey: { privateKey: "~", publicKey: "~", keyFingerprint: "~" },
  passwordHistory: [{ lastUsedDate: "2025-02-01T10:00:00.000Z", password: "~" }],
  collectionIds: ["c1"],
};

const entry = (inner: string): string => `<Entry><UUID>ZW50cnllbnRyeWVudHJ5ZQ==</UUID>${inner}</Entry>`;
const xmlString = (key: string, value = "~"): string => `<String><Key>${key}</Key><Value>${value}</Value></String>`;

export const importSamples: readonly ImportSample[] = [
  csv(
    "bitwarden_csv",
    "folder,favorite=1,type=login,name,notes,fields=~: ~,reprompt=0,login_uri,login_username,login_password,login_totp",
  ),
  csv(
    "bitwarden_csv",
    "collections,type=login,name,notes,fields=~: ~,reprompt=0,login_uri,login_username,login_password,login_totp",
  ),
  csv("google_csv", "name,url,username,password,note"),
  csv("lastpass_csv", "url,username,password,totp,extra,name,grouping,fav=0"),
  csv(
    "lastpass_csv",
    "url=http://sn,username,password,totp,extra=NoteType:Bank Account\nBank Name:~\nSSH Key:~\n~\nNotes:~\n~,name,grouping,fav=1",
  ),
  csv("keepassxc_csv", "Group=Root/~/~,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created"),
  csv("keepass_csv", "Account,Login Name,Password,Web Site,Comments"),
  csv("dashlane_csv", "username,username2,username3,title,password,note,url,category,otpSecret"),
  csv("dashlane_csv", "username,username2,username3,title,password,note,url,category,otpUrl"),
  csv(
    "dashlane_csv",
    "type,account_name,account_holder,cc_number,code,expiration_month,expiration_year,routing_number,account_number,country,issuing_bank,note,name",
  ),
  csv("dashlane_csv", "type,number,name,issue_date,expiration_date,place_of_issue,state"),
  csv(
    "dashlane_csv",
    "type,title,first_name,middle_name,last_name,login,date_of_birth,place_of_birth,email,email_type,item_name,phone_number,address,country,state,city,zip,address_recipient,address_building,address_apartment,address_floor,address_door_code,job_title,url",
  ),
  csv(
    "nordpass_csv",
    'name,url,additional_urls=["~";"~"],username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,full_name,phone_number,email,address1,address2,city,country,state,type=identity,custom_fields=[{"label":"~";"type":"text";"value":"~"}]',
  ),
  csv("roboform_csv", "Name,Url,MatchUrl,Login,Pwd,Note,Folder=/~/~,RfFieldsV2=~;;;txt;~,=TOTP KEY$;;;txt;~,=~"),
  csv(
    "keeper_csv",
    "Folder,Title,Login,Password,Website Address,Notes,Shared Folder,Custom Fields=TFC:Keeper,=~,=~,=~",
  ),
  csv("apple_csv", "Title,URL,Username,Password,Notes,OTPAuth"),
  csv("proton_pass", "name,url,username,password,note,totp"),
  csv("other_csv", "Title,Username,Email,Password,Website,TOTP,Note,Folder"),
  csv("other_csv", "Title,Username,Password,URL,URL,Notes,Notes"),
  csv(
    "firefox_csv",
    "url,username,password,httpRealm,formActionOrigin,guid=g1,timeCreated,timeLastUsed,timePasswordChanged",
  ),
  csv("onepassword_csv", "Title,Url,Username,Password,OTPAuth,Favorite=true,Archived=false,Tags,Notes"),
  csv("proton_pass", "type=login,name,url,email,username,password,note,totp,createTime,modifyTime,vault"),
  {
    format: "enpass_json",
    kind: "json",
    root: {
      folders: [
        { icon: "", parent_uuid: "", title: "~", updated_at: 1, uuid: "fo" },
        { parent_uuid: "fo", title: "~", uuid: "fp" },
      ],
      items: [
        {
          archived: 0,
          auto_submit: 1,
          category: "login",
          favorite: 1,
          fields: [
            { label: "~", type: "username", value: "~", deleted: 0, order: 1, sensitive: 0, uid: 10, updated_at: 1 },
            { type: "password", value: "~", history: [{ updated_at: 1, value: "~" }] },
            { label: "~", type: "section", value: "" },
            { label: "~", type: "text", value: "~" },
            { label: "TOTP", type: "totp", value: "~" },
          ],
          folders: ["fp"],
          icon: { fav: "", image: { file: "" }, type: 1, uuid: "" },
          note: "~",
          subtitle: "s",
          template_type: "login.default",
          title: "~",
          uuid: "u1",
          attachments: [{ data: "aGk=", kind: "text/plain", name: "~", uuid: "au" }],
        },
      ],
    },
  },
  {
    format: "aegis_json",
    kind: "json",
    root: {
      version: 1,
      header: { slots: null, params: null },
      db: {
        version: 3,
        entries: [
          {
            type: "totp",
            uuid: "u",
            name: "~",
            issuer: "~",
            note: "~",
            favorite: true,
            info: { secret: "~", algo: "SHA256", digits: 8, period: 60 },
            groups: ["g1"],
          },
          { type: "motp", name: "~", info: { secret: "~", pin: "~" } },
        ],
        groups: [{ uuid: "g1", name: "~" }],
      },
    },
  },
  {
    format: "onepassword_1pux",
    kind: "json",
    root: {
      accounts: [
        {
          attrs: { accountName: "Ana", name: "Ana", email: "ana@example.org", uuid: "a", domain: "x" },
          vaults: [
            {
              attrs: { uuid: "v", name: "~", desc: "~", type: "P" },
              items: [
                {
                  uuid: "o1",
                  favIndex: 1,
                  createdAt: 1_700_000_000,
                  state: "active",
                  categoryUuid: "001",
                  details: {
                    loginFields: [
                      { value: "~", id: "", name: "username", fieldType: "T", designation: "username" },
                      { value: "~", id: "", name: "~", fieldType: "T" },
                    ],
                    notesPlain: "~",
                    sections: [
                      {
                        title: "~",
                        name: "s",
                        fields: [
                          { title: "otp", id: "TOTP_1", value: { totp: "~" } },
                          {
                            title: "~",
                            id: "k",
                            value: { sshKey: { privateKey: "~", metadata: { fingerprint: "~" } } },
                          },
                          { title: "~", id: "e", value: { email: { email_address: "~", provider: "~" } } },
                          { title: "~", id: "c", value: { concealed: "~" } },
                          { title: "~", id: "d", value: { address: { street: "~", city: "~" } } },
                        ],
                      },
                    ],
                    passwordHistory: [{ value: "~", time: 1_458_322_355 }],
                  },
                  overview: {
                    subtitle: "s",
                    title: "~",
                    url: "~",
                    urls: [{ label: "~", url: "~" }],
                    tags: ["~", "~"],
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  },
  {
    format: "keeper_json",
    kind: "json",
    root: {
      records: [
        {
          uid: "u1",
          title: "~",
          notes: "~",
          login: "~",
          password: "~",
          login_url: "~",
          $type: "login",
          last_modified: 1,
          custom_fields: { "$oneTimeCode::1": "~", "$text:Color:1": "~", "$name::1": { first: "~", last: "~" } },
          folders: [{ folder: "~\\~", shared_folder: "~", can_edit: true }],
        },
      ],
    },
  },
  {
    format: "bitwarden_json",
    kind: "json",
    root: {
      encrypted: false,
      folders: [{ id: "f1", name: "~" }],
      collections: [{ id: "c1", name: "~" }],
      items: [bitwardenItem],
    },
  },
  {
    format: "proton_pass",
    kind: "json",
    root: {
      version: "1.31.0",
      encrypted: false,
      vaults: {
        v1: {
          name: "~",
          description: "~",
          items: [
            {
              itemId: "p1",
              state: 1,
              aliasEmail: "~",
              contentFormatVersion: 7,
              data: {
                metadata: { name: "~", note: "~" },
                extraFields: [
                  { fieldName: "~", type: "hidden", data: { content: "~" } },
                  { fieldName: "2FA", type: "totp", data: { totpUri: "~" } },
                ],
                type: "login",
                content: {
                  itemEmail: "~",
                  itemUsername: "~",
                  password: "~",
                  urls: ["~", "~"],
                  totpUri: "~",
                  constructor: "~",
                  extraSections: [
                    { sectionName: "~", sectionFields: [{ fieldName: "~", type: "text", data: { content: "~" } }] },
                  ],
                },
              },
            },
          ],
        },
      },
    },
  },
  {
    format: "keepass_xml",
    kind: "xml",
    text: `<KeePassFile><Meta><DatabaseDescription>~</DatabaseDescription></Meta><Root><Group><Group><Name>~</Name><Notes>~</Notes>${entry(
      [
        ...["Title", "UserName", "Password", "URL", "Notes", "otp", "constructor", "__proto__", "TOTP Seed"].map(
          (key) => xmlString(key),
        ),
        "<Tags>~;~</Tags><OverrideURL>~</OverrideURL>",
        "<CustomData><Item><Key>~</Key><Value>~</Value></Item></CustomData>",
        "<AutoType><DefaultSequence>~</DefaultSequence><Association><Window>~</Window><KeystrokeSequence>~</KeystrokeSequence></Association></AutoType>",
        `<History>${entry(`${xmlString("Password")}${xmlString("Other")}<Tags>~</Tags>`)}</History>`,
      ].join(""),
    )}</Group></Group></Root></KeePassFile>`,
  },
];

/** A value that was put into a file, with the names of its column or of the members on its path. */
export interface PlantedValue {
  readonly value: string;
  readonly path: readonly string[];
}

/** An unknown member that is put into objects of a file. */
export interface UnknownMember {
  readonly name: string;
  readonly shape: "text" | "list" | "object" | "number";
  /** Index of the object that contains it, modulo the number of objects. */
  readonly position: number;
}

/** Fills a sample with a unique value for each `~`, and adds unknown members. */
export function fillSample(
  sample: ImportSample,
  unknownMembers: readonly UnknownMember[],
): { readonly text: string; readonly planted: readonly PlantedValue[] } {
  const planted: PlantedValue[] = [];
  const plant = (...path: readonly string[]): string => {
    const value = `v${String(planted.length).padStart(3, "0")}x`;
    planted.push({ value, path });
    return value;
  };
  const plantNumber = (...path: readonly string[]): number => {
    const number = 700_100_200 + planted.length;
    planted.push({ value: String(number), path });
    return number;
  };
  const fill = (text: string, path: readonly string[]): string => text.replaceAll("~", () => plant(...path));
  if (sample.kind === "csv") {
    const columns = [
      ...unknownMembers.map(({ name }) => [name, plant(name)] as const),
      ...sample.columns.map(([name, value]) => [name, fill(value, [name])] as const),
    ];
    const toLine = (cells: readonly string[]): string =>
      `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;
    return { text: toLine(columns.map(([name]) => name)) + toLine(columns.map(([, cell]) => cell)), planted };
  }
  if (sample.kind === "xml") {
    const filled = sample.text.replaceAll("~", (_, offset: number) =>
      plant(/.*<([A-Z]\w*)/s.exec(sample.text.slice(0, offset))?.[1] ?? ""),
    );
    const containers = [...filled.matchAll(/<(?:Group|Entry)>/g)].map(({ index }) => index + "<Group>".length);
    const insertions = unknownMembers.flatMap(({ name, shape, position }) => {
      const at = containers[position % containers.length];
      const element = toElementName(name);
      const inner = shape === "object" ? `<Inner>${plant("Inner")}</Inner>` : plant(element);
      return at === undefined ? [] : [{ at, text: `<${element}>${inner}</${element}>` }];
    });
    return {
      text: insertions
        .toSorted((left, right) => right.at - left.at)
        .reduce((text, insertion) => text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at), filled),
      planted,
    };
  }
  const objects: { readonly object: object; readonly path: readonly string[] }[] = [];
  const copy = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value === "string") return fill(value, path);
    if (Array.isArray(value)) return value.map((element) => copy(element, path));
    if (typeof value !== "object" || value === null) return value;
    const object = {};
    for (const [name, inner] of Object.entries(value)) setOwn(object, name, copy(inner, [...path, name]));
    objects.push({ object, path });
    return object;
  };
  const root = copy(sample.root, []);
  for (const { name, shape, position } of unknownMembers) {
    const { object, path } = objects[position % objects.length] ?? { object: {}, path: [] };
    if (Object.hasOwn(object, name)) continue;
    const inside = [...path, name];
    const values = {
      text: () => plant(...inside),
      number: () => plantNumber(...inside),
      list: () => [plant(...inside), null, { inner: plant(...inside, "inner") }],
      object: () => ({ inner: plant(...inside, "inner"), list: [plant(...inside, "list")] }),
    };
    setOwn(object, name, values[shape]());
  }
  return { text: JSON.stringify(root), planted };
}

function toElementName(name: string): string {
  return `X${name.replaceAll(/\W/g, "")}`;
}

/** Works for `__proto__` too, which an assignment would treat as the prototype. */
function setOwn(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
