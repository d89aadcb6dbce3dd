import "fake-indexeddb/auto";

import type { Channel, LinkSecret, OpenedHandle, Vault } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import { createChannelPair } from "../testing/channel-pair.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { createFakeMachine, type FakeMachine } from "../testing/fake-machine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeSharing } from "../testing/fake-shares.ts";
import { makePicture, textSecret, userId } from "../testing/world.ts";
import type { VaultPortal } from "../page/vault-portal.ts";
import { serveController } from "./controller.ts";
import { createElementVault, type ElementVault } from "./element-vault.ts";
import { createFrameVault, createFrameVisitor, createHandle, getHeldId, type FrameComponents } from "./frame-vault.ts";
import type { NewPassphrase } from "./held-openers.ts";

unrefMessagePorts();

/** Views of opened contents have the ids that their elements get as names. */
const components: FrameComponents = {
  PictureField: (() => null) as Vault["PictureField"],
  createOpenedView: (openedId) => Object.assign(() => null, { displayName: openedId }),
};
const getOpenedId = ({ View: { displayName = "" } }: { readonly View: { displayName?: string | undefined } }) =>
  displayName;

describe("the vault in a frame", () => {
  let service: FakeService;
  let machine: FakeMachine;
  let personCount = 0;
  let portal: VaultPortal;

  beforeEach(() => {
    service = createFakeService(userId);
    machine = createFakeMachine();
    machine.now = Date.now(); // the worker reads Date.now()
    portal = {
      http: service.http, // of the page: the frame has its own
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `frame ${String(personCount++)}` },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.reject(new PortalError("forbidden")), // the controller asks
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  /** What the person answers about the mark; null closes the question. */
  let isMine: boolean | null = true;
  const answerMark = async (element: ElementVault, questionId: string): Promise<void> => {
    questions.push(await element.getMarkQuestion(questionId));
    if (isMine !== null) await element.answerMark(questionId, isMine);
  };
  const questions: unknown[] = [];

  /** Opens a tab: the portal's page and the vault's frame in it. */
  async function openTab() {
    const { locks, end: endController } = createTestLocks();
    const toPage: string[] = [];
    const [pageChannel, frameChannel] = createChannelPair((message) => toPage.push(describeMessage(message)));
    const [pageEnvironment, frameEnvironment] = [machine.openTab(), machine.openTab()];
    pageChannel.serve("portal", { signInAgain: portal.signInAgain, takeLinkSecret: portal.takeLinkSecret });
    const { connectElement } = serveController({
      channel: frameChannel,
      workers: createChannelWorkers(),
      portalOrigin: "https://portal.example",
      httpClients: { forAccount: () => service.http, forVisitor: service.http, anonymous: service.http },
      signInGate: { ask: portal.signInToUnlock.bind(null, 0), trySilently: portal.signInSilently.bind(null, 0) },
      environment: frameEnvironment,
      locks,
    });
    const askMark = (questionId: string): Promise<void> => answerMark(element, questionId);
    const vault = await createFrameVault(portal, pageChannel, () => components, askMark, pageEnvironment);
    const { port1, port2 } = new MessageChannel();
    connectElement(port1);
    const element = createElementVault(port2, 1, frameEnvironment, locks);
    const present = async (opener: PresentedOpener | NewPassphrase) =>
      createHandle(await element.hold({ opener, draft: null }));
    const presentPicture = (picture: string) => present(makePicture(picture));
    return {
      vault,
      element,
      present,
      presentPicture,
      endController,
      pageChannel,
      pageEnvironment,
      frameEnvironment,
      toPage,
    };
  }

  it("tells an element when its controller is gone, by a lock", async () => {
    const { element, endController } = await openTab();
    const onGone = jest.fn();
    element.onControllerGone(onGone);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    expect(onGone).not.toHaveBeenCalled();
    endController();
    expect(onGone).toHaveBeenCalledTimes(1);
  });

  it("protects, lists and opens a secret with pictures that an element holds", async () => {
    const { vault, element, presentPicture } = await openTab();
    expect(vault.getState()).toEqual({ status: "unknown" });
    expect((await element.examine?.(fakePicture("market")))?.known).toBeNull();
    const statuses: string[] = [];
    vault.subscribe(() => statuses.push(vault.getState().status));
    const phases = new Set<string>();
    const { secretId } = await vault.protect(textSecret("Seed", await presentPicture("market")), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "sending"]));
    expect(statuses.at(-1)).toBe("unlocked");
    const batches: number[] = [];
    const rows = await vault.list({ onRows: (batch) => batches.push(batch.length) });
    expect(rows.map(({ label }) => label?.title)).toEqual(["Seed"]);
    expect(batches).toEqual([1]);
    const secret = await vault.openSecret(secretId, await presentPicture("market"));
    expect(secret).toMatchObject({ title: "Seed", contentKind: "text", name: "secret.txt", current: true });
  });

  describe("an opened content", () => {
    async function openSeed() {
      const tab = await openTab();
      const { vault, element, presentPicture } = tab;
      const { secretId } = await vault.protect(textSecret("Seed", await presentPicture("market")));
      const opened = await vault.openSecret(secretId, await presentPicture("market"));
      const released: string[] = [];
      element.onRelease((id) => released.push(id));
      return { ...tab, secretId, opened, openedId: getOpenedId(opened), released };
    }
    const expectGone = async ({ element, openedId, released }: Awaited<ReturnType<typeof openSeed>>) => {
      await until(() => released.includes(openedId)); // so that the element clears itself
      for (const read of [element.readOpened, element.saveOpened, element.exportAgeFile])
        await expect(read(openedId)).rejects.toMatchObject({ code: "vault_locked" });
    };

    it("is shown, saved and exported by an element; the page gets neither its text nor its key", async () => {
      const { element, opened, openedId, toPage } = await openSeed();
      expect(toPage.some((message) => message.includes(openedId))).toBe(true);
      expect(toPage.filter((message) => /content of Seed|AGE-SECRET-KEY|a blob/.test(message))).toEqual([]);
      expect(Object.keys(opened)).toEqual(expect.arrayContaining(["handle", "View", "dispose"]));
      for (const member of ["content", "save", "exportAgeFile", "openedId"]) expect(opened).not.toHaveProperty(member);
      const shown = await element.readOpened(openedId);
      expect(shown).toMatchObject({ title: "Seed", contentKind: "text", name: "secret.txt", hasAgeFile: true });
      expect(new TextDecoder().decode(shown.content ?? undefined)).toBe("content of Seed");
      expect(await (await element.saveOpened(openedId)).text()).toBe("content of Seed");
      expect((await element.exportAgeFile(openedId)).identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    });

    it("is gone once the page disposes of it", async () => {
      const tab = await openSeed();
      tab.opened.dispose();
      await expectGone(tab);
    });

    it("is gone after a lock", async () => {
      const tab = await openSeed();
      await tab.vault.lock();
      await expectGone(tab);
    });

    it("is gone after a sign-out", async () => {
      const tab = await openSeed();
      await tab.vault.signOut();
      await expectGone(tab);
    });

    it("is sealed as another secret by its handle, and by no other object", async () => {
      const { vault, opened, presentPicture } = await openSeed();
      const secret = { title: "Copy", tags: [], protection: { kind: "openers", openerIds: [] } } as const;
      const { secretId } = await vault.protectOpened(opened.handle, secret);
      expect(await vault.openText(secretId, await presentPicture("market"))).toBe("content of Seed");
      const copiedHandle = { ...opened.handle } as OpenedHandle;
      await expect(vault.protectOpened(copiedHandle, secret)).rejects.toMatchObject({ code: "vault_locked" });
      opened.dispose();
      await expect(vault.protectOpened(opened.handle, secret)).rejects.toMatchObject({ code: "vault_locked" });
    });

    it("is no text for a form if it is a file", async () => {
      const { vault, presentPicture } = await openTab();
      const file = { ...textSecret("File", await presentPicture("market")), contentKind: "file" } as const;
      const { secretId } = await vault.protect(file);
      await expect(vault.openText(secretId, await presentPicture("market"))).rejects.toMatchObject({
        code: "payload_too_large",
      });
    });

    it("of a visitor is gone when the visitor is closed", async () => {
      const me = { userId, userName: "Ada", account: () => service.account };
      service.sharing = { state: createFakeSharing(), me };
      const { vault, element, pageChannel, presentPicture } = await openTab();
      const { secretId } = await vault.protect(textSecret("Seed", await presentPicture("market")));
      const { shareId, link } = await vault.shares.create(
        {
          secretId,
          to: { audience: "public" },
          expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
          maxViews: null,
          password: null,
          picture: null,
          notify: false,
        },
        await presentPicture("market"),
      );
      const { pathname, hash } = new URL(link ?? "");
      const linkSecret: LinkSecret = { path: pathname, s: hash.slice("#s=".length), n: null };
      pageChannel.serve("portal", { takeLinkSecret: () => Promise.resolve(linkSecret) });
      const visitor = await createFrameVisitor({ signedIn: false }, pageChannel, components);
      const openedId = getOpenedId(await visitor.openShare(shareId, { password: null, picture: null }));
      const { title, content } = await element.readOpened(openedId);
      expect([title, new TextDecoder().decode(content ?? undefined)]).toEqual(["Seed", "content of Seed"]);
      visitor.close();
      await until(() => true);
      await expect(element.readOpened(openedId)).rejects.toMatchObject({ code: "vault_locked" });
    });
  });

  it("keeps what an element took while the vault learns that the account is empty or locked", async () => {
    const { vault, element, presentPicture } = await openTab();
    const locks = jest.fn();
    element.onLock(locks);
    const handle = await presentPicture("market");
    await vault.refresh();
    expect(vault.getState().status).toBe("empty");
    await vault.protect(textSecret("Seed", handle));
    expect(locks).not.toHaveBeenCalled();
  });

  it.each([
    [true, null],
    [false, "mark_refused"],
    [null, "cancelled"],
  ] as const)("adopts an unknown account only after an element's question: %p", async (answer, code) => {
    const { vault, presentPicture } = await openTab();
    await vault.protect(textSecret("Seed", await presentPicture("market")));
    await vault.signOut();
    portal = { ...portal, account: { ...portal.account, subject: `frame ${String(personCount++)}` } }; // an empty device
    questions.length = 0;
    isMine = answer;
    const other = await openTab();
    const unlocking = other.vault.unlock(await other.presentPicture("market")).then(
      () => null,
      (error: unknown) => toPortalError(error).code,
    );
    expect(await unlocking).toBe(code);
    expect(questions).toMatchObject([{ isPlain: true, mark: { words: expect.any(Array) as unknown } }]);
    expect(other.vault.getState().status).toBe(answer === true ? "unlocked" : "locked");
    isMine = true;
  });

  it("gives a recovery code to an element, and none to the page", async () => {
    const { vault, element, presentPicture } = await openTab();
    await vault.protect(textSecret("Seed", await presentPicture("market")));
    expect((await element.generateRecoveryCode()).words).toHaveLength(24);
    expect("generateRecoveryCode" in (vault.openers as object)).toBe(false);
  });

  it("runs operations of groups, and returns links of the portal's origin", async () => {
    const { vault, presentPicture } = await openTab();
    const { secretId } = await vault.protect(textSecret("Seed", await presentPicture("market")));
    expect((await vault.openers.list()).openers).toHaveLength(1);
    const comparisons = await vault.imports.compare([]);
    expect(comparisons).toEqual([]);
    expect((await vault.listVersions(secretId)).map(({ version }) => version)).toEqual([1]);
  });

  it.each([0, 1, 2, 3, undefined])("starts no vault or visitor for a page of protocol %p", async (version) => {
    const { pageChannel } = await openTab();
    for (const [service, settings] of [
      ["vault", { vendorId: portal.vendorId, account: portal.account }],
      ["visitor", false],
    ] as const) {
      await expect(pageChannel.call(service, ["start"], [version, settings])).rejects.toMatchObject({
        code: "remote_incompatible",
      });
    }
  });

  it("rejects with the code and details of the frame's error", async () => {
    const { vault, presentPicture } = await openTab();
    await expect(vault.openSecret("nothing", await presentPicture("market"))).rejects.toMatchObject({
      code: "no_keyring",
    });
    expect(() => {
      vault.autoLock.set(0);
    }).toThrow("validation_error");
  });

  it("cancels an operation, before and while it runs", async () => {
    const { vault, presentPicture } = await openTab();
    await expect(
      vault.protect(textSecret("Seed", await presentPicture("market")), { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: "cancelled" });
    const controller = new AbortController();
    await expect(
      vault.protect(textSecret("Seed", await presentPicture("market")), {
        signal: controller.signal,
        onProgress: () => {
          controller.abort();
        },
      }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(await vault.list()).toEqual([]);
  });

  it("refuses a released handle and an object that is no handle", async () => {
    const { vault, element, presentPicture } = await openTab();
    const released: string[] = [];
    element.onRelease((id) => released.push(id));
    const handle = await presentPicture("market");
    const heldId = getHeldId(handle);
    vault.releaseOpener(handle);
    await expect(vault.unlock(handle)).rejects.toMatchObject({ code: "picture_needed" });
    await until(() => released.length > 0);
    expect(released).toEqual([heldId]); // so that the element clears its fields
    await expect(vault.unlock({ [Symbol.toStringTag]: "OpenerHandle" })).rejects.toMatchObject({
      code: "picture_needed",
    });
  });

  it("locks in both documents, in every tab, and after the minutes without activity in either", async () => {
    const [first, second] = [await openTab(), await openTab()];
    const openerOfPage = await first.presentPicture("market");
    await first.vault.protect(textSecret("Seed", await first.presentPicture("market")));
    await second.vault.unlock(await second.presentPicture("market"));
    const locks: string[] = [];
    first.element.onLock(() => locks.push("first"));
    second.element.onLock(() => locks.push("second"));
    await first.vault.lock();
    await until(() => second.vault.getState().status === "locked");
    await until(() => locks.includes("first") && locks.includes("second"));
    await expect(first.vault.unlock(openerOfPage)).rejects.toMatchObject({ code: "picture_needed" }); // released
    await first.vault.unlock(await first.presentPicture("market"));

    const minute = 60_000;
    machine.now += 14 * minute;
    first.pageEnvironment.triggerActivity();
    await until(() => true);
    machine.now += 2 * minute;
    first.frameEnvironment.runDueTimers();
    expect(first.vault.getState().status).toBe("unlocked");
    machine.now += 14 * minute;
    first.frameEnvironment.runDueTimers();
    await until(() => first.vault.getState().status === "locked");
  });

  it("knows the auto-lock's minutes that another tab has set", async () => {
    const [first, second] = [await openTab(), await openTab()];
    first.vault.autoLock.set(7);
    expect(first.vault.autoLock.get()).toBe(7);
    await until(() => second.vault.autoLock.get() === 7);
  });

  it("shows a locked vault when its frame is gone", async () => {
    const { vault, pageChannel, presentPicture } = await openTab();
    await vault.protect(textSecret("Seed", await presentPicture("market")));
    const { PortalError } = await import("@relicario/shared/errors");
    pageChannel.close(new PortalError("vault_unavailable"));
    expect(vault.getState().status).toBe("locked");
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
  });

  describe("a hostile page", () => {
    const call = (channel: Channel, path: readonly string[], ...args: readonly unknown[]) =>
      channel.call("vault", ["run"], [1, path, [], ...args]);

    it.each([
      [["subscribe"]],
      [["getState"]],
      [["constructor"]],
      [["constructor", "assign"]],
      [["__proto__", "toString"]],
      [["imports", "constructor"]],
      [["openers", "hasOwnProperty"]],
      [["createKit", "call"]],
      [["examine"]],
      [["generateRecoveryCode"]],
      [["openers", "generateRecoveryCode"]],
    ])("reaches no member that is no operation: %j", async (path) => {
      const { pageChannel } = await openTab();
      await expect(call(pageChannel, path)).rejects.toMatchObject({ code: "forbidden" });
    });

    it("reaches no content that an element may read", async () => {
      const { vault, pageChannel, presentPicture } = await openTab();
      const { secretId } = await vault.protect(textSecret("Seed", await presentPicture("market")));
      const openedId = getOpenedId(await vault.openSecret(secretId, await presentPicture("market")));
      for (const service of ["contents", "vault", "visitor"])
        for (const member of ["read", "save", "saveContent", "exportAgeFile"])
          await expect(pageChannel.call(service, [member], [openedId])).rejects.toMatchObject({ code: "forbidden" });
      for (const path of [["read"], ["save"], ["exportAgeFile"]])
        await expect(call(pageChannel, path, openedId)).rejects.toMatchObject({ code: "forbidden" });
    });

    it("reaches neither another account's vault nor another service", async () => {
      const { pageChannel } = await openTab();
      await expect(pageChannel.call("vault", ["run"], [2, ["list"], []])).rejects.toMatchObject({
        code: "vault_unavailable",
      });
      await expect(pageChannel.call("vault", ["constructor"])).rejects.toMatchObject({ code: "forbidden" });
      await expect(pageChannel.call("storage", ["read"])).rejects.toMatchObject({ code: "forbidden" });
    });

    it.each([[{ picture: fakePicture("market"), passphrase: null }], [crypto.randomUUID()], ["market"]])(
      "presents no opener that no element holds: %p",
      async (opener) => {
        const { pageChannel } = await openTab();
        const handle = {};
        await expect(
          pageChannel.call("vault", ["run"], [1, ["unlock"], [[handle, opener]], handle]),
        ).rejects.toBeDefined();
      },
    );
  });
});

/** A message as text, with its bytes. */
const describeMessage = (message: unknown): string =>
  JSON.stringify(message, (_, value: unknown) =>
    ArrayBuffer.isView(value)
      ? new TextDecoder().decode(value)
      : Object.prototype.toString.call(value) === "[object Blob]"
        ? "a blob"
        : value,
  );

/** Locks of a browser. `end` frees what is held, as if the controller's document ended. */
function createTestLocks() {
  const waiting = new Map<string, (() => Promise<void>)[]>();
  return {
    locks: {
      request: (name: string, callback: () => Promise<void>): Promise<unknown> => {
        const requests = waiting.get(name);
        waiting.set(name, requests === undefined ? [] : [...requests, callback]);
        return requests === undefined ? callback() : new Promise(() => undefined);
      },
    },
    end: () => {
      for (const callback of [...waiting.values()].flat()) void callback();
    },
  };
}

/** Waits for messages that are on their way. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (condition()) return;
  }
  throw new Error("the condition did not become true");
}
