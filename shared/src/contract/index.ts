export type {
  AgeFile,
  CallOptions,
  ContentKind,
  PictureFieldProps,
  RecoveredSecret,
  RecoveryImage,
  ShownImage,
  VaultProgress,
} from "./contents.ts";
export {
  Deployment,
  Integrity,
  PortalPage,
  ReleaseId,
  ReleaseOverride,
  ReleaseRecord,
  VerificationKey,
} from "./deployment.ts";
export { accountName, keptOnDevice, openedFileLock, type DeviceAccount } from "./device.ts";
export type { AdmittedDevice, AskingDevice, DeviceOffer, VaultDeviceLinks } from "./device-links.ts";
export type { Drives } from "./drives.ts";
export type { Http, HttpMethod, HttpOptions, HttpStream } from "./http.ts";
export {
  importFormats,
  type ImportFailure,
  type ImportFormat,
  type ImportItem,
  type ImportKind,
  type ImportStanding,
  type ReadImport,
  type ReadOptions,
  type StoredImport,
  type VaultImports,
} from "./imports.ts";
export { blocksLeaving, useLeaveGuard, useLeaveQuestion, type LeaveGuard } from "./leaving.ts";
export { hostNamespaces, pathsOverlap, RemoteManifest, RemoteName, type ManifestRoute } from "./manifest.ts";
export { languages, type Language } from "./language.ts";
export {
  PortalContext,
  usePortal,
  type ConfirmRequest,
  type LockReason,
  type Notice,
  type Portal,
  type PortalMessage,
  type PortalUser,
  type PortalVendor,
  type Report,
  type ThemeName,
} from "./portal.ts";
export type {
  AccountOpener,
  CoveredSecrets,
  OpenerKind,
  OpenersOverview,
  RecoveryCode,
  RotatedAccount,
  SecretOpeners,
  VaultOpeners,
} from "./openers.ts";
export type { StartAnewStatus, VaultStartAnew } from "./start-anew.ts";
export { dueForRehearsal, rehearsalDays, rehearsalDueAt } from "./rehearsal.ts";
export {
  capabilities,
  CONTRACT_VERSION,
  type Capability,
  type LinkSecret,
  type LoadPage,
  type PortalForServices,
  type PortalForVisitors,
  type RemoteModule,
  type RemoteServices,
  type RemoteTour,
  type VaultFactory,
  type VisitorFactory,
} from "./remote.ts";
export {
  personDetails,
  type AskedRow,
  type FoundPerson,
  type OfferedRequest,
  type OfferedShare,
  type OpenedAnswer,
  type OpenedContent,
  type OpenedShare,
  type PersonDetails,
  type PersonKeys,
  type ProvidedSecret,
  type ReceivedShare,
  type SecretRequest,
  type SecretShare,
  type Sender,
  type ShareAudience,
  type ShareDoubt,
  type ShareMark,
  type ShareRequest,
  type Standing,
  type VaultPeople,
  type VaultReceived,
  type VaultRequests,
  type VaultShares,
  type Visitor,
} from "./sharing.ts";
export {
  autoLockMinutes,
  type AutoLock,
  type DeviceKind,
  type ExportedSecrets,
  type KitOfSecret,
  type KitOptions,
  type ListOptions,
  type MadeKit,
  type ProtectRequest,
  type RecoverOptions,
  type ResumeOptions,
  type RowsListener,
  type SecretChange,
  type SecretLabel,
  type SecretRow,
  type SecretVersion,
  type Vault,
  type VaultState,
  type WaitingUpload,
} from "./vault.ts";
