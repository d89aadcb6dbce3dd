import "fake-indexeddb/auto";

import type { PortalForServices } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { createEngineClient } from "../../engine/engine-client.ts";
import type { EngineService } from "../../engine/engine-service.ts";
import { createFakeEngine } from "../testing/fake-engine.ts";
import { createFakeService, lastOf, type FakeService } from "../testing/fake-service.ts";
import { shown, textSecret, userId } from "../testing/world.ts";
import type { RunningWorker, WorkerStarter } from "./start-workers.ts";
import { createVaultClient } from "./vault-client.ts";
import { createVaultService, type VaultService } from "./vault-service.ts";

jest.setTimeout(60_000); // for a busy machine

/** The smallest costs of Argon2id that are let in: all else is as it is. */
jest.mock("../seal/kdf.ts", () => ({ ...jest.requireActual<object>("../seal/kdf.ts"), argon2Costs: { memoryKib: 19 * 1024, passes: 2, lanes: 1 } }));

/** Every port that is made here or by Comlink's proxies: Node waits for open ones, browsers do not. */
const ports: MessagePort[] = [];
const OriginalChannel = globalThis.MessageChannel;
beforeAll(() => {
  globalThis.MessageChannel = class extends OriginalChannel {
    constructor() {
      super();
      ports.push(this.port1, this.port2);
    }
  };
});
afterAll(() => {
  globalThis.MessageChannel = OriginalChannel;
  for (const port of ports) port.close();
});

/** Workers over message channels: everything crosses by structured clone, as in a browser, without threads. */
function channelWorkers(): WorkerStarter & { readonly started: string[]; failNext: string | null } {
  const run = <T>(name: string, service: T): RunningWorker<T> => {
    if (starter.failNext === name) {
      starter.failNext = null;
      throw new PortalError("vault_unavailable");
    }
    starter.started.push(name);
    const { port1, port2 } = new MessageChannel();
    Comlink.expose(service, port1);
    return { remote: Comlink.wrap<T>(port2), failed: new Promise(() => undefined), end: () => { port1.close(); } };
  };
  const starter = {
    started: [] as string[],
    failNext: null as string | null,
    vault: () =>
      attempt(() =>
        run<VaultService>("vault", createVaultService((port) => {
          ports.push(port);
          return createEngineClient(Comlink.wrap<EngineService>(port));
        })),
      ),
    engine: () => attempt(() => run<EngineService>("engine", engineService())),
  };
  return starter;
}

/** The engine's service over the fake engine: enough of it for the vault. */
function engineService(): EngineService {
  const engine = createFakeEngine();
  const service: EngineService = {
    init: () => undefined,
    connect: (port) => {
      ports.push(port);
      Comlink.expose(service, port);
    },
    inspect: (_id, picture) => engine.inspect(picture),
    enrol: (_id, picture, known) => engine.enrol(picture, known),
    recover: (_id, picture, sketches) => engine.recover(picture, sketches),
    cancel: () => undefined,
  };
  return service;
}

async function attempt<T>(work: () => T): Promise<T> {
  return Promise.resolve().then(work);
}

