import type {
  AgeFile,
  DeviceKind,
  PictureVerdict,
  ProtectRequest,
  RecoveredSecret,
  RecoveryImage,
  SecretRow,
  ShownImage,
  VaultProgress,
  VaultState,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Engine } from "../../engine/engine.ts";
import { openDevice, type Device, type DeviceAccount } from "../device/device.ts";
import { answerDevice } from "../flows/device-kind.ts";
import { examine, images } from "../flows/examine.ts";
import { list } from "../flows/list.ts";
import { protect } from "../flows/protect.ts";
import { acceptOlderState, readKeyring } from "../flows/read-keyring.ts";
import { recover } from "../flows/recover.ts";
import { restore, setFavorite, trash } from "../flows/rows.ts";
import { unlock } from "../flows/unlock.ts";
import { serviceOn } from "../service.ts";
import { startSession, type FlowOptions, type Session } from "../session.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";

export type CallId = string;
type Listener<T> = ((value: T) => unknown) & { readonly [Comlink.releaseProxy]?: () => void };
export type ProgressListener = Listener<VaultProgress>;

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
}

/** An opened secret as it crosses to the page: its age file stays behind, under `openedId`. */
export type OpenedByWorker = Omit<RecoveredSecret, "save" | "exportAge" | "putAway"> & { readonly openedId: string };

/** What the vault's worker offers over Comlink. Calls carry an id, so that they can be cancelled. */
export interface VaultService {
  /** Once, before any other call. `tell` is called after each change of the state. */
  readonly start: (settings: VaultSettings, http: PageHttp, enginePort: MessagePort, tell: (state: VaultState) => unknown) => Promise<void>;
  readonly refresh: () => Promise<VaultState>;
  readonly list: (id: CallId) => Promise<readonly SecretRow[]>;
  readonly images: () => Promise<readonly RecoveryImage[]>;
  readonly examine: (id: CallId, onProgress: ProgressListener | null, picture: Blob) => Promise<PictureVerdict>;
  readonly protect: (id: CallId, onProgress: ProgressListener | null, request: ProtectRequest) => Promise<{ readonly secretId: string; readonly version: number }>;
  readonly unlock: (id: CallId, onProgress: ProgressListener | null, shown: ShownImage) => Promise<void>;
  readonly recover: (id: CallId, onProgress: ProgressListener | null, secretId: string, shown: ShownImage) => Promise<OpenedByWorker>;
  readonly exportAge: (openedId: string) => AgeFile;
  readonly putAway: (openedId: string) => void;
  readonly answerDevice: (kind: DeviceKind) => Promise<void>;
  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<void>;
  readonly trash: (secretId: string) => Promise<void>;
  readonly restore: (secretId: string) => Promise<void>;
  readonly acceptOlderState: () => Promise<void>;
  /** Ends a call with `cancelled`. Without effect when it is over. */
  readonly cancel: (id: CallId) => void;
}

/** How the worker reaches the engine on a port; a seam for tests. */
export type EngineOnPort = (port: MessagePort) => Engine;

export function createVaultService(engineOn: EngineOnPort, deviceFor: (account: DeviceAccount) => Promise<Device> = openDevice): VaultService {
  let session: Session | null = null;
  let told: Promise<unknown> = Promise.resolve();
  const running = new Map<CallId, AbortController>();
  const opened = new Map<string, AgeFile>();

  function requireSession(): Session {
    if (session === null) throw new PortalError("vault_unavailable");
    return session;
  }

  /** The page hears of a new state before the call that made it is answered. */
  async function tellFirst<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      await told;
    }
  }

  async function call<T>(id: CallId, onProgress: ProgressListener | null, work: (session: Session, options: FlowOptions) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    running.set(id, controller);
    const options: FlowOptions = { signal: controller.signal, ...(onProgress === null ? {} : { onProgress: (progress) => void onProgress(progress) }) };
    try {
      return await tellFirst(work(requireSession(), options));
    } finally {
      running.delete(id);
      onProgress?.[Comlink.releaseProxy]?.();
    }
  }

  return {
    start: async (settings, http, enginePort, tell) => {
      const { userId, vendorId, issuer, subject } = settings;
      session = await startSession({
        userId,
        service: serviceOn(httpOverPage(http)),
        engine: engineOn(enginePort),
        device: await deviceFor({ vendorId, issuer, subject }),
        tell: (state) => {
          told = Promise.resolve(tell(state));
        },
      });
    },
    refresh: async () => {
      await tellFirst(readKeyring(requireSession()));
      return requireSession().getState();
    },
    list: (id) => call(id, null, (one, { signal }) => list(one, signal)),
    images: () => tellFirst(images(requireSession())),
    examine: (id, onProgress, picture) => call(id, onProgress, (one, options) => examine(one, picture, options)),
    protect: (id, onProgress, request) => call(id, onProgress, (one, options) => protect(one, request, options)),
    unlock: (id, onProgress, shown) =>
      call(id, onProgress, async (one, options) => {
        (await unlock(one, shown, options)).opener.forget();
      }),
    recover: (id, onProgress, secretId, shown) =>
      call(id, onProgress, async (one, options) => {
        const { ageFile, ...secret } = await recover(one, secretId, shown, options);
        const openedId = crypto.randomUUID();
        opened.set(openedId, ageFile);
        return Comlink.transfer({ ...secret, openedId }, [secret.content.buffer]);
      }),
    exportAge: (openedId) => {
      const ageFile = opened.get(openedId);
      if (ageFile === undefined) throw new PortalError("vault_locked");
      return ageFile;
    },
    putAway: (openedId) => {
      opened.delete(openedId);
    },
    answerDevice: (kind) => tellFirst(answerDevice(requireSession(), kind)),
    setFavorite: (secretId, favorite) => setFavorite(requireSession(), secretId, favorite),
    trash: (secretId) => trash(requireSession(), secretId),
    restore: (secretId) => restore(requireSession(), secretId),
    acceptOlderState: () => tellFirst(acceptOlderState(requireSession())),
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
}
