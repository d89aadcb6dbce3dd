import { ImportQuestion } from "./import-question.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { maxTextBytes } from "./limits.ts";

export interface DecodedText {
  readonly text: string;
  /** Whether bytes were invalid in the encoding and were replaced by U+FFFD. */
  readonly hasReplacedBytes: boolean;
}

/** Encodings other than UTF-8 that programs write, most frequent first. */
const legacyEncodings = [
  ...["windows-1252", "windows-1250", "windows-1251", "koi8-r", "windows-1253", "windows-1254", "windows-1255"],
  ...["windows-1256", "windows-1257", "windows-1258", "windows-874", "macintosh"],
  ...["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"],
] as const;
const [maxCandidates, sampleCount, maxSampleLength, maxScoredBytes] = [8, 3, 60, 32 * 1024];

/**
 * Decodes a file by its byte order mark, else by its declaration, else as UTF-8 if most of it is
 * valid. For any other file, uses `chosenEncoding` or asks for an encoding.
 *
 * @throws ImportRefusedError `too_large`, or `unknown_format` for a binary file; ImportQuestion
 *   `encoding_needed`
 */
export async function decodeText(file: Blob, chosenEncoding?: string): Promise<DecodedText> {
  if (file.size > maxTextBytes) throw new ImportRefusedError("too_large");
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (hasUtf32Mark(bytes)) return decodeUtf32(bytes);
  const encoding = findMark(bytes) ?? findDeclaration(bytes) ?? findUtf16(bytes);
  if (encoding !== null) return decodeAs(encoding, bytes);
  const utf8 = decodeAs("utf-8", bytes);
  if (!utf8.hasReplacedBytes) return utf8;
  if (bytes.includes(0)) throw new ImportRefusedError("unknown_format"); // a binary file
  if (chosenEncoding !== undefined) return decodeAs(chosenEncoding, bytes);
  const replacedCount = count(utf8.text, /\uFFFD/gu);
  if (count(utf8.text, /[^\0-\x7F\uFFFD]/gu) >= replacedCount) return utf8;
  throw new ImportQuestion({ status: "encoding_needed", encodings: listCandidates(bytes) });
}

/**
 * Without what programs leave around a text unseen: further byte order marks, spaces without width
 * or break, zeros, the end sign of DOS.
 */
export function removeInvisibleEnds(text: string): string {
  return text.replace(/^[\u00A0\u200B\u2060\uFEFF]+/, "").replace(/[\0\u001A]+$/, "");
}

function decodeAs(encoding: string, bytes: Uint8Array): DecodedText {
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), hasReplacedBytes: false };
  } catch (cause) {
    if (cause instanceof RangeError) throw new ImportRefusedError("unknown_format", { cause }); // unknown encoding
    return { text: new TextDecoder(encoding).decode(bytes), hasReplacedBytes: true };
  }
}

function findMark([first, second, third]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : null;
}

/** PowerShell writes UTF-32, which `TextDecoder` does not support. */
function hasUtf32Mark([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0xff && second === 0xfe && third === 0 && fourth === 0;
}

function decodeUtf32(bytes: Uint8Array<ArrayBuffer>): DecodedText {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [text, hasReplacedBytes] = ["", bytes.length % 4 !== 0];
  for (let offset = 4; offset + 4 <= bytes.length; offset += 4) {
    const point = view.getUint32(offset, true);
    const isCharacter = point <= 0x10_ffff && (point < 0xd800 || point > 0xdfff);
    text += isCharacter ? String.fromCodePoint(point) : "\uFFFD";
    hasReplacedBytes ||= !isCharacter;
  }
  return { text, hasReplacedBytes };
}

/** Reads the encoding that an XML file declares. Ignores UTF-16, which could not be read here. */
function findDeclaration(bytes: Uint8Array): string | null {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, 256));
  const label = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1];
  if (label === undefined || /^utf-?16/i.test(label)) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null; // unknown encoding: ignore the declaration
  }
}

