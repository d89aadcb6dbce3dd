/** Kits for other programs: reading one, and opening it with its picture. */
export { besideName, kitElement, type Kit, type KitRefusal } from "./kit-document.ts";
export { partHtml, places, readKitFile } from "./kit-file.ts";
export { contentBeside, contentInside, openKit, takesPassphrase, type KitSecret, type OpenedKit } from "./open-kit.ts";
export { oneLine, safeFileName } from "./safe-name.ts";
