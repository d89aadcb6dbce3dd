/**
 * What pages take from this door; a test holds that they ask for no more. The rest is for the vault's workers and the
 * service: the curve that checks signatures alone is 14 kB after gzip. The host's build shares this file as `@relicario/shared/api`.
 */
export { ProviderCerts, SessionClaims, TokenCerts, TokenExchange } from "./auth.ts";
export { createHttp, type HttpSettings } from "./client.ts";
export * from "./limits.ts";
export { ContactEmail, ContactEmailValidated, Me, UserName, ValidateContactEmail } from "./users.ts";
export { Vendor, VendorId } from "./vendors.ts";
export { bytesB64u, Counter, Digest, fromB64u, Id } from "./wire.ts";
