import type {
  AutoLock,
  Channel,
  ContentKind,
  KeepOpen,
  KeepOpenDuration,
  OpenedContent,
  OpenerHandle,
  PortalForServices,
  PortalForVisitors,
  SecretRow,
  Vault,
  Visitor,
} from "@relicario/shared/contract";
import { autoLockMinutes } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { pageEnvironment, type PageEnvironment } from "../device/idle-lock.ts";
import { withOperations } from "../page/operation-members.ts";
import { collectHeldIds, createOpenedHandle, dropAllHandles, dropHandle, requireOpenedId } from "./page-handles.ts";
import { OpenedId, protocolVersion, VaultMirror } from "./protocol.ts";

export { createHandle, getHeldId } from "./page-handles.ts";
export {
  emptyElementState,
  serveElementPage,
  type ElementField,
  type ElementSettings,
  type ElementState,
  type SearchHint,
  type TourPlace,
} from "./element-protocol.ts";

/** Components of the contract, which show elements. */
export interface FrameComponents {
  readonly PictureField: Vault["PictureField"];
  readonly createOpenedView: (openedId: string, contentKind: ContentKind) => OpenedContent["View"];
}

/** Members of the contract that this client implements itself; the frame runs all others. */
type ClientMembers = Omit<Vault, "PictureField">;

const groupNames = [
  "imports",
  "accountReset",
  "openers",
  "deviceLinks",
  "shares",
  "people",
  "received",
  "requests",
] as const;

/**
 * The contract's vault over the channel to the vault's frame: see [Note: The vault in a frame] in
 * protocol.ts.
 *
 * @param createComponents receives the vault's id in that frame
 * @param askMark shows the element of a question about the mark; resolves when it is closed
 */
export async function createFrameVault(
  { vendorId, account }: Pick<PortalForServices, "vendorId" | "account">,
  channel: Channel,
  createComponents: (vaultId: number) => FrameComponents,
  askMark: (questionId: string) => Promise<void>,
  environment: Pick<PageEnvironment, "onActivity"> = pageEnvironment,
): Promise<Vault> {
  const listeners = new Set<() => void>();
  let mirror: VaultMirror = {
    vaultId: 0,
    state: { status: "unknown" },
    minutes: autoLockMinutes.default,
    keepOpen: "five_minutes",
    keepOpenStatus: "none",
  };

  function update(next: VaultMirror): void {
    const { state } = mirror;
    if (state.status === "unlocked" && next.state.status !== "unlocked") dropAllHandles(); // the frame released them
    const isSameState = JSON.stringify(state) === JSON.stringify(next.state);
    mirror = isSameState ? { ...next, state } : next; // the contract promises the same object
    if (!isSameState) for (const listener of listeners) listener();
  }

  channel.serve("vaultPage", {
    update: (message: unknown) => {
      const next = VaultMirror.parse(message);
      if (next.vaultId === mirror.vaultId) update(next);
    },
    askMark: async (id: unknown, questionId: unknown) => {
      if (id === mirror.vaultId) await askMark(z.uuid().parse(questionId));
    },
  });
  channel.onClose(() => {
    stopActivity();
    update({ ...mirror, state: { status: mirror.state.status === "unlocked" ? "locked" : "unknown" } });
  });
  mirror = VaultMirror.parse(await channel.call("vault", ["start"], [protocolVersion, { vendorId, account }]));
  const { vaultId } = mirror;
  const stopActivity = environment.onActivity(() => {
    channel.call("vault", ["activity"]).catch(() => undefined); // a frame that is gone holds no keys
  });
  const { PictureField, createOpenedView } = createComponents(vaultId);
  const callOperation = createOperationCaller(channel, "vault", vaultId, createOpenedView);

  const autoLock: AutoLock = Object.freeze({
    get: () => mirror.minutes,
    set: (minutes: number) => {
      if (!Number.isInteger(minutes) || minutes < autoLockMinutes.minimum || minutes > autoLockMinutes.maximum)
        throw new PortalError("validation_error", { details: { fields: ["minutes"] } });
      mirror = { ...mirror, minutes };
      callOperation(["autoLock", "set"], [minutes]).catch(() => undefined);
    },
  });
  const keepOpen: KeepOpen = Object.freeze({
    get: () => mirror.keepOpen,
    set: (duration: KeepOpenDuration) => {
      const status = mirror.keepOpenStatus === "none" ? "none" : "setting_changed";
      mirror = { ...mirror, keepOpen: duration, keepOpenStatus: status };
      callOperation(["keepOpen", "set"], [duration]).catch(() => undefined);
    },
    getStatus: () => mirror.keepOpenStatus,
  });
  const groups = Object.fromEntries(
    groupNames.map((name) => [name, withOperations<object>({}, [name], callOperation)]),
  ) as Pick<Vault, (typeof groupNames)[number]>;

  const members: Partial<ClientMembers> = {
    ...groups,
    imports: withOperations<Vault["imports"]>(
      {
        read: (files, options) =>
          callOperation(
            ["imports", "read"],
            // structured clone drops the path inside a chosen folder
            [
              files.map((file) => (file.webkitRelativePath === "" ? file : new File([file], file.webkitRelativePath))),
              options,
            ],
          ) as ReturnType<Vault["imports"]["read"]>,
      },
      ["imports"],
      callOperation,
    ),
    getState: () => mirror.state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    autoLock,
    keepOpen,
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      await callOperation(
        ["list"],
        [
          {
            ...options,
            onRows: (rows: readonly SecretRow[], progress: { readonly opened: number; readonly total: number }) => {
              newestFirst.push(...rows);
              options?.onRows?.(rows, progress);
            },
          },
        ],
      );
      return newestFirst.reverse();
    },
    protectOpened: async (opened, secret, options) =>
      callOperation(["protectOpened"], [requireOpenedId(opened), secret, options]) as ReturnType<
        Vault["protectOpened"]
      >,
    acceptOlderState: async ({ details }) => {
      await callOperation(["acceptOlderState"], [{ details }]); // an error loses its details in a clone
    },
    lock: async () => {
      releaseAllOpeners(channel);
      await callOperation(["lock"], []);
    },
    signOut: async () => {
      dropAllHandles();
      stopActivity();
      await channel.call("vault", ["signOut"], [vaultId]);
    },
    releaseOpener: createOpenerRelease(channel),
  };
  return withOperations<Vault>({ ...members, PictureField }, [], callOperation);
}

