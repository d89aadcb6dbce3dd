import { PortalError } from "@relicario/shared/errors";

import { createHost } from "./create-host.ts";
import { createThemeStore } from "./settings/theme.ts";
import { createFakeHost, mockWindow } from "./testing/fake-host.tsx";

// The federation runtime is initialised by the page's bundle.
jest.mock("@module-federation/enhanced/runtime", () => ({
  loadRemote: jest.fn(),
  registerPlugins: jest.fn(),
  registerRemotes: jest.fn(),
}));

it("createHost leaves nothing in the query cache after sign-out", async () => {
  mockWindow({ mobile: false });
  globalThis.fetch = () => Promise.reject(new TypeError("no network in tests"));
  const warnSpy = jest.spyOn(console, "warn").mockImplementation(() => undefined);
  const { verifiedDeployment } = createFakeHost({
    deployment: { api: { base_url: "http://localhost/api", credentials: false } },
  }).host;
  const { queryClient, session } = await createHost({
    verifiedDeployment,
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
  queryClient.setQueryData(["secrets"], "an opened title");
  queryClient.getMutationCache().build(queryClient, { mutationFn: () => Promise.resolve("what was typed") });
  await session.signOut();
  expect(queryClient.getQueryCache().getAll()).toEqual([]);
  expect(queryClient.getMutationCache().getAll()).toEqual([]);
  expect(warnSpy.mock.calls).toEqual([["redirect", "TypeError"]]); // the provider is unreachable
});