describe("createVaultClient", () => {
  let service: FakeService;
  let workers: ReturnType<typeof channelWorkers>;
  let portal: PortalForServices;
  let person = 0;

  beforeEach(() => {
    service = createFakeService(userId);
    workers = channelWorkers();
    portal = { http: service.http, vendorId: "relicario", account: { userId, issuer: "https://id.example", subject: `client ${String(person++)}` }, signInAgain: () => Promise.resolve({ authTime: 0 }) };
  });

  it("starts nothing before it is asked, and no engine before a picture is looked at", async () => {
    const vault = createVaultClient(portal, workers);
    expect(workers.started).toEqual([]);
    expect(await vault.list()).toEqual([]);
    expect(workers.started).toEqual(["vault"]);
    expect(vault.getState()).toEqual({ status: "empty" });
    await vault.examine(shown("market").picture);
    expect(workers.started).toEqual(["vault", "engine"]);
  });

  it("protects, tells the state before it answers, recovers, and gives the age file only when asked", async () => {
    const vault = createVaultClient(portal, workers);
    const told: string[] = [];
    vault.subscribe(() => told.push(vault.getState().status));
    const phases = new Set<string>();
    const { secretId } = await vault.protect(textSecret("Seed", shown("market")), { onProgress: ({ phase }) => phases.add(phase) });
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
    expect(lastOf(told)).toBe("unlocked");
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "passphrase", "sending"]));
    const secret = await vault.recover(secretId, shown("market"));
    expect(new TextDecoder().decode(secret.content ?? undefined)).toBe("content of Seed");
    expect(JSON.stringify(secret)).not.toContain("AGE-SECRET-KEY");
    const { identity, size } = await secret.exportAge();
    expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(size).toBe("content of Seed".length);
    secret.putAway();
    await expect(secret.exportAge()).rejects.toMatchObject({ code: "vault_locked" });
  });

  it("ends the worker when locked: calls under way and age files end too, and the next call starts anew", async () => {
    const vault = createVaultClient(portal, workers);
    const { secretId } = await vault.protect(textSecret("Seed", shown("market")));
    const secret = await vault.recover(secretId, shown("market"));
    service.before = () => new Promise(() => undefined);
    const under = vault.list();
    const settled = expect(under).rejects.toMatchObject({ code: "vault_locked" });
    await vault.lock();
    await settled;
    await expect(secret.exportAge()).rejects.toMatchObject({ code: "vault_locked" });
    expect(vault.getState()).toEqual({ status: "locked" });
    service.before = () => undefined;
    expect((await vault.list()).map((row) => row.label)).toEqual([null]);
    await vault.unlock(shown("market"));
    expect((await vault.list()).map((row) => row.label?.title)).toEqual(["Seed"]);
  });

  it("forgets a failed start, of the vault or of the engine, and tries again", async () => {
    const vault = createVaultClient(portal, workers);
    workers.failNext = "vault";
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(await vault.list()).toEqual([]);
    workers.failNext = "engine";
    await expect(vault.examine(shown("market").picture)).rejects.toMatchObject({ code: "vault_unavailable" });
    expect((await vault.examine(shown("market").picture)).level).toBe("green");
  });

  it("cancels by signal, before and during a call", async () => {
    const vault = createVaultClient(portal, workers);
    const before = AbortSignal.abort();
    await expect(vault.list({ signal: before })).rejects.toMatchObject({ code: "cancelled" });
    const controller = new AbortController();
    service.before = (call) => {
      if (call === "GET /user/keyring") controller.abort();
    };
    await expect(vault.protect(textSecret("Seed", shown("market")), { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(service.account.rows.size).toBe(0);
  });

  it("carries errors by code and details", async () => {
    const vault = createVaultClient(portal, workers);
    await expect(vault.protect(textSecret("Seed", shown("plain-wall")))).rejects.toMatchObject({ code: "picture_too_plain", details: { reasons: ["estimate"] } });
    await expect(vault.protect({ ...textSecret("Seed", shown("market")), title: "" })).rejects.toMatchObject({ code: "validation_error", details: { fields: ["title"] } });
  });

  it("is of no use after sign-out, and keeps nothing where nobody answered", async () => {
    const vault = createVaultClient(portal, workers);
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    await expect(vault.list()).rejects.toMatchObject({ code: "vault_unavailable" });
    const next = createVaultClient(portal, workers);
    expect((await next.list()).map((row) => row.label)).toEqual([null]);
  });

  it.each([
    ["own", ["Seed"], "unlocked"],
    ["shared", [undefined], "locked"],
  ] as const)("after sign-out from a device answered %s the next sign-in sees %j", async (kind, titles, status) => {
    const vault = createVaultClient(portal, workers);
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice(kind);
    expect(vault.getState()).toEqual({ status: "unlocked", device: kind });
    await vault.signOut();
    const next = createVaultClient(portal, workers);
    expect((await next.list()).map((row) => row.label?.title)).toEqual(titles);
    expect(next.getState().status).toBe(status);
  });

  it("starts locked after a lock on an own device", async () => {
    const vault = createVaultClient(portal, workers);
    await vault.protect(textSecret("Seed", shown("market")));
    await vault.answerDevice("own");
    await vault.lock();
    const reloaded = createVaultClient(portal, workers);
    expect((await reloaded.list()).map((row) => row.label)).toEqual([null]);
    await reloaded.unlock(shown("market"));
    expect(reloaded.getState()).toEqual({ status: "unlocked", device: "own" });
  });
});
