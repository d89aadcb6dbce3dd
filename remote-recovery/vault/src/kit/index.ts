/** Exports for the build of a kit's template. */
export { kitElementId } from "./kit-document.ts";
export { renderProgramPart, placeholders } from "./kit-file.ts";
