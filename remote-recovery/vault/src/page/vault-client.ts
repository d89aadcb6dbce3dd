import { PositiveInt, Digest, maxSmallContentBytes } from "@relicario/shared/api";
import {
  autoLockMinutes,
  type CallOptions,
  type DeviceAccount,
  type RecoveryCode,
  type SecretRow,
  type Vault,
} from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { archiveDeviceRecord, readDeviceRecord } from "../device/device.ts";
import type { PageEnvironment } from "../device/idle-lock.ts";
import type { PictureVerdict } from "../operations/examine.ts";
import { releaseOpener, resolveChange, resolveProtection } from "../rpc/presented-opener.ts";
import { callRunning, createCallWorker } from "../rpc/call-running.ts";
import { collectHandles } from "../rpc/opener-handles.ts";
import type { NotedMark } from "../seal/mark.ts";
import type { PlainMembers } from "../transfer/plain-content.ts";
import type { VaultOperations } from "../worker/vault-operations.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { WorkerStarter } from "./browser-workers.ts";
import { createPlainContent, isTransferredContent } from "./opened-content.ts";
import { withOperations } from "./operation-members.ts";
import { createDownloads } from "./downloads.ts";
import { createTransferWorkers } from "./transfer-workers.ts";
import { createUploads } from "./uploads.ts";
import { createVaultAccountReset } from "./vault-account-reset.ts";
import { createVaultImports } from "./vault-imports.ts";
import type { VaultPortal } from "./vault-portal.ts";
import { createVaultWorker, type VaultDeviceSettings } from "./vault-worker.ts";

export type { PictureVerdict };

/** Judges a picture. Only for the recovery area. */
export type ExaminePicture = (picture: Blob, options?: CallOptions) => Promise<PictureVerdict>;

/** Members of the contract that only the vault's frame implements, which holds opened contents. */
type FrameMember = "PictureField" | "protectOpened" | "openText";

/**
 * The contract's vault without what its frame adds, with plain contents, plus the members that only
 * the recovery area may call.
 */
export interface VaultClient
  extends
    PlainMembers<Omit<Vault, FrameMember | "received" | "requests">>,
    Pick<VaultParts, "examine" | "generateRecoveryCode"> {
  readonly received: PlainMembers<Vault["received"]>;
  readonly requests: PlainMembers<Vault["requests"]>;
}

/** The default for an unreadable record: the first operation reports it, so the person can act. */
export async function loadDeviceSettings(account: DeviceAccount): Promise<VaultDeviceSettings> {
  try {
    const { autoLockMinutes: minutes, keepOpen } = await readDeviceRecord(account);
    return { minutes, keepOpen };
  } catch (error) {
    if (isPortalError(error, "device_record_unreadable")) return defaultSettings;
    throw error;
  }
}

const defaultSettings: VaultDeviceSettings = { minutes: autoLockMinutes.default, keepOpen: "five_minutes" };

const OlderStateDetails = z.looseObject({ given: PositiveInt, given_sha256: Digest });

export interface PageDeps {
  readonly environment: PageEnvironment;
  readonly settings?: VaultDeviceSettings;
  /** Called when what is kept open may have changed. */
  readonly onKeepOpenChange?: () => void;
}

export function createVaultClient(portal: VaultPortal, workers: WorkerStarter, deps: PageDeps): VaultClient {
  const { members, examine, generateRecoveryCode, callOperation } = createVaultParts(portal, workers, deps);
  return withOperations<VaultClient>({ ...members, examine, generateRecoveryCode }, [], callOperation);
}

/** Members of the contract that are a single operation. All others are groups of operations. */
type OperationName = {
  [Name in keyof VaultOperations]: VaultOperations[Name] extends (...args: never) => unknown ? Name : never;
}[keyof VaultOperations];
type GroupName = Exclude<keyof VaultOperations, OperationName>;

/** Members that the page implements. The worker's list of operations has all others. */
type PageMembers = Omit<VaultClient, "examine" | "generateRecoveryCode" | OperationName>;

/** The account's mark, for the vault's own frames alone: the portal's page must not know it. */
export interface MarkMembers {
  /** Null on a device that does not know it yet. */
  readonly read: () => Promise<NotedMark | null>;
  /** Ends the note, which the person has read. */
  readonly acknowledge: () => Promise<void>;
}

/** What {@link createVaultClient} is made of; the vault's frame serves it over a channel. */
export interface VaultParts {
  readonly members: PageMembers;
  readonly examine: ExaminePicture;
  readonly mark: MarkMembers;
  /** Generates a code, which opens nothing before `openers.add`, and stores it nowhere. */
  readonly generateRecoveryCode: () => Promise<RecoveryCode>;
  readonly callOperation: (path: readonly string[], args: readonly unknown[]) => Promise<unknown>;
}

