/** Of a kit's file, for the build that makes its template. */
export { kitElementId } from "./kit-document.ts";
export { renderProgramPart, placeholders } from "./kit-file.ts";
