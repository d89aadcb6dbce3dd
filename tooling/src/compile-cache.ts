import { join } from "node:path";

import { rootFolder } from "./paths.ts";

/**
 * Environment of a process of ours: sources that were stripped of their types once are not again.
 * Less memory at rest, and a sooner start.
 */
export const compileCacheEnvironment = { NODE_COMPILE_CACHE: join(rootFolder, ".cache/compile") } as const;