export function createVaultParts(
  portal: VaultPortal,
  workers: WorkerStarter,
  { environment, settings = defaultSettings, onKeepOpenChange = () => undefined }: PageDeps,
): VaultParts {
  const { vendorId, http } = portal;
  const { issuer, subject } = portal.account;
  const account = { vendorId, issuer, subject };
  const downloads = createDownloads(
    createTransferWorkers({ account: null, http, startWorker: workers.transfer, phase: "opening" }),
  );
  const vaultWorker = createVaultWorker({
    portal,
    workers,
    environment,
    settings,
    onKeepOpenChange,
    lockDownloads: downloads.lock,
    endUploads: () => uploads.end(),
  });
  const callWorker = createCallWorker<VaultWorkerApi>(vaultWorker.ensure);
  const uploads = createUploads({
    account,
    http,
    startWorker: workers.transfer,
    operations: {
      begin: callWorker((worker) => worker.beginUpload),
      finish: callWorker((worker) => worker.finishUpload),
      restart: callWorker((worker) => worker.restartUpload),
      discard: callWorker((worker) => worker.discardUpload),
      waitUntilUnlocked: vaultWorker.waitUntilUnlocked,
    },
  });

  async function callOperation(path: readonly string[], args: readonly unknown[]): Promise<unknown> {
    const handles = collectHandles(args); // first, because a released handle must not reach the worker
    return callRunning(vaultWorker.ensure, args, async (runningWorker) => {
      const result: unknown = await runningWorker.remote.run(path, handles, ...args);
      return isTransferredContent(result) ? createPlainContent(result, runningWorker, downloads) : result;
    });
  }

  const operations = withOperations<Pick<Vault, OperationName>>({}, [], callOperation);
  const createGroup = <Name extends GroupName>(name: Name): VaultClient[Name] =>
    withOperations<VaultClient[Name]>({}, [name], callOperation);

  const list = callWorker((worker) => worker.list);
  const protect = callWorker((worker) => worker.protect);
  const update = callWorker((worker) => worker.update);
  const acceptOlderState = callWorker((worker) => worker.acceptOlderState);

  const members: PageMembers = {
    getState: vaultWorker.getState,
    subscribe: vaultWorker.subscribe,
    autoLock: vaultWorker.autoLock,
    keepOpen: vaultWorker.keepOpen,
    lock: vaultWorker.lock,
    signOut: vaultWorker.signOut,
    unlockBySignIn: async () => {
      if (await vaultWorker.unlockBySignIn()) await operations.refresh();
    },
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      await list({
        ...options,
        onRows: (rows, progress) => {
          newestFirst.push(...rows);
          options?.onRows?.(rows, progress);
        },
      });
      return newestFirst.reverse();
    },
    protect: async (input, options) => {
      const request = { ...input, protection: resolveProtection(input.protection) };
      return request.content.size > maxSmallContentBytes
        ? uploads.protect(request, options)
        : protect(request, options);
    },
    update: async (secretId, input, options) => {
      const change = resolveChange(input);
      const { content } = change;
      return content !== undefined && content.content.size > maxSmallContentBytes
        ? uploads.update(secretId, { ...change, content }, options)
        : update(secretId, change, options);
    },
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) =>
      uploads.resume(uploadId, file, protection === undefined ? null : resolveProtection(protection), options),
    restartUpload: uploads.restart,
    discardUpload: uploads.discard,
    acceptOlderState: async ({ details }) => {
      const parsedDetails = OlderStateDetails.safeParse(details);
      if (parsedDetails.success)
        await acceptOlderState({
          stateRev: parsedDetails.data.given,
          stateSha256: parsedDetails.data.given_sha256,
        });
    },
    archiveDeviceRecord: async () => {
      await vaultWorker.end();
      await archiveDeviceRecord(account);
      await operations.refresh();
    },
    releaseOpener,
    imports: createVaultImports({
      compare: callWorker((worker) => worker.compareImport),
      importSecrets: callWorker((worker) => worker.importSecrets),
      setFavorite: operations.setFavorite,
      startReader: workers.importReader,
      uploads,
    }),
    accountReset: createVaultAccountReset({ portal, reset: callWorker((worker) => worker.resetAccount) }),
    openers: createGroup("openers"),
    deviceLinks: createGroup("deviceLinks"),
    shares: createGroup("shares"),
    people: createGroup("people"),
    received: createGroup("received"),
    requests: createGroup("requests"),
  };
  return {
    members,
    examine: callWorker((worker) => worker.examine),
    mark: {
      read: callWorker((worker) => worker.readMark),
      acknowledge: callWorker((worker) => worker.acknowledgeMark),
    },
    generateRecoveryCode: callWorker((worker) => worker.generateRecoveryCode),
    callOperation,
  };
}
