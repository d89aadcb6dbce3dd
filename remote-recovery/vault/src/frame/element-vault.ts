import {
  createChannel,
  type CallOptions,
  type Channel,
  type ChannelEndpoint,
  type RecoveryCode,
} from "@relicario/shared/contract";

import { pageEnvironment, type PageEnvironment } from "../device/idle-lock.ts";
import type { ExaminePicture, MarkMembers, PictureVerdict } from "../page/vault-client.ts";
import type { PresentedOpener, PresentedPicture } from "../rpc/presented-opener.ts";
import type { MarkQuestion } from "../seal/mark.ts";
import type { AgeFile } from "../transfer/plain-content.ts";
import type { ShownContent } from "./held-contents.ts";
import type { HeldInput } from "./held-openers.ts";

export type { ElementSettings, ElementState, ElementField } from "./element-protocol.ts";
export type {
  AgeFile,
  ExaminePicture,
  HeldInput,
  MarkMembers,
  PictureVerdict,
  PresentedOpener,
  PresentedPicture,
  ShownContent,
};

/** The controller as an element calls it. Both are documents of the vault's origin. */
export interface ElementVault {
  /** Null for a visitor, who judges no picture. */
  readonly examine: ExaminePicture | null;
  /** Replaces what is held under `id`. Returns the id, by default a new one. */
  readonly hold: (input: HeldInput, id?: string) => Promise<string>;
  /** Returns the draft of an earlier element; null when it was released. */
  readonly getDraft: (id: string) => Promise<unknown>;
  readonly release: (id: string) => void;
  readonly generateRecoveryCode: () => Promise<RecoveryCode>;
  /** Null for a visitor, who has no account here. */
  readonly mark: MarkMembers | null;
  /** Null for a question that is no longer asked. */
  readonly getMarkQuestion: (id: string) => Promise<MarkQuestion | null>;
  readonly answerMark: (id: string, isMine: boolean) => Promise<void>;
  /** Rejects, like the next two, with `vault_locked` for a content that was disposed of. */
  readonly readOpened: (openedId: string) => Promise<ShownContent>;
  readonly saveOpened: (openedId: string, options?: CallOptions) => Promise<Blob>;
  readonly exportAgeFile: (openedId: string) => Promise<AgeFile>;
  /** Called when the element is left. */
  readonly disconnect: () => void;
  /** Called when the controller, which holds this element's input, is gone. */
  readonly onControllerGone: (listener: () => void) => void;
  /** Called when the vault has released all openers. Returns an unsubscribe function. */
  readonly onLock: (listener: () => void) => () => void;
  /**
   * Called when the page has released an input of any element, or an opened content was disposed
   * of. Returns an unsubscribe function.
   */
  readonly onRelease: (listener: (id: string) => void) => () => void;
}

/** Locks of the browser between documents of one origin. */
export interface LifeLocks {
  readonly request: (name: string, callback: () => Promise<void>) => Promise<unknown>;
}

export function createPortEndpoint(port: MessagePort): ChannelEndpoint {
  return {
    post: (message, transfer = []) => {
      port.postMessage(message, [...transfer]);
    },
    listen: (listener) => {
      const handleMessage = ({ data }: MessageEvent<unknown>): void => {
        listener(data);
      };
      port.addEventListener("message", handleMessage);
      port.start();
      return () => {
        port.removeEventListener("message", handleMessage);
      };
    },
  };
}

/** @param vaultId null for a visitor */
export function createElementVault(
  port: MessagePort,
  vaultId: number | null,
  environment: Pick<PageEnvironment, "onActivity"> = pageEnvironment,
  locks: LifeLocks = navigator.locks,
): ElementVault {
  const channel: Channel = createChannel(createPortEndpoint(port));
  const lockListeners = new Set<() => void>();
  const releaseListeners = new Set<(id: string) => void>();
  const send = (service: string, name: string, args: readonly unknown[] = []): void => {
    channel.call(service, [name], args).catch(() => undefined); // a controller that is gone holds nothing
  };
  channel.serve("element", {
    lock: () => {
      for (const listener of lockListeners) listener();
    },
    release: (id: string) => {
      for (const listener of releaseListeners) listener(id);
    },
  });
  environment.onActivity(() => {
    send("vault", "activity");
  });

  return Object.freeze<ElementVault>({
    examine:
      vaultId === null
        ? null
        : (picture, options) =>
            channel.call("vault", ["examine"], [vaultId, picture, options]) as ReturnType<ExaminePicture>,
    hold: (...args) => channel.call("openers", ["hold"], args) as Promise<string>,
    getDraft: (id) => channel.call("openers", ["getDraft"], [id]),
    release: (id) => {
      send("openers", "release", [id]);
    },
    generateRecoveryCode: () => channel.call("vault", ["generateRecoveryCode"], [vaultId]) as Promise<RecoveryCode>,
    mark:
      vaultId === null
        ? null
        : {
            read: () => channel.call("vault", ["readMark"], [vaultId]) as ReturnType<MarkMembers["read"]>,
            acknowledge: () => channel.call("vault", ["acknowledgeMark"], [vaultId]) as Promise<void>,
          },
    getMarkQuestion: (id) => channel.call("vault", ["readMarkQuestion"], [id]) as Promise<MarkQuestion | null>,
    answerMark: (id, isMine) => channel.call("vault", ["answerMark"], [id, isMine]) as Promise<void>,
    readOpened: (openedId) => channel.call("contents", ["read"], [openedId]) as Promise<ShownContent>,
    saveOpened: (...args) => channel.call("contents", ["save"], args) as Promise<Blob>,
    exportAgeFile: (openedId) => channel.call("contents", ["exportAgeFile"], [openedId]) as Promise<AgeFile>,
    disconnect: () => {
      send("frame", "leave");
    },
    onControllerGone: (listener) => {
      void channel
        .call("frame", ["getLifeLock"])
        .then((name) =>
          locks.request(String(name), () => {
            listener();
            return Promise.resolve();
          }),
        )
        .catch(() => undefined); // this document ends, or the browser refuses locks
    },
    onLock: (listener) => {
      lockListeners.add(listener);
      return () => {
        lockListeners.delete(listener);
      };
    },
    onRelease: (listener) => {
      releaseListeners.add(listener);
      return () => {
        releaseListeners.delete(listener);
      };
    },
  });
}
