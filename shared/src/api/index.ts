export { ProviderCerts, SessionClaims, TokenCerts, TokenExchange } from "./auth.ts";
export { canonicalBytes, canonicalText, parseCanonical, type Json } from "./canonical.ts";
export { createHttp, readMayPass, readRetries, type HttpSettings } from "./client.ts";
export { ImageRecord, ImageRecords, Keyring, KeyringChange, KeyringChanged, KeyStatement, OpenerKind, Recipient, Slot } from "./keyring.ts";
export * from "./limits.ts";
export { ProblemDocument } from "./problem.ts";
export {
  AnswerCollected,
  AnswerFinished,
  answerPath,
  AnswerStarted,
  AnswerState,
  answerTokenHeader,
  CollectAnswer,
  CollectedRequest,
  CreateRequest,
  DropRequest,
  FinishAnswer,
  GetRequest,
  RequestId,
  RequestList,
  RequestOffer,
  RequestState,
  RequestStored,
  StartAnswer,
} from "./requests.ts";
export { downloadPath, GetSecret, ListQuery, SecretContent, SecretPage, SecretStored, SecretVersions, SetFavorite, StoredSecret, StoreSecret, VersionLine } from "./secrets.ts";
export {
  Audience,
  ChangeShare,
  CreateShare,
  DownloadShared,
  OpenShare,
  OwnShare,
  Person,
  ReportShare,
  ShareClaimed,
  sharedDownloadPath,
  ShareEnd,
  ShareId,
  ShareList,
  ShareListQuery,
  ShareLook,
  ShareOffer,
  ShareStored,
  SharesWithMe,
} from "./shares.ts";
export { FinishUpload, formOfPart, PartFields, ReceivedPart, StartUpload, uploadPath, UploadStarted, UploadState } from "./uploads.ts";
export { ContactEmail, ContactEmailValidated, Me, UpdateMe, UserName, ValidateContactEmail } from "./users.ts";
export { Vendor, VendorId } from "./vendors.ts";
export { bytesB64u, compactJwe, Counter, Digest, fromB64u, Id, Signature, Timestamp, toB64u } from "./wire.ts";
export { hasValidSignature, signaturePrefixes, signedBytes, type SignaturePrefix } from "./signed.ts";
