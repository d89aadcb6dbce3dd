import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { fileSecret, moment, randomFile } from "../testing/uploading.ts";
import { shownHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "../worker/vault-client.ts";

leavePortsUnwaited();

const { plain, file } = randomFile(6 * fakePartBytes + 77);
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
type Tab = ReturnType<typeof createVaultClient>;

let service: FakeService;
let portal: PortalForServices;
let people = 0;
const machine = createFakeMachine();
machine.now = Date.now();
const newTab = (): Tab => createVaultClient(portal, channelWorkers(), { surroundings: machine.tab() });

beforeEach(() => {
  service = createFakeService(userId);
  portal = {
    http: service.http,
    vendorId: "relicario",
    account: { userId, issuer: "https://id.example", subject: `transfers ${String(people++)}` },
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
});

async function ownDevice(): Promise<Tab> {
  const vault = newTab();
  await vault.protect(textSecret("First", shown("market")));
  await vault.answerDevice("own");
  return vault;
}

/** Resolves when the third part is on its way, which waits there until it is let go. */
function halfWay(): { reached: Promise<void>; letGo: () => void } {
  const [gate, reached] = [moment(), moment()];
  let parts = 0;
  service.before = async (call) => {
    if (!isPart(call) || ++parts < 3) return;
    reached.happen();
    await gate.come;
  };
  return { reached: reached.come, letGo: gate.happen };
}

async function pauseHalfWay(vault: Tab): Promise<void> {
  const { reached, letGo } = halfWay();
  const paused = new AbortController();
  const protecting = vault.protect(fileSecret("Film", file), { signal: paused.signal });
  await reached;
  paused.abort("pause");
  letGo();
  await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
  service.before = () => undefined;
}

const stateOf = async (vault: Tab): Promise<string[]> => (await vault.uploads()).map(({ state }) => state);
const sealedIn = (vault: Tab): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      stateOf(vault).then(([state]) => {
        if (state === "sealed") resolve();
        else setImmediate(look);
      }, reject);
    };
    look();
  });

