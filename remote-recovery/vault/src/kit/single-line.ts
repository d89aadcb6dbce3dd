/**
 * Replaces control and direction characters by spaces, so that a terminal displays nothing but
 * text.
 */
export function toSingleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").trim();
}
