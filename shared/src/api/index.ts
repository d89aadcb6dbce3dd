export {
  Activity,
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
export { createHttp, readMayPass, readRetries, type HttpSettings } from "./client.ts";
export {
  AnswerDeviceLink,
  DeviceLink,
  DeviceLinkAnswer,
  DeviceLinkFilled,
  DeviceLinkId,
  FillDeviceLink,
} from "./device-links.ts";
export { SendFeedback } from "./feedback.ts";
export {
  ImageRecord,
  ImageRecords,
  Keyring,
  KeyringChange,
  KeyringChanged,
  KeyStatement,
  OpenerKind,
  Recipient,
  RowsStaged,
  Slot,
  StagedRow,
  StagedRows,
  StageRows,
} from "./keyring.ts";
export * from "./limits.ts";
export { ChangePassword, PasswordRefusal, PasswordRule, PasswordRules } from "./passwords.ts";
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
export {
  downloadPath,
  GetSecret,
  ListQuery,
  type NewSecret,
  SecretContent,
  SecretPage,
  SecretsStored,
  SecretStored,
  SecretVersions,
  SetFavorite,
  StoredSecret,
  StoreSecret,
  StoreSecrets,
  VersionLine,
} from "./secrets.ts";
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
export {
  FinishUpload,
  formOfPart,
  PartFields,
  ReceivedPart,
  StartUpload,
  uploadPath,
  UploadStarted,
  UploadState,
} from "./uploads.ts";
export { OwnSession, OwnSessions } from "./sessions.ts";
export {
  loadPhases,
  maxTelemetryEvents,
  Telemetry,
  telemetryBounds,
  TelemetrySums,
  vitalMetrics,
} from "./telemetry.ts";
export {
  ContactEmail,
  ContactEmailValidated,
  EndStartAnew,
  mailTopics,
  Me,
  Notifications,
  StartAnew,
  Unsubscribe,
  UpdateMe,
  UserName,
  userNameRefusals,
  UserNameValid,
  ValidateContactEmail,
  ValidateUserName,
  type MailTopic,
} from "./users.ts";
export { Vendor, VendorId } from "./vendors.ts";
export { bytesB64u, compactJwe, Counter, Digest, fromB64u, Id, Signature, Timestamp, toB64u } from "./wire.ts";
export { hasValidSignature, signaturePrefixes, signedBytes, type SignaturePrefix } from "./signed.ts";
