import fc from "fast-check";

import { parseFragment } from "./fragment.ts";
import { parseLinkAddress } from "./link-address.ts";

const id = "Zm9vYmFy_WJhel-xdXV4IQ";
const key = "q-8_Jb0hVQ3s3DkW7xZ-_2mN4tYp6LrC9uEaGiOwKdA";
const link = `/shared/${id}#s=${key}`;
const parse = (address: string) => parseLinkAddress(new URL(`https://portal.example${address}`));
const asMade = { path: `/shared/${id}`, key, isExposed: false };

/** A link in parts, each of which can be damaged on its way. */
const undamagedParts = { slashes: "/", kind: "shared", id, query: "", mark: "#", name: "s=", key, tail: "" };
type LinkParts = typeof undamagedParts;

interface Damage {
  readonly part: keyof LinkParts;
  readonly damage: (link: LinkParts) => Partial<LinkParts>;
  /** The key stands in front of the `#`. */
  readonly isExposed?: true;
  readonly isIdLost?: true;
}

const position = fc.integer({ min: 1, max: 20 });
const breakText = fc.constantFrom(
  ...["\n", "%0D%0A", "%0d%0a%3E%20", "%20", "=%0D%0A", "\u00ad", "%C2%AD", "\u200b", "%E2%80%8B", "%C2%A0"],
);
const insert = (text: string, at: number, inserted: string): string =>
  `${text.slice(0, at)}${inserted}${text.slice(at)}`;

const damageArbitrary: fc.Arbitrary<Damage> = fc.oneof(
  fc.constantFrom("//", "///").map((slashes): Damage => ({ part: "slashes", damage: () => ({ slashes }) })),
  fc.constantFrom("Shared", "SHARED").map((kind): Damage => ({ part: "kind", damage: () => ({ kind }) })),
  fc
    .tuple(position, breakText)
    .map(([at, text]): Damage => ({ part: "id", damage: (link) => ({ id: insert(link.id, at, text) }) })),
  fc.tuple(position, fc.constantFrom("", "%2F", ".", "é", "xx")).map(([at, text]): Damage => ({
    part: "id",
    isIdLost: true,
    damage: (link) => ({ id: `${link.id.slice(0, at)}${text}${link.id.slice(at + 1)}` }),
  })),
  fc.constantFrom("_", "-").map((escaped): Damage => ({
    part: "id",
    damage: (link) => ({ id: link.id.replace(escaped, `\\${escaped}`) }), // markdown; browsers take it for a slash
  })),
  fc.constantFrom("x", "-", "AAAA").map((text): Damage => ({
    part: "id",
    isIdLost: true,
    damage: (link) => ({ id: `${link.id}${text}` }),
  })),
  fc
    .constantFrom(
      "/",
      ".",
      ",",
      "?fbclid=IwAR0123456789012345678901234567890123456789012345",
      "?utm_source=mail&a=1",
      "&amp;",
    )
    .map((query): Damage => ({ part: "query", damage: () => ({ query }) })),
  fc
    .constantFrom("##", "#%23", "&#35;", "#/", "#!")
    .map((mark): Damage => ({ part: "mark", damage: () => ({ mark }) })),
  fc
    .constantFrom("%23", "%2523", "%252523", "?", "&", "/", "%3F", "%2F", "|")
    .map((mark): Damage => ({ part: "mark", isExposed: true, damage: () => ({ mark }) })),
  fc
    .constantFrom("s=3D", "s%3D", "s%253D", "S=", "s%3D3D")
    .map((name): Damage => ({ part: "name", damage: () => ({ name }) })),
  fc
    .tuple(position, breakText)
    .map(([at, text]): Damage => ({ part: "key", damage: (link) => ({ key: insert(link.key, at * 2, text) }) })),
  fc
    .constantFrom("\\-", "\u2011", "\u2010", "\u2013")
    .map((dash): Damage => ({ part: "key", damage: (link) => ({ key: link.key.replace("-", dash) }) })),
  fc
    .constantFrom(
      ...[
        ".",
        ")",
        ">",
        "%3E",
        "\u00a0",
        "%C2%A0",
        "\u200b",
        "%E2%80%8B",
        "%29.",
        "%22",
        "'",
        "*",
        "_",
        "]",
        "\u2019",
        "%E2%80%9D",
      ],
      ...[
        "&utm_source=mail",
        "?fbclid=IwAR01234567890123456789012345678901234567890",
        ":~:text=a",
        "%20is the link",
        "#x",
        "#",
      ],
    )
    .map((tail): Damage => ({ part: "tail", damage: () => ({ tail }) })),
);

