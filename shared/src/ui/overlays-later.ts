import { createLater } from "./later.ts";

/** Dialogs and menus: a third of what a page would otherwise begin with, and nobody needs them before touching it. */
export const overlays = createLater(() => import("./overlays.ts"));