describe("a large file", () => {
  it("goes up in parts, and comes back whole", async () => {
    const vault = await ownDevice();
    const phases = new Set<string>();
    const { secretId } = await vault.protect(fileSecret("Film", file), {
      onProgress: ({ phase }) => phases.add(phase),
    });
    expect(phases).toContain("sending");
    const secret = await vault.recover(secretId, shown("market"));
    expect(secret).toMatchObject({ content: null, title: "Film", author: "verified" });
    const blob = await secret.save(null);
    expect(new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(plain);
    expect(await vault.uploads()).toEqual([]);
  });

  it("is sealed and sent under the lock, and published once unlocked", async () => {
    const vault = await ownDevice();
    const { reached, letGo } = halfWay();
    const protecting = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    letGo();
    await sealedIn(vault);
    expect([vault.getState().status, service.account.rows.size]).toEqual(["locked", 1]);
    await vault.unlock(shown("market"));
    await expect(protecting).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.uploads()]).toEqual([2, []]);
  });

  it("that waits for unlocking is given up by cancelling", async () => {
    const vault = await ownDevice();
    const { reached, letGo } = halfWay();
    const cancelled = new AbortController();
    const protecting = vault.protect(fileSecret("Film", file), { signal: cancelled.signal });
    await reached;
    await vault.lock();
    letGo();
    await sealedIn(vault);
    cancelled.abort();
    await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, await vault.uploads()]).toEqual([0, []]);
  });

  it("that waits for unlocking stays for the next sign-in on an own device", async () => {
    const vault = await ownDevice();
    const { reached, letGo } = halfWay();
    const protecting = vault.protect(fileSecret("Film", file));
    await reached;
    await vault.lock();
    letGo();
    await sealedIn(vault);
    const ended = expect(protecting).rejects.toMatchObject({ code: "vault_unavailable" });
    await vault.signOut();
    await ended;
    const next = newTab();
    const [waiting] = await next.uploads();
    expect(waiting).toMatchObject({ state: "sealed", needsFile: false });
    await expect(next.resumeUpload(waiting?.uploadId ?? "", null)).rejects.toMatchObject({ code: "vault_locked" });
    await next.unlock(shown("market"));
    await expect(next.resumeUpload(waiting?.uploadId ?? "", null)).resolves.toMatchObject({ version: 1 });
  });

  it("that the service dropped is sent again from the beginning, with another file", async () => {
    const vault = await ownDevice();
    await pauseHalfWay(vault);
    service.account.uploads?.clear();
    const [waiting] = await vault.uploads();
    const uploadId = waiting?.uploadId ?? "";
    await expect(vault.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    await expect(vault.restartUpload(uploadId, randomFile(fakePartBytes).file)).resolves.toMatchObject({ version: 1 });
    expect([service.account.rows.size, await vault.uploads()]).toEqual([2, []]);
  });

  it("leaves nothing when it is cancelled half way: no part at the service, no record here", async () => {
    const vault = await ownDevice();
    const { reached, letGo } = halfWay();
    const cancelled = new AbortController();
    const protecting = vault.protect(fileSecret("Film", file), { signal: cancelled.signal });
    await reached;
    expect(service.account.uploads?.size).toBe(1);
    cancelled.abort();
    letGo();
    await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
    expect([service.account.uploads?.size, service.account.rows.size, await vault.uploads()]).toEqual([0, 1, []]);
  });

  it("stays to be gone on with when it is only paused", async () => {
    const vault = await ownDevice();
    await pauseHalfWay(vault);
    const [waiting] = await vault.uploads();
    expect(waiting).toMatchObject({ state: "waiting", needsFile: true, title: "Film" });
    await expect(vault.resumeUpload(waiting?.uploadId ?? "", null)).rejects.toMatchObject({ code: "validation_error" });
    await expect(vault.resumeUpload(waiting?.uploadId ?? "", file)).resolves.toMatchObject({ version: 1 });
  });

  describe("whose account waits for its picture", () => {
    const picture = () => ({ kind: "picture", shown: shown("market"), name: "Market" }) as const;

    /** A tab that was opened after another one stopped half way with the very first secret. */
    async function nextTab(): Promise<{ next: Tab; uploadId: string }> {
      const { reached, letGo } = halfWay();
      const paused = new AbortController();
      const protecting = newTab().protect(fileSecret("Film", file, shown("market")), { signal: paused.signal });
      await reached;
      paused.abort("pause");
      letGo();
      await expect(protecting).rejects.toMatchObject({ code: "cancelled" });
      service.before = () => undefined;
      const next = newTab();
      const [waiting] = await next.uploads();
      return { next, uploadId: waiting?.uploadId ?? "" };
    }

    it("is published with the picture that is given, once all of it is there", async () => {
      const { next, uploadId } = await nextTab();
      await expect(next.resumeUpload(uploadId, file)).rejects.toMatchObject({ code: "opener_needed" });
      expect(await stateOf(next)).toEqual(["sealed"]);
      await expect(next.resumeUpload(uploadId, null)).rejects.toMatchObject({ code: "opener_needed" });
      await expect(next.resumeUpload(uploadId, null, { protection: picture() })).resolves.toMatchObject({ version: 1 });
      expect([service.account.rows.size, await next.uploads()]).toEqual([1, []]);
    });

    it("is published with the picture that is given with its file, after the parts that were left", async () => {
      const { next, uploadId } = await nextTab();
      await expect(next.resumeUpload(uploadId, file, { protection: picture() })).resolves.toMatchObject({ version: 1 });
      expect([service.account.rows.size, await next.uploads()]).toEqual([1, []]);
    });

    it("sends nothing with a picture that was forgotten", async () => {
      const { next, uploadId } = await nextTab();
      const forgotten = picture();
      next.forgetShown(forgotten.shown);
      await expect(next.resumeUpload(uploadId, file, { protection: forgotten })).rejects.toMatchObject({
        code: "picture_needed",
      });
      expect(await stateOf(next)).toEqual(["waiting"]);
    });
  });

  it("is sent by one tab at a time, and can be given up in the other", async () => {
    const vault = await ownDevice();
    const { reached, letGo } = halfWay();
    const protecting = expect(vault.protect(fileSecret("Film", file))).rejects.toMatchObject({ code: "not_found" });
    await reached;
    const other = newTab();
    const [running] = await other.uploads();
    expect(running).toMatchObject({ state: "running", needsFile: false });
    await expect(other.resumeUpload(running?.uploadId ?? "", file)).rejects.toMatchObject({ code: "conflict" });
    await other.discardUpload(running?.uploadId ?? "");
    letGo();
    await protecting;
    expect([service.account.uploads?.size, await vault.uploads()]).toEqual([0, []]);
  });

  it("is put away by the lock while it is saved", async () => {
    const vault = await ownDevice();
    const { secretId } = await vault.protect(fileSecret("Film", file));
    const secret = await vault.recover(secretId, shown("market"));
    const [asked, gate] = [moment(), moment()];
    let ranges = 0;
    service.before = async (call) => {
      if (call !== "POST /v2/secrets/get-secret" || ++ranges < 2) return; // the first is the head
      asked.happen();
      await gate.come;
    };
    const saving = expect(secret.save(null)).rejects.toMatchObject({ code: "vault_locked" });
    await asked.come;
    await vault.lock();
    gate.happen();
    await saving;
    service.before = () => undefined;
    await expect(secret.save(null)).rejects.toMatchObject({ code: "vault_locked" });
  });
});
