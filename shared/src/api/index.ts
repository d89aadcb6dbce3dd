export {
  ActivityResponse,
  ActivityEntry,
  ActivityKind,
  activityKinds,
  ActivityQuery,
  activityTopics,
  type ActivityTopic,
} from "./activity.ts";
export { ProviderCerts, SessionClaims, TokenCerts, TokenExchange } from "./auth.ts";
export { Billing, BillingRecord, Invoice, InvoiceState } from "./billing.ts";
export { canonicalBytes, canonicalText, parseCanonical, type Json } from "./canonical.ts";
export { createHttp, isRetryableRead, readRetryPolicy, type HttpSettings } from "./client.ts";
export {
  AnswerDeviceLinkBody,
  DeviceLink,
  DeviceLinkAnswer,
  FillDeviceLinkResponse,
  DeviceLinkId,
  FillDeviceLinkBody,
} from "./device-links.ts";
export { FeedbackBody } from "./feedback.ts";
export {
  ImageRecord,
  ImageRecords,
  Keyring,
  KeyringChange,
  KeyringChangeResponse,
  KeyStatement,
  OpenerKind,
  Recipient,
  StageRowsResponse,
  Slot,
  StagedRow,
  StageManifest,
  StageRowsBody,
} from "./keyring.ts";
export * from "./limits.ts";
export { ChangePasswordBody, PasswordRejection, PasswordRule, PasswordRules } from "./passwords.ts";
export { ProblemDocument } from "./problem.ts";
export {
  CollectAnswerResponse,
  FinishAnswerResponse,
  answerPath,
  StartAnswerResponse,
  AnswerState,
  answerTokenHeader,
  CollectAnswerBody,
  MarkCollectedBody,
  CreateRequestBody,
  DropRequestBody,
  FinishAnswerBody,
  GetRequestBody,
  RequestId,
  RequestList,
  RequestOffer,
  RequestState,
  RequestWriteResponse,
  StartAnswerBody,
} from "./requests.ts";
export {
  downloadPath,
  GetSecretBody,
  SecretListQuery,
  type NewSecret,
  SecretContent,
  SecretPage,
  StoreSecretsResponse,
  StoreSecretResponse,
  SecretVersions,
  SetFavoriteBody,
  StoredSecret,
  StoreSecretBody,
  StoreSecretsBody,
  VersionRecord,
} from "./secrets.ts";
export {
  Audience,
  ChangeShareBody,
  CreateShareBody,
  SharedDownloadBody,
  OpenShareBody,
  OwnShare,
  Person,
  ReportShareBody,
  ShareClaim,
  sharedDownloadPath,
  ShareEndReason,
  ShareId,
  ShareList,
  ShareListQuery,
  ShareInfo,
  ShareOffer,
  ShareWriteResponse,
  ReceivedShares,
} from "./shares.ts";
export {
  FinishUploadBody,
  buildPartForm,
  PartFields,
  ReceivedPart,
  StartUploadFields,
  uploadPath,
  StartUploadResponse,
  UploadState,
} from "./uploads.ts";
export { OwnSession, OwnSessions } from "./sessions.ts";
export {
  loadPhases,
  maxTelemetryEvents,
  Telemetry,
  telemetryBucketBounds,
  TelemetrySums,
  vitalMetrics,
} from "./telemetry.ts";
export {
  ContactEmail,
  ValidateContactEmailResponse,
  EndAccountResetQuery,
  mailTopics,
  Me,
  Notifications,
  AccountReset,
  UnsubscribeQuery,
  UpdateMeBody,
  UserName,
  userNameRejections,
  ValidateUserNameResponse,
  ValidateContactEmailQuery,
  ValidateUserNameQuery,
  type MailTopic,
} from "./users.ts";
export { Vendor, VendorId } from "./vendors.ts";
export { bytesB64u, compactJwe, Counter, Digest, fromB64u, Id, Signature, Timestamp, toB64u } from "./wire.ts";
export { hasValidSignature, signaturePrefixes, signedBytes, type SignaturePrefix } from "./signed.ts";
