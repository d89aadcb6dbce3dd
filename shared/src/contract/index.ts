export { isSameSiteVault, Origin } from "./addresses.ts";
export type {
  CallOptions,
  ContentKind,
  PictureFieldProps,
  OpenedContent,
  OpenedHandle,
  OpenedSecret,
  OpenedViewProps,
  RecoveryImage,
  OpenerHandle,
  VaultProgress,
} from "./contents.ts";
export {
  Deployment,
  Integrity,
  PortalTrustAnchors,
  ReleaseId,
  ReleaseOverride,
  ReleaseRecord,
  VaultPage,
  vaultRemote,
  VerificationKey,
} from "./deployment.ts";
export { buildAccountStorageKey, deviceStorage, buildOpenedFileLockName, type DeviceAccount } from "./device.ts";
export type { ApprovedDevice, RequestingDevice, DeviceOffer, VaultDeviceLinks } from "./device-links.ts";
export type { Drives } from "./drives.ts";
export { chosenStrength, requiredStrength, type StrengthLevel } from "./strength-level.ts";
export { estimateStrength, pickRandomWord, proposePassphrase } from "./strength.ts";
export type { HttpClient, HttpMethod, HttpRequestOptions, StreamedResponse } from "./http-client.ts";
export {
  columnRoles,
  importFormats,
  unreadableFormats,
  type ColumnRole,
  type ImportFailure,
  type ImportFormat,
  type ImportItem,
  type ImportKind,
  type ImportComparison,
  type ImportQuestion,
  type ImportReadResult,
  type ImportReadOptions,
  type ImportResult,
  type UnreadableFormat,
  type VaultImports,
} from "./imports.ts";
export {
  createChannel,
  createWindowEndpoint,
  type Channel,
  type ChannelEndpoint,
  type ChannelMembers,
  type MessageTarget,
} from "./channel.ts";
export { shouldBlockLeaving, useLeaveGuard, useLeaveConfirmation, type LeaveGuard } from "./leave-guard.ts";
export {
  destinationPaths,
  hostNamespaces,
  hostPaths,
  pathsOverlap,
  plainPath,
  RemoteManifest,
  RemoteName,
  type ManifestRoute,
  type NavigationEntry,
} from "./manifest.ts";
export { languages, type Language } from "./language.ts";
export { pageStorage } from "./page-storage.ts";
export {
  PortalContext,
  usePortal,
  type ConfirmOptions,
  type LockReason,
  type Notice,
  type Portal,
  type PortalHandover,
  type PortalMessage,
  type PortalUser,
  type PortalVendor,
  type FailureReport,
  type ThemeName,
} from "./portal.ts";
export type {
  AccountOpener,
  ResealedSecrets,
  OpenerKind,
  OpenersOverview,
  RecoveryCode,
  RotationResult,
  SecretOpeners,
  VaultOpeners,
} from "./openers.ts";
export type { AccountResetStatus, VaultAccountReset } from "./account-reset.ts";
export { findDueCopyChecks, copyCheckIntervalDays, getNextCopyCheckAt } from "./copy-check.ts";
export {
  capabilities,
  CONTRACT_VERSION,
  type Capability,
  type LinkSecret,
  type LoadPage,
  type PortalForServices,
  type PortalForVisitors,
  type PortalServiceMembers,
  type RemoteModule,
  type RemoteServices,
  type RemoteTour,
  type ServiceDialogProps,
  type VaultFactory,
  type VisitorFactory,
} from "./remote.ts";
export {
  parsePersonDetails,
  type RequestRow,
  type PersonRecord,
  type RequestPreview,
  type SharePreview,
  type OpenedAnswer,
  type OpenedShare,
  type PersonDetails,
  type PersonKeys,
  type ProvidedSecret,
  type ReceivedShare,
  type SecretRequest,
  type SecretShare,
  type Sender,
  type ShareAudience,
  type ShareDiscrepancy,
  type ShareSummary,
  type NewShareInput,
  type TrustLevel,
  type VaultPeople,
  type VaultReceived,
  type VaultRequests,
  type VaultShares,
  type Visitor,
} from "./sharing.ts";
export { VendorId } from "./vendor-id.ts";
export {
  autoLockMinutes,
  keepOpenDurations,
  keepOpenStatuses,
  type AutoLock,
  type KeepOpen,
  type KeepOpenDuration,
  type KeepOpenStatus,
  type DeviceKind,
  type HistoryWords,
  type ExportedSecrets,
  type KitRecord,
  type KitOptions,
  type ListOptions,
  type CreatedKit,
  type NewSecretInput,
  type OpenSecretOptions,
  type ResumeOptions,
  type RowsListener,
  type SecretChange,
  type SecretLabel,
  type SecretRow,
  type SecretVersion,
  type Vault,
  type VaultState,
  type PendingUpload,
} from "./vault.ts";
