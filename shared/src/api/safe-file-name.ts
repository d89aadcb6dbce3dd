const maxNameBytes = 200;
/** Names that Windows reserves for devices, with any extension. */
const deviceNames = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)/i;
/** Endings of files that a system follows as shortcuts or obeys as settings of their folder. */
const actingEndings = /\.(lnk|url|scf|desktop|webloc|library-ms|searchconnector-ms|local|\{[0-9a-f-]*\})$/i;

/**
 * Turns a name that someone else may have chosen into a file name that is safe on every system: no
 * folder, no control or direction character, no device name, no shortcut (`report.pdf.lnk`), at
 * most 200 bytes. Never empty.
 */
export function toSafeFileName(name: string): string {
  const cleaned = name
    .normalize("NFC")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, "_")
    .replaceAll(/^[. ]+|[. ]+$/g, "");
  const shortened = shorten(cleaned.replace(actingEndings, "$&.download")); // as Chromium saves it
  if (shortened === "") return "secret";
  return deviceNames.test(shortened) ? `_${shortened}` : shortened;
}

/** Shortens a name, but keeps its extension. */
function shorten(name: string): string {
  const ending = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  const characters = Array.from(name.slice(0, name.length - ending.length));
  const byteLength = (text: string): number => new TextEncoder().encode(text).length;
  while (characters.length > 0 && byteLength(characters.join("") + ending) > maxNameBytes) characters.pop();
  return characters.join("") + ending;
}
