import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const rootFolder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
