/** What is drawn over a page, with the primitives that it takes. Fetched once somebody touches the page: overlays-later.ts. */
export { DialogSheet } from "./DialogSheet.tsx";
export { MenuSheet } from "./MenuSheet.tsx";
