import { randomInt } from "node:crypto";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** 16 random characters, found only where the typed text is. */
export function createSentinel(): string {
  return Array.from({ length: 16 }, () => letters[randomInt(letters.length)]).join("");
}
