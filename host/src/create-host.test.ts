import { PortalError } from "@relicario/shared/errors";

import { createHost } from "./create-host.ts";
import type { VerifiedDeployment } from "./deployment/verify.ts";
import { createThemeStore } from "./settings/theme.ts";
import { createFakeHost, mockWindow } from "./testing/fake-host.tsx";

// The federation runtime is initialised by the page's bundle.
jest.mock("@module-federation/enhanced/runtime", () => ({
  loadRemote: jest.fn(),
  registerPlugins: jest.fn(),
  registerRemotes: jest.fn(),
}));

function create(changes: Partial<VerifiedDeployment> = {}): ReturnType<typeof createHost> {
  mockWindow({ mobile: false });
  globalThis.fetch = () => Promise.reject(new TypeError("no network in tests"));
  const verifiedDeployment = {
    ...createFakeHost({
      deployment: { api: { base_url: "http://localhost/api", credentials: false } },
      refusedRemotes: ["settings"],
    }).host.verifiedDeployment,
    ...changes,
  };
  return createHost({
    verifiedDeployment,
    startRecords: { recordLoad: () => () => undefined },
    readDeployment: () => Promise.resolve(verifiedDeployment),
    vaultFrame: { getChannel: () => Promise.reject(new PortalError("vault_unavailable")) },
    sweeps: {
      prepare: () => () => Promise.resolve(),
      finishMarked: () => Promise.resolve(),
      cancelMarked: () => undefined,
      dropLinkSecret: () => Promise.resolve(),
    },
    language: "en",
    theme: createThemeStore(window),
    texts: {},
  });
}

it("createHost leaves nothing in the query cache after sign-out", async () => {
  const warnSpy = jest.spyOn(console, "warn").mockImplementation(() => undefined);
  const { queryClient, session } = await create();
  queryClient.setQueryData(["secrets"], "an opened title");
  queryClient.getMutationCache().build(queryClient, { mutationFn: () => Promise.resolve("what was typed") });
  await session.signOut();
  expect(queryClient.getQueryCache().getAll()).toEqual([]);
  expect(queryClient.getMutationCache().getAll()).toEqual([]);
  expect(warnSpy.mock.calls).toEqual([["redirect", "TypeError"]]); // the provider is unreachable
});

it("createHost logs each refused release once, with the reason", async () => {
  const warnSpy = jest.spyOn(console, "warn").mockImplementation(() => undefined);
  warnSpy.mockClear();
  const refusal = {
    remote: "settings",
    release: "settings-0.3.1-0123456789ab",
    code: "remote_incompatible",
    reason: "it is built for contract ^9, and the host has 3.0.0",
  } as const;
  const { loader } = await create({ refusals: [refusal] });
  await expect(loader.load("settings")).rejects.toMatchObject({ code: "remote_refused" });
  await expect(loader.load("settings")).rejects.toMatchObject({ code: "remote_refused" });
  expect(warnSpy.mock.calls).toEqual([
    [
      "remote settings",
      "settings-0.3.1-0123456789ab refused, remote_incompatible: it is built for contract ^9, and the host has 3.0.0",
    ],
  ]);
});
