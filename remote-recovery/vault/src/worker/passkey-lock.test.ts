import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { readDevice } from "../device/device.ts";
import { showKey } from "../shown-image.ts";
import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine, type FakeMachine } from "../testing/surroundings.ts";
import { shownHandle as shown, textSecret, userId } from "../testing/world.ts";
import { createVaultClient } from "./vault-client.ts";

leavePortsUnwaited();

const passkey = () => showKey({ kind: "passkey", prf: new Uint8Array(32).fill(7) });

describe("an own device with a passkey", () => {
  let machine: FakeMachine;
  let portal: PortalForServices;
  let people = 0;
  const account = () => ({ vendorId: portal.vendorId, issuer: portal.account.issuer, subject: portal.account.subject });
  const tab = () => createVaultClient(portal, channelWorkers(), { surroundings: machine.tab() });
  const withPasskey = async () => {
    const vault = tab();
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("own");
    await vault.openers.add({ shown: passkey(), name: "This device" }, null);
    return vault;
  };

  beforeEach(() => {
    machine = createFakeMachine();
    machine.now = Date.now();
    const service = createFakeService(userId);
    portal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: `passkey ${String(people++)}` },
      signInAgain: () => Promise.resolve({ authTime: Math.floor(machine.now / 1000) + 60 }),
      takeLinkSecret: () => Promise.resolve(null),
    };
  });

  it("loses its titles keys with a lock: no fresh sign-in unlocks it, and the passkey does", async () => {
    const vault = await withPasskey();
    expect((await readDevice(account())).titlesKeys).not.toBeNull();
    await vault.lock();
    expect(await readDevice(account())).toMatchObject({
      titlesKeys: null,
      locked: true,
      kind: "own",
      remembered: { stateRev: 2 },
    });
    await expect(vault.unlockByPresence()).rejects.toMatchObject({ code: "opener_needed" });
    await vault.unlock(passkey());
    expect((await readDevice(account())).titlesKeys).not.toBeNull();
    expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Seed"]);
  });

  it("loses them when it locked itself while no page was open", async () => {
    const vault = await withPasskey();
    await vault.signOut();
    machine.now += 16 * 60_000;
    const later = tab();
    expect((await later.list()).map(({ label }) => label)).toEqual([null]);
    expect((await readDevice(account())).titlesKeys).toBeNull();
    await expect(later.unlockByPresence()).rejects.toMatchObject({ code: "opener_needed" });
    await later.unlock(shown("market"));
    expect((await later.list()).map(({ label }) => label?.title)).toEqual(["Seed"]);
  });

  it("keeps them over a lock once the passkey was removed", async () => {
    const vault = await withPasskey();
    const { openers } = await vault.openers.list();
    await vault.openers.remove(openers.find(({ kind }) => kind === "passkey")?.id ?? "", shown("market"));
    await vault.lock();
    expect(await readDevice(account())).toMatchObject({ locked: true, passkeyOpener: null });
    expect((await readDevice(account())).titlesKeys).not.toBeNull();
  });
});
