import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { fileSecret, createGate, randomFile } from "../testing/uploading-tab.ts";
import { makePictureHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "../page/vault-client.ts";

unrefMessagePorts();

describe("somebody who reads the memory of a locked page", () => {
  it("finds no worker that opened a content: all of them end, while the one that seals and sends goes on", async () => {
    const service = createFakeService(userId);
    const workers = createChannelWorkers();
    const portal: PortalForServices = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: "plaintext" },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      takeLinkSecret: () => Promise.resolve(null),
    };
    const machine = createFakeMachine();
    machine.now = Date.now();
    const vault = createVaultClient(portal, workers, { environment: machine.tab() });
    await vault.protect(textSecret("First", shown("market")));
    await vault.setDeviceKind("own");
    const { file } = randomFile(6 * fakePartBytes + 77);
    const { secretId } = await vault.protect(fileSecret("Film", file));
    const secret = await vault.openSecret(secretId, shown("market"));
    await secret.save(null); // its worker holds plaintext, and would for as long as the page

    const [sending, gate] = [createGate(), createGate()];
    service.beforeCall = async (call) => {
      if (!call.startsWith("POST /v2/secrets/secret/upload/")) return;
      sending.open();
      await gate.opened;
    };
    const protecting = vault.protect(fileSecret("Another", file));
    await sending.opened;
    const before = workers.ended.length;
    await vault.lock();
    expect(workers.ended.slice(before).toSorted()).toEqual(["engine", "transfer", "transfer", "vault"]);
    gate.open();
    service.beforeCall = () => undefined;
    await vault.unlock(shown("market"));
    await expect(protecting).resolves.toMatchObject({ version: 1 });
    expect(service.account.rows.size).toBe(3);
  });
});
