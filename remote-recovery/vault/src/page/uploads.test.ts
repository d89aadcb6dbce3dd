import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { fileSecret, createGate, randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";

unrefMessagePorts();

const { plaintext, file } = randomFile(6 * fakePartBytes + 77);
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
type Tab = ReturnType<typeof createVaultClient>;

let service: FakeService;
let portal: VaultPortal;
let accountCount = 0;
const machine = createFakeMachine();
machine.now = Date.now();
const openTab = (): Tab => createVaultClient(portal, createChannelWorkers(), { environment: machine.openTab() });

beforeEach(() => {
  service = createFakeService(userId);
  portal = {
    http: service.http,
    vendorId: "relicario",
    account: { userId, issuer: "https://id.example", subject: `transfers ${String(accountCount++)}` },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    signInToUnlock: () => Promise.resolve({ authTime: 0 }),
    signInSilently: () => Promise.reject(new PortalError("login_required")),
    confirmMark: () => Promise.resolve(true),
    takeLinkSecret: () => Promise.resolve(null),
  };
});

async function openOnOwnDevice(): Promise<Tab> {
  const vault = openTab();
  await vault.protect(textSecret("First", makeHandle("market")));
  await vault.setDeviceKind("own");
  return vault;
}

/** Stops at the third part until `resume` is called; `reached` resolves when that part is sent. */
function pauseAtThirdPart(): { reached: Promise<void>; resume: () => void } {
  const [resumeGate, reached] = [createGate(), createGate()];
  let parts = 0;
  service.beforeCall = async (call) => {
    if (!isPart(call) || ++parts < 3) return;
    reached.open();
    await resumeGate.whenOpened;
  };
  return { reached: reached.whenOpened, resume: resumeGate.open };
}

async function pauseHalfWay(vault: Tab): Promise<void> {
  const { reached, resume } = pauseAtThirdPart();
  const pauseController = new AbortController();
  const protectPromise = vault.protect(fileSecret("Film", file), { signal: pauseController.signal });
  await reached;
  pauseController.abort("pause");
  resume();
  await expect(protectPromise).rejects.toMatchObject({ code: "cancelled" });
  service.beforeCall = () => undefined;
}

const uploadStates = async (vault: Tab): Promise<string[]> => (await vault.listUploads()).map(({ state }) => state);
const waitUntilSealed = (vault: Tab): Promise<void> =>
  new Promise((resolve, reject) => {
    const poll = (): void => {
      uploadStates(vault).then(([state]) => {
        if (state === "sealed") resolve();
        else setImmediate(poll);
      }, reject);
    };
    poll();
  });

describe("a large file", () => {
  it("is uploaded in parts and downloaded whole", async () => {
    const vault = await openOnOwnDevice();
    const phases = new Set<string>();
    const { secretId } = await vault.protect(fileSecret("Film", file), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(phases).toContain("sending");
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    expect(secret).toMatchObject({ content: null, title: "Film", signatureStatus: "verified" });
    const blob = await secret.save();
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(plaintext);
    expect(await vault.listUploads()).toEqual([]);
  });

  it("is sealed and sent while locked, and published after unlocking", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protectPromise = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    expect([vault.getState().status, service.account.rows.size]).toEqual(["locked", 1]);
    await vault.unlock(makeHandle("market"));
    await expect(protectPromise).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.listUploads()]).toEqual([2, []]);
  });

  it("that waits for unlocking is discarded when cancelled", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const cancelController = new AbortController();
    const protectPromise = vault.protect(fileSecret("Film", file), { signal: cancelController.signal });
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    cancelController.abort();
    await expect(protectPromise).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, await vault.listUploads()]).toEqual([0, []]);
  });

  it("that waits for unlocking stays on an own device until the next sign-in", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protectPromise = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    const rejection = expect(protectPromise).rejects.toMatchObject({ code: "vault_unavailable" });
    await vault.signOut();
    await rejection;
    const nextTab = openTab();
    const [upload] = await nextTab.listUploads();
    expect(upload).toMatchObject({ state: "sealed", needsFile: false });
    await expect(nextTab.resumeUpload(upload?.uploadId ?? "", null)).rejects.toMatchObject({ code: "vault_locked" });
    await nextTab.unlock(makeHandle("market"));
    await expect(nextTab.resumeUpload(upload?.uploadId ?? "", null)).resolves.toMatchObject({ version: 1 });
  });

  it("that the service dropped can be restarted with another file", async () => {
    const vault = await openOnOwnDevice();
    await pauseHalfWay(vault);
    service.account.uploads?.clear();
    const [upload] = await vault.listUploads();
    const uploadId = upload?.uploadId ?? "";
    await expect(vault.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    await expect(vault.restartUpload(uploadId, randomFile(fakePartBytes).file)).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.listUploads()]).toEqual([2, []]);
  });

  it("leaves no part at the service and no record when cancelled half-way", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const cancelController = new AbortController();
    const protectPromise = vault.protect(fileSecret("Film", file), { signal: cancelController.signal });
    await reached;
    expect(service.account.uploads?.size).toBe(1);
    cancelController.abort();
    resume();
    await expect(protectPromise).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, service.account.rows.size, await vault.listUploads()]).toEqual([0, 1, []]);
  });

  it("can be resumed when it is only paused", async () => {
    const vault = await openOnOwnDevice();
    await pauseHalfWay(vault);
    const [upload] = await vault.listUploads();
    expect(upload).toMatchObject({ state: "waiting", needsFile: true, title: "Film" });
    await expect(vault.resumeUpload(upload?.uploadId ?? "", null)).rejects.toMatchObject({ code: "validation_error" });
    await expect(vault.resumeUpload(upload?.uploadId ?? "", file)).resolves.toMatchObject({ version: 1 });
  });

  describe("of a pending account", () => {
    const pictureProtection = () => ({ kind: "picture", picture: makeHandle("market"), name: "Market" }) as const;

    /** Opens a tab after another tab stopped half-way through the account's first secret. */
    async function openNextTab(): Promise<{ nextTab: Tab; uploadId: string }> {
      const { reached, resume } = pauseAtThirdPart();
      const pauseController = new AbortController();
      const protectPromise = openTab().protect(fileSecret("Film", file, makeHandle("market")), {
        signal: pauseController.signal,
      });
      await reached;
      pauseController.abort("pause");
      resume();
      await expect(protectPromise).rejects.toMatchObject({ code: "cancelled" });
      service.beforeCall = () => undefined;
      const nextTab = openTab();
      const [upload] = await nextTab.listUploads();
      return { nextTab, uploadId: upload?.uploadId ?? "" };
    }

    it("is published with the picture after everything is sent", async () => {
      const { nextTab, uploadId } = await openNextTab();
      await expect(nextTab.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "opener_needed" });
      expect(await uploadStates(nextTab)).toEqual(["sealed"]);
      await expect(nextTab.resumeUpload(uploadId, null)).rejects.toMatchObject({ code: "opener_needed" });
      await expect(nextTab.resumeUpload(uploadId, null, { protection: pictureProtection() })).resolves.toMatchObject({
        version: 1,
      });
      expect([service.account.rows.size, await nextTab.listUploads()]).toEqual([1, []]);
    });

    it("is published with a picture that is passed with the file", async () => {
      const { nextTab, uploadId } = await openNextTab();
      await expect(nextTab.resumeUpload(uploadId, file, { protection: pictureProtection() })).resolves.toMatchObject({
        version: 1,
      });
      expect([service.account.rows.size, await nextTab.listUploads()]).toEqual([1, []]);
    });

    it("sends nothing with a released handle", async () => {
      const { nextTab, uploadId } = await openNextTab();
      const releasedProtection = pictureProtection();
      nextTab.releaseOpener(releasedProtection.picture);
      await expect(nextTab.resumeUpload(uploadId, file, { protection: releasedProtection })).rejects.toMatchObject({
        code: "picture_needed",
      });
      expect(await uploadStates(nextTab)).toEqual(["waiting"]);
    });
  });

  it("is sent by one tab at a time and can be discarded in another", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protectPromise = expect(vault.protect(fileSecret("Film", file))).rejects.toMatchObject({ code: "not_found" });
    await reached;
    const otherTab = openTab();
    const [runningUpload] = await otherTab.listUploads();
    expect(runningUpload).toMatchObject({ state: "running", needsFile: false });
    await expect(otherTab.resumeUpload(runningUpload?.uploadId ?? "", file)).rejects.toMatchObject({
      code: "conflict",
    });
    await otherTab.discardUpload(runningUpload?.uploadId ?? "");
    resume();
    await protectPromise;
    expect([service.account.uploads?.size, await vault.listUploads()]).toEqual([0, []]);
  });

  it("cannot be saved after a lock", async () => {
    const vault = await openOnOwnDevice();
    const { secretId } = await vault.protect(fileSecret("Film", file));
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    const [requested, gate] = [createGate(), createGate()];
    let ranges = 0;
    service.beforeCall = async (call) => {
      if (call !== "POST /v2/secrets/get-secret" || ++ranges < 2) return; // the first range is the head
      requested.open();
      await gate.whenOpened;
    };
    const savePromise = expect(secret.save()).rejects.toMatchObject({ code: "vault_locked" });
    await requested.whenOpened;
    await vault.lock();
    gate.open();
    await savePromise;
    service.beforeCall = () => undefined;
    await expect(secret.save()).rejects.toMatchObject({ code: "vault_locked" });
  });
});
