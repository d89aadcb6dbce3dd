const mostBytes = 200;
/** Names that Windows keeps for devices, with any ending. */
const devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/**
 * A file name that is one on every system, from whatever a sealed document says: no folder, no
 * control or direction character, no name of a device, at most 200 bytes. Never empty.
 */
export function safeFileName(name: string): string {
  const plain = name
    .normalize("NFC")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, "_")
    .replaceAll(/^[. ]+|[. ]+$/g, "");
  const short = shortened(plain);
  if (short === "") return "secret";
  return devices.test(short) ? `_${short}` : short;
}

/** Keeps the ending, where there is one. */
function shortened(name: string): string {
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  const letters = Array.from(name.slice(0, name.length - ending.length));
  const size = (text: string): number => new TextEncoder().encode(text).length;
  while (letters.length > 0 && size(letters.join("") + ending) > mostBytes) letters.pop();
  return letters.join("") + ending;
}

/** Text that a terminal or a line shows as text: control and direction characters are taken out. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").trim();
}
