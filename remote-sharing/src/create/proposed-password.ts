import type { Language } from "@relicario/shared/contract";
import { loadWords } from "@relicario/shared/forms";

const count = 4;
/** No accents, so that it is typed the same on every keyboard. */
const plain = /^[a-z]+$/;

/**
 * Four words with a space between them, each drawn from the plain words of the BIP-39 list of the
 * portal's language: of 2,048 in English (44 bits), of some 1,700 in Spanish (43 bits). Whoever has
 * the link has ten tries at the service.
 */
export async function proposePassword(language: Language): Promise<string> {
  const list = (await loadWords(language === "es" ? "spanish" : "english")).filter((word) => plain.test(word));
  return Array.from({ length: count }, () => draw(list)).join(" ");
}

/** Each with equal chances: numbers beyond the last multiple of the length are drawn again. */
function draw(list: readonly string[]): string {
  const most = 65_536 - (65_536 % list.length);
  const drawn = new Uint16Array(1);
  do crypto.getRandomValues(drawn);
  while ((drawn[0] ?? most) >= most);
  return list[(drawn[0] ?? 0) % list.length] ?? "";
}
