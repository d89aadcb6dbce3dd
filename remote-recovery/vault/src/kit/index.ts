/** Kits for other programs: reading one, and opening it with its picture. */
export { detachedContentName, kitElementId, type Kit, type KitRefusal } from "./kit-document.ts";
export { renderPart, placeholders, readKitFile } from "./kit-file.ts";
export {
  openDetachedContent,
  openEmbeddedContent,
  openKit,
  requiresPassphrase,
  type KitSecret,
  type OpenedKit,
} from "./open-kit.ts";
export { toSingleLine, safeFileName } from "./safe-name.ts";
