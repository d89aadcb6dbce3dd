export { Deployment, Integrity, PortalPage, ReleaseId, ReleaseRecord, VerificationKey } from "./deployment.ts";
export { accountName, keptOnDevice, openedFileLock, type DeviceAccount } from "./device.ts";
export type { Http, HttpMethod, HttpOptions, HttpStream } from "./http.ts";
export { blocksLeaving, useLeaveGuard, useLeaveQuestion, type LeaveGuard } from "./leaving.ts";
export { hostNamespaces, pathsOverlap, RemoteManifest, RemoteName, type ManifestRoute } from "./manifest.ts";
export {
  languages,
  PortalContext,
  usePortal,
  type ConfirmRequest,
  type Language,
  type LockReason,
  type Notice,
  type Portal,
  type PortalMessage,
  type PortalUser,
  type PortalVendor,
  type Report,
  type ThemeName,
} from "./portal.ts";
export { dueForRehearsal, rehearsalDays, rehearsalDueAt } from "./rehearsal.ts";
export {
  capabilities,
  CONTRACT_VERSION,
  type Capability,
  type LinkSecret,
  type LoadPage,
  type PortalForServices,
  type RemoteModule,
  type RemoteServices,
  type RemoteTour,
  type VaultFactory,
} from "./remote.ts";
export {
  autoLockMinutes,
  type AgeFile,
  type AutoLock,
  type CallOptions,
  type ContentKind,
  type DeviceKind,
  type ExportedSecrets,
  type ListOptions,
  type PictureFieldProps,
  type ProtectRequest,
  type RecoveredSecret,
  type RecoverOptions,
  type RecoveryImage,
  type ResumeOptions,
  type RowsListener,
  type SecretChange,
  type SecretLabel,
  type SecretRow,
  type SecretVersion,
  type ShownImage,
  type Vault,
  type VaultProgress,
  type VaultState,
  type WaitingUpload,
} from "./vault.ts";
