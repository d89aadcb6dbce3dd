import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { fileSecret, createGate, randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "../page/vault-client.ts";
import type { VaultPortal } from "../page/vault-portal.ts";

unrefMessagePorts();

describe("an attacker who reads the memory of a locked page", () => {
  it("finds no worker that opened a content: all of these end, and only the upload continues", async () => {
    const service = createFakeService(userId);
    const workers = createChannelWorkers();
    const portal: VaultPortal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: "plaintext" },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    };
    const machine = createFakeMachine();
    machine.now = Date.now();
    const vault = createVaultClient(portal, workers, { environment: machine.openTab() });
    await vault.protect(textSecret("First", makePictureHandle("market")));
    await vault.setDeviceKind("own");
    const { file } = randomFile(6 * fakePartBytes + 77);
    const { secretId } = await vault.protect(fileSecret("Film", file));
    const openedFilm = await vault.openSecret(secretId, makePictureHandle("market"));
    await openedFilm.save(); // the upload's worker now holds plaintext

    const [sendingStarted, sendingAllowed] = [createGate(), createGate()];
    service.beforeCall = async (call) => {
      if (!call.startsWith("POST /v2/secrets/secret/upload/")) return;
      sendingStarted.open();
      await sendingAllowed.whenOpened;
    };
    const uploadResult = vault.protect(fileSecret("Another", file));
    await sendingStarted.whenOpened;
    const endedCountBefore = workers.endedWorkers.length;
    await vault.lock();
    expect(workers.endedWorkers.slice(endedCountBefore).toSorted()).toEqual([
      "engine",
      "transfer",
      "transfer",
      "vault",
    ]);
    sendingAllowed.open();
    service.beforeCall = () => undefined;
    await vault.unlock(makePictureHandle("market"));
    await expect(uploadResult).resolves.toMatchObject({ version: 1 });
    expect(service.account.rows.size).toBe(3);
  });
});
