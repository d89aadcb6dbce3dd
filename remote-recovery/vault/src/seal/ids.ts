import { randomBytes } from "./bytes.ts";

/** Generates a UUID version 7 (RFC 9562 5.7): 48 bits of milliseconds, then random bits. */
export function newId(now: number): string {
  const bytes = randomBytes(16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(now / 2 ** 32));
  view.setUint32(2, now % 2 ** 32);
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Formats a time as RFC 3339, in UTC with milliseconds. */
export function formatTimestamp(now: number): string {
  return new Date(now).toISOString();
}
