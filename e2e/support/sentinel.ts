import { randomInt } from "node:crypto";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** 16 random characters: whoever finds them found what was typed. */
export function createSentinel(): string {
  return Array.from({ length: 16 }, () => letters[randomInt(letters.length)]).join("");
}