/** The contract's visitor over the channel. */
export async function createFrameVisitor(
  { signedIn }: Pick<PortalForVisitors, "signedIn">,
  channel: Channel,
  { PictureField, createOpenedView }: FrameComponents,
): Promise<Visitor> {
  const visitorId = z.int().parse(await channel.call("visitor", ["start"], [protocolVersion, signedIn]));
  const callOperation = createOperationCaller(channel, "visitor", visitorId, createOpenedView);
  return withOperations<Visitor>(
    {
      PictureField,
      releaseOpener: createOpenerRelease(channel),
      close: () => {
        channel.call("visitor", ["close"], [visitorId]).catch(() => undefined);
      },
    },
    [],
    callOperation,
  );
}

/** Releases an opener here and in the vault's frame. */
export function createOpenerRelease(channel: Channel): (handle: OpenerHandle) => void {
  return (handle) => {
    const heldId = dropHandle(handle);
    if (heldId !== null) channel.call("vault", ["releaseOpener"], [heldId]).catch(() => undefined);
  };
}

function releaseAllOpeners(channel: Channel): void {
  dropAllHandles();
  channel.call("vault", ["releaseOpeners"]).catch(() => undefined); // a frame that is gone holds none
}

type CallOperation = (path: readonly string[], args: readonly unknown[]) => Promise<unknown>;

function createOperationCaller(
  channel: Channel,
  service: "vault" | "visitor",
  id: number,
  createOpenedView: FrameComponents["createOpenedView"],
): CallOperation {
  return async (path, args) => {
    const handles = collectHeldIds(args); // first: a released handle must not reach the frame
    const operation = service === "vault" ? [...path] : path[0];
    const result = await channel.call(service, ["run"], [id, operation, handles, ...args]);
    if (!isHeldResult(result)) return result;
    const { openedId, ...members } = result;
    return Object.freeze({
      ...members,
      handle: createOpenedHandle(OpenedId.parse(openedId)),
      View: createOpenedView(openedId, members.contentKind),
      dispose: () => {
        channel.call(service, ["disposeContent"], [openedId]).catch(() => undefined); // a frame that is gone holds none
      },
    });
  };
}

/** An opened content, which the frame holds under an id. */
function isHeldResult(result: unknown): result is { readonly openedId: string; readonly contentKind: ContentKind } {
  return typeof result === "object" && result !== null && "openedId" in result && "contentKind" in result;
}
