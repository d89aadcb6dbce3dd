import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { fileSecret, createGate, randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as makeHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";

unrefMessagePorts();

const { plain, file } = randomFile(6 * fakePartBytes + 77);
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
type Tab = ReturnType<typeof createVaultClient>;

let service: FakeService;
let portal: PortalForServices;
let accountCount = 0;
const machine = createFakeMachine();
machine.now = Date.now();
const openTab = (): Tab => createVaultClient(portal, createChannelWorkers(), { environment: machine.tab() });

beforeEach(() => {
  service = createFakeService(userId);
  portal = {
    http: service.http,
    vendorId: "relicario",
    account: { userId, issuer: "https://id.example", subject: `transfers ${String(accountCount++)}` },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
});

async function openOnOwnDevice(): Promise<Tab> {
  const vault = openTab();
  await vault.protect(textSecret("First", makeHandle("market")));
  await vault.setDeviceKind("own");
  return vault;
}

/** Resolves when the third part is on its way, which waits there until it is let go. */
function pauseAtThirdPart(): { reached: Promise<void>; resume: () => void } {
  const [resumeGate, reached] = [createGate(), createGate()];
  let parts = 0;
  service.beforeCall = async (call) => {
    if (!isPart(call) || ++parts < 3) return;
    reached.open();
    await resumeGate.opened;
  };
  return { reached: reached.opened, resume: resumeGate.open };
}

async function pauseHalfWay(vault: Tab): Promise<void> {
  const { reached, resume } = pauseAtThirdPart();
  const paused = new AbortController();
  const protecting = vault.protect(fileSecret("Film", file), { signal: paused.signal });
  await reached;
  paused.abort("pause");
  resume();
  await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
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
  it("goes up in parts, and comes back whole", async () => {
    const vault = await openOnOwnDevice();
    const phases = new Set<string>();
    const { secretId } = await vault.protect(fileSecret("Film", file), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(phases).toContain("sending");
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    expect(secret).toMatchObject({ content: null, title: "Film", author: "verified" });
    const blob = await secret.save(null);
    expect(new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(plain);
    expect(await vault.listUploads()).toEqual([]);
  });

  it("is sealed and sent under the lock, and published once unlocked", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protecting = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    expect([vault.getState().status, service.account.rows.size]).toEqual(["locked", 1]);
    await vault.unlock(makeHandle("market"));
    await expect(protecting).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.listUploads()]).toEqual([2, []]);
  });

  it("that waits for unlocking is given up by cancelling", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const cancelled = new AbortController();
    const protecting = vault.protect(fileSecret("Film", file), { signal: cancelled.signal });
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    cancelled.abort();
    await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, await vault.listUploads()]).toEqual([0, []]);
  });

  it("that waits for unlocking stays for the next sign-in on an own device", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protecting = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    resume();
    await waitUntilSealed(vault);
    const ended = expect(protecting).rejects.toMatchObject({ code: "vault_unavailable" });
    await vault.signOut();
    await ended;
    const next = openTab();
    const [upload] = await next.listUploads();
    expect(upload).toMatchObject({ state: "sealed", needsFile: false });
    await expect(next.resumeUpload(upload?.uploadId ?? "", null)).rejects.toMatchObject({ code: "vault_locked" });
    await next.unlock(makeHandle("market"));
    await expect(next.resumeUpload(upload?.uploadId ?? "", null)).resolves.toMatchObject({ version: 1 });
  });

  it("that the service dropped is sent again from the beginning, with another file", async () => {
    const vault = await openOnOwnDevice();
    await pauseHalfWay(vault);
    service.account.uploads?.clear();
    const [upload] = await vault.listUploads();
    const uploadId = upload?.uploadId ?? "";
    await expect(vault.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    await expect(vault.restartUpload(uploadId, randomFile(fakePartBytes).file)).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.listUploads()]).toEqual([2, []]);
  });

  it("leaves nothing when it is cancelled half way: no part at the service, no record here", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const cancelled = new AbortController();
    const protecting = vault.protect(fileSecret("Film", file), { signal: cancelled.signal });
    await reached;
    expect(service.account.uploads?.size).toBe(1);
    cancelled.abort();
    resume();
    await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, service.account.rows.size, await vault.listUploads()]).toEqual([0, 1, []]);
  });

  it("stays to be gone on with when it is only paused", async () => {
    const vault = await openOnOwnDevice();
    await pauseHalfWay(vault);
    const [upload] = await vault.listUploads();
    expect(upload).toMatchObject({ state: "waiting", needsFile: true, title: "Film" });
    await expect(vault.resumeUpload(upload?.uploadId ?? "", null)).rejects.toMatchObject({ code: "validation_error" });
    await expect(vault.resumeUpload(upload?.uploadId ?? "", file)).resolves.toMatchObject({ version: 1 });
  });

  describe("whose account waits for its picture", () => {
    const pictureProtection = () => ({ kind: "picture", picture: makeHandle("market"), name: "Market" }) as const;

    /** A tab that was opened after another one stopped half way with the very first secret. */
    async function openNextTab(): Promise<{ next: Tab; uploadId: string }> {
      const { reached, resume } = pauseAtThirdPart();
      const paused = new AbortController();
      const protecting = openTab().protect(fileSecret("Film", file, makeHandle("market")), { signal: paused.signal });
      await reached;
      paused.abort("pause");
      resume();
      await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
      service.beforeCall = () => undefined;
      const next = openTab();
      const [upload] = await next.listUploads();
      return { next, uploadId: upload?.uploadId ?? "" };
    }

    it("is published with the picture that is given, once all of it is there", async () => {
      const { next, uploadId } = await openNextTab();
      await expect(next.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "opener_needed" });
      expect(await uploadStates(next)).toEqual(["sealed"]);
      await expect(next.resumeUpload(uploadId, null)).rejects.toMatchObject({ code: "opener_needed" });
      await expect(next.resumeUpload(uploadId, null, { protection: pictureProtection() })).resolves.toMatchObject({
        version: 1,
      });
      expect([service.account.rows.size, await next.listUploads()]).toEqual([1, []]);
    });

    it("is published with the picture that is given with its file, after the parts that were left", async () => {
      const { next, uploadId } = await openNextTab();
      await expect(next.resumeUpload(uploadId, file, { protection: pictureProtection() })).resolves.toMatchObject({
        version: 1,
      });
      expect([service.account.rows.size, await next.listUploads()]).toEqual([1, []]);
    });

    it("sends nothing with a picture that was forgotten", async () => {
      const { next, uploadId } = await openNextTab();
      const releasedProtection = pictureProtection();
      next.releaseOpener(releasedProtection.picture);
      await expect(next.resumeUpload(uploadId, file, { protection: releasedProtection })).rejects.toMatchObject({
        code: "picture_needed",
      });
      expect(await uploadStates(next)).toEqual(["waiting"]);
    });
  });

  it("is sent by one tab at a time, and can be given up in the other", async () => {
    const vault = await openOnOwnDevice();
    const { reached, resume } = pauseAtThirdPart();
    const protecting = expect(vault.protect(fileSecret("Film", file))).rejects.toMatchObject({ code: "not_found" });
    await reached;
    const other = openTab();
    const [runningUpload] = await other.listUploads();
    expect(runningUpload).toMatchObject({ state: "running", needsFile: false });
    await expect(other.resumeUpload(runningUpload?.uploadId ?? "", file)).rejects.toMatchObject({ code: "conflict" });
    await other.discardUpload(runningUpload?.uploadId ?? "");
    resume();
    await protecting;
    expect([service.account.uploads?.size, await vault.listUploads()]).toEqual([0, []]);
  });

  it("is put away by the lock while it is saved", async () => {
    const vault = await openOnOwnDevice();
    const { secretId } = await vault.protect(fileSecret("Film", file));
    const secret = await vault.openSecret(secretId, makeHandle("market"));
    const [requested, gate] = [createGate(), createGate()];
    let ranges = 0;
    service.beforeCall = async (call) => {
      if (call !== "POST /v2/secrets/get-secret" || ++ranges < 2) return; // the first is the head
      requested.open();
      await gate.opened;
    };
    const saving = expect(secret.save(null)).rejects.toMatchObject({ code: "vault_locked" });
    await requested.opened;
    await vault.lock();
    gate.open();
    await saving;
    service.beforeCall = () => undefined;
    await expect(secret.save(null)).rejects.toMatchObject({ code: "vault_locked" });
  });
});
