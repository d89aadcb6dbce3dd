const maxNameBytes = 200;
/** Names that Windows keeps for devices, with any ending. */
const deviceNames = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/**
 * A file name that is one on every system, from whatever a sealed document says: no folder, no
 * control or direction character, no name of a device, at most 200 bytes. Never empty.
 */
export function toSafeFileName(name: string): string {
  const cleaned = name
    .normalize("NFC")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, "_")
    .replaceAll(/^[. ]+|[. ]+$/g, "");
  const shortened = shorten(cleaned);
  if (shortened === "") return "secret";
  return deviceNames.test(shortened) ? `_${shortened}` : shortened;
}

/** Keeps the ending, where there is one. */
function shorten(name: string): string {
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  const characters = Array.from(name.slice(0, name.length - ending.length));
  const byteLength = (text: string): number => new TextEncoder().encode(text).length;
  while (characters.length > 0 && byteLength(characters.join("") + ending) > maxNameBytes) characters.pop();
  return characters.join("") + ending;
}

/** Text that a terminal or a line shows as text: control and direction characters are taken out. */
export function toSingleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").trim();
}
