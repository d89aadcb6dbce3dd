/** Settings from which one-time codes are computed (RFC 4226, RFC 6238, Steam). */
export interface OneTimeCodeSettings {
  readonly kind: "totp" | "hotp";
  /** Shared secret of the codes. */
  readonly secretBytes: Uint8Array<ArrayBuffer>;
  readonly algorithm: "SHA-1" | "SHA-256" | "SHA-512";
  readonly digits: number;
  /** Period of a code of kind `totp`, in seconds. */
  readonly period: number;
  /** First counter of kind `hotp`. */
  readonly counter: number;
  /** Whether codes have Steam's letters and digits instead of decimal digits. */
  readonly isSteam: boolean;
}

const algorithms: ReadonlyMap<string, OneTimeCodeSettings["algorithm"]> = new Map([
  ["SHA1", "SHA-1"],
  ["SHA256", "SHA-256"],
  ["SHA512", "SHA-512"],
]);
const steamLetters = "23456789BCDFGHJKMNPQRTVWXY";
const base32Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/**
 * Parses an `otpauth:` or `steam:` URL, or a seed in base32. Null for anything else, including a
 * URL whose algorithm, number of digits or period is invalid.
 */
export function parseOneTimeCode(text: string): OneTimeCodeSettings | null {
  const [, scheme, path = "", query = ""] = /^(otpauth|steam):\/\/([^?]*)\??(.*)/is.exec(text.trim()) ?? [];
  const isAddress = scheme?.toLowerCase() === "otpauth";
  const type = isAddress ? (path.split("/")[0] ?? "").toLowerCase() : scheme === undefined ? "totp" : "steam";
  if (!["totp", "hotp", "steam"].includes(type)) return null;
  const parameters = [...new URLSearchParams(isAddress ? query.replace(/#[^&]*/g, "") : "")]; // a name may contain "#"
  const read = (name: string): string | null => parameters.find(([key]) => key.toLowerCase() === name)?.[1] ?? null;
  const isSteam = type === "steam" || read("encoder")?.toLowerCase() === "steam";
  const secretBytes = decodeBase32(isAddress ? (read("secret") ?? "") : scheme === undefined ? text : path);
  const algorithmName = (read("algorithm") ?? "SHA1").toUpperCase().replace(/^HMAC|[^A-Z\d]/g, "");
  const algorithm = algorithms.get(algorithmName);
  const digits = readInteger(read("digits"), isSteam ? 5 : 6, 4, 10);
  const period = readInteger(read("period"), 30, 1, 86_400);
  const counter = readInteger(read("counter"), 0, 0, Number.MAX_SAFE_INTEGER);
  if (secretBytes === null || algorithm === undefined || digits === null || period === null || counter === null)
    return null;
  return { kind: type === "hotp" ? "hotp" : "totp", secretBytes, algorithm, digits, period, counter, isSteam };
}

/** Returns the number of whole periods since 1970, which is the counter of kind `totp`. */
export function countPeriods({ period }: Pick<OneTimeCodeSettings, "period">, epochMilliseconds: number): number {
  return Math.floor(epochMilliseconds / 1000 / period);
}

/** Computes the code for a counter or a number of periods (RFC 4226 5.3, RFC 6238 4). */
export async function computeOneTimeCode(settings: OneTimeCodeSettings, counter: number): Promise<string> {
  const { secretBytes, algorithm, digits, isSteam } = settings;
  const key = await crypto.subtle.importKey("raw", secretBytes, { name: "HMAC", hash: algorithm }, false, ["sign"]);
  const message = new DataView(new ArrayBuffer(8));
  message.setBigUint64(0, BigInt(counter));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, message.buffer));
  let number = mac.getUint32(mac.getUint8(mac.byteLength - 1) & 0xf) & 0x7fffffff;
  if (!isSteam) return String(number % 10 ** digits).padStart(digits, "0");
  let code = "";
  while (code.length < digits) {
    code += steamLetters.charAt(number % steamLetters.length);
    number = Math.floor(number / steamLetters.length);
  }
  return code;
}

/** Splits a code of even length in two halves, to make it easier to read. */
export function formatOneTimeCode(code: string): string {
  const half = code.length / 2;
  return Number.isInteger(half) ? `${code.slice(0, half)} ${code.slice(half)}` : code;
}

/**
 * Decodes leniently, because people type seeds: ignores letter case, spaces, hyphens and padding.
 */
function decodeBase32(text: string): Uint8Array<ArrayBuffer> | null {
  const letters = text.toUpperCase().replace(/[\s=-]/g, "");
  const bytes = new Uint8Array(Math.floor((letters.length * 5) / 8));
  let [buffer, bits, length] = [0, 0, 0];
  for (const letter of letters) {
    const value = base32Letters.indexOf(letter);
    if (value < 0) return null;
    buffer = ((buffer << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = buffer >> bits;
  }
  return bytes.length === 0 ? null : bytes;
}

/**
 * Parses an integer parameter, such as `30` or `30.0`. Returns the default for a missing one, null
 * for an invalid one.
 */
function readInteger(text: string | null, fallback: number, min: number, max: number): number | null {
  if (text === null || text === "") return fallback;
  const value = /^\d+(?:\.0+)?$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : null;
}
