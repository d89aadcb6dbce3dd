import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the checkout. */
export const rootFolder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
