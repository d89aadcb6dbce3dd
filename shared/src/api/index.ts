export {
  ActivityResponse,
  ActivityEntry,
  ActivityKind,
  activityKindsByTopic,
  ActivityQuery,
  activityTopics,
  type ActivityTopic,
} from "./activity.ts";
export { ProviderJwks, SessionClaims, TokenJwks, TokenExchangeBody } from "./auth.ts";
export { createAuthorisedHttpClient, type TokenSource } from "./authorised-client.ts";
export { Billing, BillingRecord, Invoice, InvoiceState } from "./billing.ts";
export { encodeCanonical, stringifyCanonical, parseCanonical, type Json } from "./canonical.ts";
export { createHttpClient, isRetryableRead, readRetryPolicy, type HttpClientSettings } from "./client.ts";
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
  StageQuery,
  StageRowsBody,
} from "./keyring.ts";
export * from "./limits.ts";
export {
  computeOneTimeCode,
  countPeriods,
  formatOneTimeCode,
  parseOneTimeCode,
  type OneTimeCodeSettings,
} from "./one-time-code.ts";
export type { PageQuery } from "./pages.ts";
export { ChangePasswordBody, PasswordRejection, PasswordRule, PasswordRules } from "./passwords.ts";
export { ProblemDocument } from "./problem.ts";
export {
  contentKinds,
  formatRecordText,
  isDay,
  parseRecord,
  RecordField,
  recordFieldKinds,
  recordFileName,
  recordMime,
  stringifyRecord,
  type RecordFieldKind,
} from "./record.ts";
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
  VersionQuery,
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
export { toSafeFileName } from "./safe-file-name.ts";
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
  TelemetryBody,
  telemetryBucketBounds,
  TelemetryQuery,
  TelemetrySums,
  vitalMetrics,
} from "./telemetry.ts";
export {
  ContactEmail,
  ValidateContactEmailResponse,
  EndAccountResetQuery,
  mailTopics,
  Me,
  NotificationSettings,
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
export { VendorId } from "../contract/vendor-id.ts";
export { Vendor } from "./vendors.ts";
export {
  base64urlBytes,
  compactJwe,
  PositiveInt,
  Digest,
  fromBase64url,
  Id,
  Signature,
  Timestamp,
  toBase64url,
} from "./wire.ts";
export { needsAuthorSignature, TicketSignature } from "./authority.ts";
