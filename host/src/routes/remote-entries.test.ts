import type { RemoteManifest } from "@relicario/shared/contract";

import type { VerifiedRemote } from "../deployment/verify.ts";
import { listRemoteEntries } from "./remote-entries.ts";
import { buildPortalRoutes } from "./routes.ts";

type Navigation = NonNullable<RemoteManifest["navigation"]>;

function createManifest(name: string, entries: readonly Partial<Navigation[number]>[]): RemoteManifest {
  const path = `/${name}`;
  return {
    ...{ name, contract: "^3.1", title: { en: name, es: name }, namespaces: [name], capabilities: [], api_paths: [] },
    routes: [{ path, titleKey: `${name}:title`, access: "signed_in", shell: true, feature: `${name}_pages` }],
    navigation: entries.map((entry) => ({
      ...{ route: path, titleKey: `${name}:title`, icon: "leaf", order: 10 },
      ...entry,
    })),
  };
}

const verify = (manifest: RemoteManifest): VerifiedRemote => ({
  status: "verified",
  record: {
    v: 1,
    release: `${manifest.name}-1.0.0-0123456789ab`,
    version: "1.0.0",
    manifest,
    files: {},
    federation: { id: "x", name: "x" },
  },
});

const listEntries = (remotes: readonly VerifiedRemote[]) => {
  const byName = new Map(
    remotes.map((remote) => [
      (remote.status === "verified" ? remote.record.manifest : remote.manifest)?.name ?? "",
      remote,
    ]),
  );
  return listRemoteEntries(
    byName,
    buildPortalRoutes(byName, () => undefined),
  );
};

describe("listRemoteEntries", () => {
  it("sorts by order, then as the deployment document names the remotes", () => {
    const remotes = [
      verify(createManifest("pond", [{ order: 20 }])),
      verify(createManifest("attic", [{ order: 10 }])),
      verify(createManifest("garden", [{ order: 20 }])),
    ];
    expect(listEntries(remotes).map(({ path }) => path)).toEqual(["/attic", "/pond", "/garden"]);
  });

  it("gives an entry the features of the entry and of its route", () => {
    const [entry] = listEntries([verify(createManifest("garden", [{ feature: "beds" }]))]);
    expect(entry).toEqual({
      remote: "garden",
      path: "/garden",
      titleKey: "garden:title",
      areaTitle: { en: "garden", es: "garden" },
      icon: "leaf",
      features: ["beds", "garden_pages"],
    });
  });

  it("leaves out the entries of a refused remote", () => {
    const manifest = createManifest("garden", [{}]);
    expect(listEntries([{ status: "refused", code: "remote_refused", manifest }])).toEqual([]);
  });

  it("leaves out an entry whose route another remote has", () => {
    const claimant = createManifest("attic", [{ route: "/garden" }]);
    const [route] = createManifest("garden", []).routes;
    if (route === undefined) throw new Error("no route");
    const remotes = [verify(createManifest("garden", [])), verify({ ...claimant, routes: [route] })];
    expect(listEntries(remotes)).toEqual([]);
  });
});
