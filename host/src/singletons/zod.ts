/**
 * What the host gives to everybody who imports `zod`. Shared, so that no remote brings it again; less what no page uses, so
 * that all of it is not in the first download. The build puts this in place of the package.
 */
export * as z from "./zod-parts.ts";
