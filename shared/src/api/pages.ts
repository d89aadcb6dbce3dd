/**
 * What pages take from this door: all but the checking of signatures, whose curve is 14 kB after gzip and which only the
 * vault's worker and the service do. The host's build shares this file as `@relicario/shared/api`.
 */
export { ProviderCerts, SessionClaims, TokenCerts, TokenExchange } from "./auth.ts";
export { canonicalBytes, canonicalText, parseCanonical, type Json } from "./canonical.ts";
export { createHttp, type HttpSettings } from "./client.ts";
export { ImageRecord, ImageRecords, Keyring, KeyringChange, KeyringChanged, KeyStatement, OpenerKind, Recipient, Slot } from "./keyring.ts";
export * from "./limits.ts";
export { ProblemDocument } from "./problem.ts";
export { GetSecret, ListQuery, SecretContent, SecretPage, SecretStored, SetFavorite, StoredSecret, StoreSecret } from "./secrets.ts";
export { FinishUpload, formOfPart, PartFields, ReceivedPart, StartUpload, uploadPath, UploadStarted, UploadState } from "./uploads.ts";
export { ContactEmail, ContactEmailValidated, Me, UpdateMe, UserName, ValidateContactEmail } from "./users.ts";
export { Vendor, VendorId } from "./vendors.ts";
export { bytesB64u, compactJwe, Counter, Digest, fromB64u, Id, Signature, Timestamp, toB64u } from "./wire.ts";
