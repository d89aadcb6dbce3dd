/**
 * A link to a share or a request, read from an address that mail programs, chats or people may have
 * damaged.
 */
export interface LinkAddress {
  /** `/shared/…`, `/p-shared/…` or `/request/…`, as it was made, or what a damaged id left. */
  readonly path: string;
  /** The 43 characters of the link key; null when they, or those of the id, are not all there. */
  readonly key: string | null;
  /** Whether the key was before the `#`, and so was sent to servers. */
  readonly isExposed: boolean;
}

const linkPage = /^\/*(shared|p-shared|request)\/+(.*)$/is;
/** 16 bytes as base64url: the last character has four unused bits. */
const wholeId = /^[\w-]{21}[AQgw](?=s=|[^\w-]|$)/i;
/** Browsers make a slash of the backslash that markdown puts before a character. */
const slashesOfEscapes = /\/(?=[_-])/g;
/** Shorter than a key that took the id's place. */
const damagedId = /^(?:(?!s=)[\w-]){0,24}/i;
/** 32 bytes as base64url: the last character has two unused bits. */
const lastOfKey = "[AEIMQUYcgkosw048]";
const keyPattern = `([\\w-]{42}${lastOfKey})`;
/** `3D` is what quoted-printable leaves of the equals sign. */
const namedKey = new RegExp(`(?<![\\w-])[sS]=(?:3D)?${keyPattern}`);
const bareKey = new RegExp(`^[^\\w-]*${keyPattern}[^\\w-]*$`);

/** White space, control and format characters, and marks of quotes and markdown. */
const breaks = /[\s\p{Cc}\p{Cf}>\\]/gu;
/** With the equals sign that ends a line of quoted-printable. */
const breaksInKey = "[=\\s\\p{Cc}\\p{Cf}>\\\\]*";
const keyInPieces = new RegExp(
  `(?<![\\w-])[sS][\\s\\p{Cc}\\p{Cf}]*=(?:3D)?${breaksInKey}((?:[\\w-]${breaksInKey}){42}${lastOfKey})(?!_*[^\\W_]|_*-)`,
  "u",
);
/** More are words behind a key that was cut. */
const maxPieces = 4;

/** Parses the address of a link's page; null for any other page. */
export function parseLinkAddress(url: Pick<URL, "hash" | "pathname" | "search">): LinkAddress | null {
  const sentText = decodePercents(`${url.pathname}${url.search}`);
  const path = removeBreaks(sentText).replace(/(?<![sS])=/g, "");
  const [, kind, typedRest = ""] = linkPage.exec(path) ?? [];
  if (kind === undefined) return null;
  const rest = typedRest.replace(slashesOfEscapes, "");
  const [id] = wholeId.exec(rest) ?? [];
  const [idText = ""] = id === undefined ? (damagedId.exec(rest) ?? []) : [id];
  const hashText = decodePercents(url.hash.slice(1));
  const sentKey = findKey(sentText) ?? findKey(rest.slice(idText.length));
  return {
    path: `/${kind.toLowerCase()}/${idText}`,
    key: id === undefined ? null : (findKey(hashText) ?? bareKey.exec(hashText)?.[1] ?? sentKey),
    isExposed: sentKey !== null,
  };
}

/**
 * Removes white space, quote marks and invisible characters that programs inserted into an address.
 */
export function removeBreaks(text: string): string {
  return text.replace(breaks, "");
}

/**
 * Finds the key after `s=`. One in pieces has to end with one of them, or the words after a key
 * that was cut would be taken for its end. Underscores behind it are marks of markdown.
 */
function findKey(text: string): string | null {
  for (const dash of ["-", "--"]) {
    const typedText = text.replace(/(?!-)\p{Pd}/gu, dash); // typographic dashes
    const key = namedKey.exec(typedText)?.[1];
    if (key !== undefined) return key;
    const pieces =
      keyInPieces
        .exec(typedText)?.[1]
        ?.replaceAll("\\", "")
        .match(/[\w-]+/g) ?? [];
    if (pieces.length > 0 && pieces.length <= maxPieces) return pieces.join("");
  }
  return null;
}

/**
 * Maximum number of decodings: each program that puts a link into another one may percent-encode it
 * again.
 */
const maxEncodings = 3;

function decodePercents(text: string): string {
  let decodedText = text;
  for (let count = 0; count < maxEncodings; count++)
    decodedText = decodedText.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
      new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), (hex) => Number.parseInt(hex, 16))),
    );
  return decodedText;
}
