import "fake-indexeddb/auto";

import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { shownHandle, userId } from "../testing/world.ts";
import { createVaultClient } from "../worker/vault-client.ts";

jest.setTimeout(60_000); // for a busy machine
leavePortsUnwaited();

describe("importing over the workers", () => {
  it("reads a file in a worker that ends after it, and stores what it holds once", async () => {
    const workers = channelWorkers();
    const account = { userId, issuer: "https://id.example", subject: "importing" };
    const { http } = createFakeService(userId);
    const machine = createFakeMachine();
    machine.now = Date.now();
    const vault = createVaultClient({ http, vendorId: "relicario", account, signInAgain: () => Promise.resolve({ authTime: 0 }), takeLinkSecret: () => Promise.resolve(null) }, workers, { surroundings: machine.tab() });
    const file = Object.assign(new File(["name,url,username,password,note\nMail,https://a.example,ana,pw,\n"], "google.csv"), { webkitRelativePath: "" });
    const read = await vault.imports.read([file], { language: "en" });
    if (read.status !== "read") throw new Error(read.reason);
    expect(workers.ended).toEqual(["import"]);
    expect(await vault.imports.compare(read.items)).toEqual([{ standing: "new" }]);
    expect(await vault.imports.store(read.items, shownHandle("market"), { name: "The market" })).toEqual({ added: 1, updated: 0, same: 0, failed: [] });
    expect((await vault.imports.compare(read.items)).map(({ standing }) => standing)).toEqual(["same"]);
    expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Mail"]);
    await vault.signOut();
  });
});
