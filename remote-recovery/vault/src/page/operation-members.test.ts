import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { makePicture, userId } from "../testing/world.ts";
import { withOperations } from "./operation-members.ts";
import { createVaultClient } from "./vault-client.ts";

unrefMessagePorts();

describe("withOperations", () => {
  interface Members {
    readonly kept: string;
    readonly trash: (id: string) => Promise<unknown>;
  }
  const create = () => {
    const call = jest.fn((path: readonly string[], args: readonly unknown[]) => Promise.resolve([path, args]));
    return { call, members: withOperations<Members>({ kept: "own" }, ["group"], call) };
  };

  it("gives what is its own, and calls any other name as an operation of its group", async () => {
    const { members } = create();
    expect(members.kept).toBe("own");
    expect(await members.trash("an id")).toEqual([["group", "trash"], ["an id"]]);
  });

  it("gives the same function each time: hooks compare them", () => {
    const { members } = create();
    expect(members.trash).toBe(members.trash);
  });

  it("can be the answer of a promise", async () => {
    const { call, members } = create();
    expect(await Promise.resolve(members)).toBe(members);
    expect(call).not.toHaveBeenCalled();
  });

  it("takes no member from whoever holds it", () => {
    const { members } = create();
    expect(Reflect.set(members, "trash", () => undefined)).toBe(false);
    expect(Reflect.set(members, "kept", "another")).toBe(false);
    expect(Reflect.defineProperty(members, "trash", { value: () => undefined })).toBe(false);
    expect(Reflect.setPrototypeOf(members, {})).toBe(false);
    expect(members.kept).toBe("own");
  });
});

describe("a remote that asks the vault for what is no operation of the contract", () => {
  it.each([
    ["what only the page's own code asks for", "finishUpload"],
    ["a reset without the sign-in before it", "resetAccount"],
    ["a member of the worker", "start"],
    ["a name that is nowhere", "finishEverything"],
  ])("is refused by the worker: %s", async (_case, name) => {
    const service = createFakeService(userId);
    const portal: PortalForServices = {
      http: service.http,
      vendorId: "relicario",
      account: { userId, issuer: "https://id.example", subject: name },
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      takeLinkSecret: () => Promise.resolve(null),
    };
    const vault = createVaultClient(portal, createChannelWorkers(), { environment: createFakeMachine().tab() });
    for (const members of [vault, vault.shares]) {
      const operation = Reflect.get(members, name) as (...args: readonly unknown[]) => Promise<unknown>;
      await expect(operation(makePicture("market"), "name")).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(service.calls).toEqual([]);
  });
});