describe("parseLinkAddress", () => {
  it.each(["shared", "p-shared", "request"])("reads a link as it was made, at /%s/", (kind) => {
    expect(parse(`/${kind}/${id}#s=${key}`)).toEqual({ path: `/${kind}/${id}`, key, isExposed: false });
  });

  it.each([
    ["a full stop", `${link}.`],
    ["a bracket", `${link})`],
    ["a quote's mark", `${link}>`],
    ["a no-break space", `${link}\u00a0`],
    ["an encoded no-break space", `${link}%C2%A0`],
    ["a zero-width space", `${link}\u200b`],
    ["an encoded bracket and comma", `${link}%29,`],
    ["words", `${link}%20is the link`],
    ["words without a space", `${link}.Please open it`],
    ["a tracker's parameter", `${link}&utm_source=mail`],
    ["a tracker's query", `${link}?fbclid=IwAR0123456789012345678901234567890123456789012345`],
    ["an underscore of markdown", `${link}_`],
    ["a text fragment", `${link}:~:text=secret`],
  ])("drops what stands behind the key: %s", (_name, address) => {
    expect(parse(address)).toEqual(asMade);
  });

  it.each([
    ["quoted-printable", `/shared/${id}#s=3D${key}`],
    ["an encoded equals sign", `/shared/${id}#s%3D${key}`],
    ["two encodings", `/shared/${id}#s%253D${key}`],
    ["a capital letter", `/shared/${id}#S=${key}`],
    ["a second number sign", `/shared/${id}##s=${key}`],
    ["an encoded number sign as well", `/shared/${id}#%23s=${key}`],
    ["an entity", `/shared/${id}&#35;s=${key}`],
    ["no name", `/shared/${id}#${key}`],
    ["a parameter before it", `/shared/${id}#utm_source=mail&s=${key}`],
  ])("finds the key behind %s", (_name, address) => {
    expect(parse(address)).toEqual(asMade);
  });

  it.each([
    ["a line break", "\n"],
    ["an encoded line break", "%0D%0A"],
    ["a space", "%20"],
    ["the mark of a quoted line", "%0A%3E%20"],
    ["the end of a quoted-printable line", "=%0D%0A"],
    ["a soft hyphen", "\u00ad"],
    ["a zero-width space", "%E2%80%8B"],
    ["a backslash of markdown", "\\"],
  ])("joins a key with %s inside", (_name, text) => {
    for (const position of [1, 20, 42])
      expect(parse(`/shared/${id}#s=${key.slice(0, position)}${text}${key.slice(position)}`)).toEqual(asMade);
  });

  it("reads typographic dashes as they were typed", () => {
    const withDashes = "q-8_Jb0hVQ3s3DkW7xZ--2mN4tYp6LrC9uEaGiOwKdA";
    for (const [typed, changed] of [
      [key, key.replace("-8", "\u20118")],
      [withDashes, withDashes.replace("--", "\u2014")],
    ] as const)
      expect(parse(`/shared/${id}#s=${changed}`)).toEqual({ ...asMade, key: typed });
  });

  it.each([
    ["capital letters", `/Shared/${id}#s=${key}`, "/shared/"],
    ["more capital letters", `/P-SHARED/${id}#s=${key}`, "/p-shared/"],
    ["two slashes", `//request//${id}#s=${key}`, "/request/"],
    ["a slash at its end", `/shared/${id}/#s=${key}`, "/shared/"],
    ["a full stop", `/shared/${id}.#s=${key}`, "/shared/"],
    ["an encoded space inside", `/shared/${id.slice(0, 9)}%20${id.slice(9)}#s=${key}`, "/shared/"],
    ["a zero-width space", `/shared/\u200b${id}#s=${key}`, "/shared/"],
    ["a query", `/shared/${id}?fbclid=IwAR0123456789012345678901234567890123456789012345#s=${key}`, "/shared/"],
  ])("cleans a path with %s", (_name, address, kind) => {
    expect(parse(address)).toEqual({ path: `${kind}${id}`, key, isExposed: false });
  });

  it.each([
    ["encoded number sign", `/shared/${id}%23s=${key}`],
    ["number sign encoded twice", `/shared/${id}%2523s=${key}`],
    ["number sign and equals sign encoded", `/shared/${id}%23s%3D${key}.`],
    ["question mark", `/shared/${id}?s=${key}`],
    ["slash", `/shared/${id}/s=${key}`],
    ["missing number sign", `/shared/${id}s=${key}`],
    ["encoded number sign, and a fragment", `/shared/${id}%23s=${key}#main`],
  ])("says that a key was exposed behind an %s", (_name, address) => {
    expect(parse(address)).toEqual({ ...asMade, isExposed: true });
  });

  it.each([
    ["nothing", ""],
    ["a key that was cut", `#s=${key.slice(0, 30)}`],
    ["a key that was cut, and words", `#s=${key.slice(0, 30)}%20more words of it`],
    ["a key that was cut, and an ellipsis", `#s=${key.slice(0, 30)}\u2026`],
    ["43 characters that are no key", `#s=${key.slice(0, 42)}B`],
  ])("has no key with %s", (_name, hash) => {
    expect(parse(`/shared/${id}${hash}`)).toEqual({ ...asMade, key: null });
  });

  it.each(["/home", "/secrets#s=1&n=2", `/shared-by-me/${id}`, "/shared", `/x/shared/${id}`])(
    "leaves other pages alone: %s",
    (address) => {
      expect(parse(address)).toBeNull();
    },
  );

  it("finds a key in pieces before a mark of markdown", () => {
    expect(parse(`/shared/${id}#s=${key.slice(0, 2)}%E2%80%8B${key.slice(2)}_`)).toEqual({ ...asMade });
  });

  it("finds the key, cleans the address and says what was sent, after any two damages", () => {
    fc.assert(
      fc.property(fc.uniqueArray(damageArbitrary, { maxLength: 2, selector: ({ part }) => part }), (damages) => {
        const parts = damages.reduce<LinkParts>((link, { damage }) => ({ ...link, ...damage(link) }), undamagedParts);
        const address = `${parts.slashes}${parts.kind}/${parts.id}${parts.query}${parts.mark}${parts.name}${parts.key}${parts.tail}`;
        const isExposed = damages.some((damage) => damage.isExposed === true);
        const hasId = damages.every((damage) => damage.isIdLost !== true);
        const link = parse(address);
        if (hasId) expect([address, link]).toEqual([address, { ...asMade, isExposed }]);
        expect([address, link?.isExposed, link?.key]).toEqual([address, isExposed, hasId ? key : null]);
        const fragment = parseFragment(new URL(`https://portal.example${address}`));
        const cleanAddress = fragment?.address ?? address;
        expect(cleanAddress).toMatch(/^\/shared\/[\w-]{0,24}$/);
        expect(fragment?.items["exposedLink"]).toBe(isExposed ? cleanAddress : undefined);
      }),
      { numRuns: 1_000 },
    );
  });

  it("reads every link that is made", () => {
    const base64url = (length: number) =>
      fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString("base64url"));
    fc.assert(
      fc.property(base64url(16), base64url(32), (anyId, anyKey) => {
        expect(parse(`/shared/${anyId}#s=${anyKey}`)).toEqual({
          path: `/shared/${anyId}`,
          key: anyKey,
          isExposed: false,
        });
      }),
    );
  });

  it("never throws, whatever the address is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        parse(`/shared/${id}${text}`);
        parse(`/${text}#${text}`);
      }),
    );
  });
});
