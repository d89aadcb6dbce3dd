import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { makePicture, userId } from "../testing/world.ts";
import { withOperations } from "./operation-members.ts";
import { createVaultClient } from "./vault-client.ts";
import type { VaultPortal } from "./vault-portal.ts";

unrefMessagePorts();

describe("withOperations", () => {
  interface Members {
    readonly ownMember: string;
    readonly trash: (id: string) => Promise<unknown>;
  }
  const create = () => {
    const call = jest.fn((path: readonly string[], args: readonly unknown[]) => Promise.resolve([path, args]));
    return { call, members: withOperations<Members>({ ownMember: "own" }, ["group"], call) };
  };

  it("returns own members, and calls any other name as an operation of the group", async () => {
    const { members } = create();
    expect(members.ownMember).toBe("own");
    expect(await members.trash("an id")).toEqual([["group", "trash"], ["an id"]]);
  });

  it("returns the same function each time, because hooks compare functions", () => {
    const { members } = create();
    expect(members.trash).toBe(members.trash);
  });

  it("can be the result of a promise", async () => {
    const { call, members } = create();
    expect(await Promise.resolve(members)).toBe(members);
    expect(call).not.toHaveBeenCalled();
  });

  it("cannot be changed by its holder", () => {
    const { members } = create();
    expect(Reflect.set(members, "trash", () => undefined)).toBe(false);
    expect(Reflect.set(members, "ownMember", "another")).toBe(false);
    expect(Reflect.defineProperty(members, "trash", { value: () => undefined })).toBe(false);
    expect(Reflect.setPrototypeOf(members, {})).toBe(false);
    expect(members.ownMember).toBe("own");
  });
});

describe("a remote that calls an operation outside the contract", () => {
  it.each([
    ["an operation only for the page's own code", "finishUpload"],
    ["a reset without a sign-in", "resetAccount"],
    ["a member of the worker", "start"],
    ["an unknown name", "finishEverything"],
  ])("is refused by the worker: %s", async (_case, name) => {
    const service = createFakeService(userId);
    const portal: VaultPortal = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: name },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    };
    const vault = createVaultClient(portal, createChannelWorkers(), { environment: createFakeMachine().openTab() });
    for (const members of [vault, vault.shares]) {
      const operation = Reflect.get(members, name) as (...args: readonly unknown[]) => Promise<unknown>;
      await expect(operation(makePicture("market"), "name")).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(service.calls).toEqual([]);
  });
});