/** Detects UTF-16 without a byte order mark, if most of the text is ASCII. */
function findUtf16(bytes: Uint8Array): string | null {
  const zeroCounts = [0, 0];
  const head = bytes.subarray(0, 1024);
  for (const [index, byte] of head.entries()) if (byte === 0) zeroCounts[index % 2] = (zeroCounts[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeroCounts;
  if (Math.max(even, odd) < head.length / 4 || Math.min(even, odd) > head.length / 50) return null;
  return odd > even ? "utf-16le" : "utf-16be";
}

/** Possible encodings of the file, likeliest first, each with up to three sample values. */
function listCandidates(bytes: Uint8Array): { readonly encoding: string; readonly samples: readonly string[] }[] {
  const scored = takeForeignLines(bytes);
  const seenTexts = new Set<string>();
  const candidates = [...legacyEncodings, "utf-8"].flatMap((encoding) => {
    const { text, hasReplacedBytes } = decodeAs(encoding, scored);
    if (seenTexts.has(text) || (hasReplacedBytes && encoding !== "utf-8")) return [];
    seenTexts.add(text);
    const values = text.split(/[\r\n,;\t|"<>{}]+/).filter((value) => /[^\0-\x7F]/.test(value));
    const samples = [...new Set(values)].slice(0, sampleCount).map((value) => value.slice(0, maxSampleLength));
    return [{ encoding, samples, score: scoreText(text) }];
  });
  return candidates
    .toSorted((left, right) => right.score - left.score)
    .slice(0, maxCandidates)
    .map(({ encoding, samples }) => ({ encoding, samples }));
}

/** The lines that contain bytes outside ASCII. */
function takeForeignLines(bytes: Uint8Array): Uint8Array {
  const taken: number[] = [];
  let lineStart = 0;
  let isForeign = false;
  for (let index = 0; index <= bytes.length && taken.length < maxScoredBytes; index++) {
    const byte = bytes[index];
    if (byte !== undefined && byte >= 0x80) isForeign = true;
    if (byte !== 0x0a && byte !== 0x0d && byte !== undefined) continue;
    if (isForeign) taken.push(...bytes.subarray(lineStart, Math.min(index, lineStart + maxScoredBytes)), 0x0a);
    [lineStart, isForeign] = [index + 1, false];
  }
  return new Uint8Array(taken);
}

/**
 * Scores a decoded text. Letters raise the score; signs, capitals within words, consecutive accents
 * and words in two scripts lower it.
 */
function scoreText(text: string): number {
  return (
    count(text, /[^\0-\x7F]/gu) +
    count(text, /(?![\0-\x7F])\p{L}/gu) -
    4 * count(text, /(?![\0-\x7F\p{Sc}])[\p{S}\p{C}\p{N}]/gu) -
    4 * count(text, /\p{Ll}\p{Lu}/gu) -
    4 * count(text, /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{Script=Arabic}]/gu) -
    2 * count(text, /\p{Lu}(?![\0-\x7F])\p{Lu}/gu) -
    3 * count(text, /(?:(?![\0-\x7F])\p{Script=Latin}){3}/gu) -
    4 * count(text, /\uFFFD/gu)
  );
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/**
 * Parses JSON.
 * @throws ImportRefusedError `damaged`
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, keepNumberText);
  } catch (cause) {
    if (cause instanceof RangeError) return parseDeepJson(text);
    throw new ImportRefusedError("damaged", { cause });
  }
}

/** Parses without a reviver, which needs a stack as deep as the file's nesting. */
function parseDeepJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ImportRefusedError("damaged", { cause });
  }
}

/** Keeps the text of a number that would lose digits: too many of them, or a trailing zero. */
function keepNumberText(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  // older browsers do not provide the source
  return typeof value === "number" && context?.source !== undefined && context.source !== String(value)
    ? context.source
    : value;
}
