/**
 * The vault's frame: serves vault and visitor to the portal's page. See [Note: The vault in a
 * frame] in protocol.ts.
 */
import {
  createChannel,
  keepOpenDurations,
  type CallOptions,
  type Channel,
  type LinkSecret,
  type NewSecretInput,
  type OpenedSecret,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { pageEnvironment, type PageEnvironment } from "../device/idle-lock.ts";
import type { WorkerStarter } from "../page/browser-workers.ts";
import { createVaultParts, loadDeviceSettings, type VaultParts } from "../page/vault-client.ts";
import type { VaultPortal } from "../page/vault-portal.ts";
import { createVisitorClient, type VisitorClient } from "../page/visitor-client.ts";
import { adoptCrossedHandles } from "../rpc/opener-handles.ts";
import type { MarkQuestion } from "../seal/mark.ts";
import type { Plain } from "../transfer/plain-content.ts";
import type { SignInGate } from "../sign-in/sign-in-gate.ts";
import { createPortEndpoint, type LifeLocks } from "./element-vault.ts";
import type { FrameHttpClients } from "./frame-http.ts";
import { createHeldContents } from "./held-contents.ts";
import { createHeldOpeners } from "./held-openers.ts";
import {
  OpenedId,
  OpenerId,
  OperationPath,
  ReceivedHandles,
  requireSameProtocol,
  VaultSettings,
  type VaultMirror,
} from "./protocol.ts";

export interface ControllerDeps {
  readonly channel: Channel;
  readonly workers: WorkerStarter;
  /** Of the portal's page; prefix of links. */
  readonly portalOrigin: string;
  readonly httpClients: FrameHttpClients;
  readonly signInGate: SignInGate;
  readonly environment?: PageEnvironment;
  readonly locks?: LifeLocks;
}

/** What the vault's frame offers to other documents of its origin. */
export interface ServedController {
  /** Serves an element: [Note: Elements of the vault] in element-protocol.ts. */
  readonly connectElement: (port: MessagePort) => void;
}

export function serveController({
  channel,
  workers,
  portalOrigin,
  httpClients,
  signInGate,
  environment = pageEnvironment,
  locks = navigator.locks,
}: ControllerDeps): ServedController {
  let lifeLock: Promise<string> | null = null;
  const vaults = new Map<number, VaultParts>();
  const visitors = new Map<number, VisitorClient>();
  const activityListeners = new Set<() => void>();
  const elementChannels = new Set<Channel>();
  const markQuestions = new Map<string, { readonly question: MarkQuestion; answer: boolean | null }>();
  const callElements = (name: string, ...args: readonly unknown[]): void => {
    for (const elementChannel of elementChannels) elementChannel.call("element", [name], args).catch(() => undefined); // the element is gone
  };
  const openers = createHeldOpeners(() => {
    callElements("lock");
  });
  const contents = createHeldContents((openedId) => {
    callElements("release", openedId);
  });
  let lastId = 0;

  const callPortal = (name: string, args: readonly unknown[] = []): Promise<unknown> =>
    channel.call("portal", [name], args);
  const takeLinkSecret = async (): Promise<LinkSecret | null> =>
    LinkSecretSchema.parse(await callPortal("takeLinkSecret"));
  const signInAgain = async (): Promise<{ readonly authTime: number }> =>
    z.strictObject({ authTime: z.number() }).parse(await callPortal("signInAgain"));

  /** The page shows an element, which gets the question from here and leaves the answer. */
  async function confirmMark(vaultId: number, question: MarkQuestion): Promise<boolean> {
    const id = crypto.randomUUID();
    const asked: { readonly question: MarkQuestion; answer: boolean | null } = { question, answer: null };
    markQuestions.set(id, asked);
    try {
      await channel.call("vaultPage", ["askMark"], [vaultId, id]); // until the element is closed
    } finally {
      markQuestions.delete(id);
    }
    if (asked.answer === null) throw new PortalError("cancelled");
    return asked.answer;
  }

  function createEnvironment(onTabMessage: () => void): PageEnvironment {
    return {
      ...environment,
      origin: () => portalOrigin,
      onActivity: (listener) => {
        activityListeners.add(listener);
        const stop = environment.onActivity(listener);
        return () => {
          activityListeners.delete(listener);
          stop();
        };
      },
      channel: (account, onMessage) =>
        environment.channel(account, (message) => {
          onMessage(message);
          onTabMessage();
        }),
    };
  }

  async function startVault(version: unknown, settings: unknown): Promise<VaultMirror> {
    requireSameProtocol(version);
    const {
      vendorId,
      account: { authTime, ...identity },
    } = VaultSettings.parse(settings);
    const account = { ...identity, ...(authTime === undefined ? {} : { authTime }) };
    const portal: VaultPortal = {
      http: httpClients.forAccount(account.userId, () => void parts.members.lock()),
      vendorId,
      account,
      signInAgain,
      signInToUnlock: (maxAge) => signInGate.ask(account.subject, maxAge),
      signInSilently: (maxAge) => signInGate.trySilently(account.subject, maxAge),
      confirmMark: (question) => confirmMark(vaultId, question),
      takeLinkSecret,
    };
    const deviceSettings = await loadDeviceSettings({ vendorId, issuer: account.issuer, subject: account.subject });
    const vaultId = ++lastId;
    const getMirror = (): VaultMirror => ({
      vaultId,
      state: parts.members.getState(),
      minutes: parts.members.autoLock.get(),
      keepOpen: parts.members.keepOpen.get(),
      keepOpenStatus: parts.members.keepOpen.getStatus(),
    });
    const sendMirror = (): void => {
      channel.call("vaultPage", ["update"], [getMirror()]).catch(() => undefined); // the page is gone
    };
    const parts = createVaultParts(portal, workers, {
      environment: createEnvironment(sendMirror),
      settings: deviceSettings,
      onKeepOpenChange: sendMirror,
    });
    let wasUnlocked = false;
    parts.members.subscribe(() => {
      const isUnlocked = parts.members.getState().status === "unlocked";
      if (wasUnlocked && !isUnlocked) releaseAll(); // not when a device turns out to be locked
      wasUnlocked = isUnlocked;
      sendMirror();
    });
    vaults.set(vaultId, parts);
    return getMirror();
  }

  function requireVault(vaultId: number): VaultParts {
    const parts = vaults.get(vaultId);
    if (parts === undefined) throw new PortalError("vault_unavailable");
    return parts;
  }

  function releaseAll(): void {
    contents.disposeAll();
    openers.releaseAll();
  }

  /** Seals what this frame holds; the page has the rest of the secret. */
  async function protectOpened(
    { members }: VaultParts,
    openedId: unknown,
    secret: Omit<NewSecretInput, "contentKind" | "name" | "mime" | "content">,
    options?: CallOptions,
  ) {
    const { contentKind, name, mime, save } = contents.require(OpenedId.parse(openedId));
    const { title, tags, protection } = secret;
    const content = await save(options);
    return members.protect({ title, tags, protection, contentKind, name, mime, content }, options);
  }

  async function openText({ callOperation }: VaultParts, ...args: readonly unknown[]): Promise<string> {
    const { contentKind, content, dispose } = (await callOperation(["openSecret"], args)) as Plain<OpenedSecret>;
    try {
      if (contentKind === "file" || content === null) throw new PortalError("payload_too_large");
      return new TextDecoder().decode(content);
    } finally {
      content?.fill(0);
      dispose();
    }
  }

  async function run(
    ownerId: number,
    call: (args: readonly unknown[]) => unknown,
    handles: unknown,
    args: readonly unknown[],
  ) {
    const { adoptedArgs, release } = adoptCrossedHandles(openers.requireAll(ReceivedHandles.parse(handles)), args);
    try {
      return contents.toTransferable(await call(adoptedArgs), ownerId);
    } finally {
      release();
    }
  }

  const disposeContent = (openedId: unknown): void => {
    contents.dispose(OpenedId.parse(openedId));
  };
  const reportActivity = (): void => {
    for (const listener of activityListeners) listener();
  };

  channel.serve("vault", {
    start: startVault,
    activity: reportActivity,
    releaseOpener: (id: unknown) => {
      openers.release(OpenerId.parse(id));
      callElements("release", id);
    },
    releaseOpeners: openers.releaseAll,
    disposeContent,
    run: (vaultId: number, path: unknown, handles: unknown, ...args: readonly unknown[]) => {
      const parts = requireVault(vaultId);
      const frameMembers = {
        protectOpened: protectOpened.bind(null, parts),
        openText: openText.bind(null, parts),
      };
      return run(
        vaultId,
        (adoptedArgs) => callVault(parts, frameMembers, OperationPath.parse(path), adoptedArgs),
        handles,
        args,
      );
    },
    signOut: async (vaultId: number) => {
      const parts = requireVault(vaultId);
      vaults.delete(vaultId);
      releaseAll();
      await parts.members.signOut();
    },
  });
  channel.serve("visitor", {
    start: (version: unknown, signedIn: unknown) => {
      requireSameProtocol(version);
      const visitorId = ++lastId;
      visitors.set(
        visitorId,
        createVisitorClient(
          { http: signedIn === true ? httpClients.forVisitor : httpClients.anonymous, takeLinkSecret },
          workers,
        ),
      );
      return visitorId;
    },
    disposeContent,
    run: (visitorId: number, name: unknown, handles: unknown, ...args: readonly unknown[]) =>
      run(
        visitorId,
        (adoptedArgs) => {
          const visitor = visitors.get(visitorId);
          if (visitor === undefined) throw new PortalError("vault_unavailable");
          const operation = VisitorOperation.parse(name);
          return Reflect.apply(visitor[operation], undefined, adoptedArgs);
        },
        handles,
        args,
      ),
    close: (visitorId: number) => {
      contents.disposeOwned(visitorId);
      visitors.get(visitorId)?.close();
      visitors.delete(visitorId);
    },
  });

  return {
    connectElement: (port) => {
      const elementChannel = createChannel(createPortEndpoint(port));
      elementChannels.add(elementChannel);
      // served to documents of this origin alone, which run this release
      elementChannel.serve("openers", {
        hold: openers.hold,
        getDraft: openers.getDraft,
        release: openers.release,
      });
      elementChannel.serve("contents", contents.elementMembers);
      elementChannel.serve("vault", {
        activity: reportActivity,
        examine: (vaultId: number, ...args: Parameters<VaultParts["examine"]>) =>
          requireVault(vaultId).examine(...args),
        generateRecoveryCode: (vaultId: number) => requireVault(vaultId).generateRecoveryCode(),
        readMark: (vaultId: number) => requireVault(vaultId).mark.read(),
        acknowledgeMark: (vaultId: number) => requireVault(vaultId).mark.acknowledge(),
        readMarkQuestion: (id: string) => markQuestions.get(id)?.question ?? null,
        answerMark: (id: string, isMine: boolean) => {
          const asked = markQuestions.get(id);
          if (asked !== undefined) asked.answer = isMine;
        },
      });
      elementChannel.serve("frame", {
        getLifeLock: () => (lifeLock ??= holdForLife(locks)),
        leave: () => {
          elementChannels.delete(elementChannel);
          port.close();
        },
      });
    },
  };
}

/** Holds a lock until this document ends. Resolves with its name when it is held. */
function holdForLife(locks: LifeLocks): Promise<string> {
  const name = `relicario-controller-${crypto.randomUUID()}`;
  return new Promise((resolve, reject) => {
    locks
      .request(name, () => {
        resolve(name);
        return new Promise(() => undefined);
      })
      .catch(reject);
  });
}

const VisitorOperation = z.enum(["previewShare", "openShare", "previewRequest", "answer"]);

const LinkSecretSchema = z.strictObject({ path: z.string(), s: z.string(), n: z.string().nullable() }).nullable();

/**
 * Calls an operation of the contract. Members of groups that this page does not implement, and all
 * others, are the worker's, which refuses what is no operation.
 */
function callVault(
  { members, callOperation }: VaultParts,
  frameMembers: Readonly<Record<string, unknown>>,
  path: readonly string[],
  args: readonly unknown[],
) {
  const [name = "", memberName] = path;
  const { imports, accountReset, autoLock, keepOpen } = members;
  const served: Readonly<Record<string, unknown>> = {
    ...frameMembers,
    // rows reach the page by `onRows`; they need not cross again
    list: async (...listArgs: Parameters<typeof members.list>) => {
      await members.list(...listArgs);
      return null;
    },
    unlockBySignIn: members.unlockBySignIn,
    lock: members.lock,
    protect: members.protect,
    update: members.update,
    resumeUpload: members.resumeUpload,
    restartUpload: members.restartUpload,
    discardUpload: members.discardUpload,
    acceptOlderState: members.acceptOlderState,
    archiveDeviceRecord: members.archiveDeviceRecord,
  };
  const groups: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    imports: { ...imports },
    accountReset: { ...accountReset },
    autoLock: { set: autoLock.set },
    keepOpen: {
      set: (duration: unknown) => {
        keepOpen.set(z.enum(keepOpenDurations).parse(duration));
      },
    },
  };
  const owner = memberName === undefined ? served : Object.hasOwn(groups, name) ? groups[name] : undefined;
  const ownName = memberName ?? name;
  const member = owner !== undefined && Object.hasOwn(owner, ownName) ? owner[ownName] : undefined;
  if (typeof member !== "function") return callOperation(path, args);
  const result: unknown = Reflect.apply(member, undefined, args);
  return result;
}
