/**
 * What the host gives to everybody who imports `zod`: all of it but its languages, 45 kB (gzip) in
 * two places, which have a door of their own (`zod/locales`). By plain re-exports, since a
 * namespace that is shared is never shaken. Of the names in zod-parts.ts and zod-core.ts `pnpm
 * surface` makes sure.
 */
export * from "./zod-parts.ts";
export * as z from "./zod-parts.ts";
export * as default from "./zod-parts.ts";
