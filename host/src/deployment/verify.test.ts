import {
  CONTRACT_VERSION,
  type Deployment,
  type PortalTrustAnchors,
  type ReleaseOverride,
  type ReleaseRecord,
  type RemoteName,
} from "@relicario/shared/contract";

import { createLocks } from "./testing/locks.ts";
import { createSigner, signDocument, signRecord, type Signer } from "./testing/signer.ts";
import { loadDeployment, readTrustAnchors, type DeploymentDeps } from "./load.ts";
import { buildDeploymentKey } from "./offline-deployment.ts";
import { verifyDeployment, type DeploymentExpectations } from "./verify.ts";

const origin = "http://localhost:3000";
const now = Date.parse("2026-11-21T10:00:00.000Z");
const dayMs = 24 * 60 * 60_000;
const toTimestamp = (ms: number) => new Date(ms).toISOString();

const remoteNames = ["secrets", "sharing", "recovery", "settings"];

const createRecord = (remote: RemoteName, changes: Partial<ReleaseRecord["manifest"]> = {}): ReleaseRecord => ({
  v: 1,
  release: `${remote}-0.3.1-0123456789ab`,
  version: "0.3.1",
  manifest: {
    name: remote,
    contract: "^3",
    title: { en: remote, es: remote },
    routes: [{ path: `/${remote}`, titleKey: "texts:title", access: "signed_in", shell: true }],
    namespaces: ["texts"],
    capabilities: ["http"],
    api_paths: ["/user"],
    ...changes,
  },
  files: { "remoteEntry.js": `sha384-${"a".repeat(64)}` },
  federation: {
    id: `relicario_${remote}`,
    name: `relicario_${remote}`,
    shared: [{ name: "react", requiredVersion: "^19.2.0" }],
  },
});

const createRecordRequiring = (requiredVersion: string, name: string): ReleaseRecord => {
  const record = createRecord("settings");
  return { ...record, federation: { ...record.federation, shared: [{ name, requiredVersion }] } };
};

interface Scenario {
  readonly portal: Signer;
  readonly team: Signer;
  readonly trustAnchors: PortalTrustAnchors;
  readonly expectations: DeploymentExpectations;
  readonly deployment: Deployment;
}

let scenario: Scenario;

beforeAll(async () => {
  const portal = await createSigner("portal-1");
  const team = await createSigner("team-1");
  const teamKeys = Object.fromEntries(remoteNames.map((name) => [name, [team.publicKey]]));
  const trustAnchors: PortalTrustAnchors = {
    vendor_id: "relicario",
    portal_keys: [portal.publicKey],
    team_keys: teamKeys,
  };
  const records = await Promise.all(
    remoteNames.map(async (name) => [createRecord(name).release, await signRecord(createRecord(name), team)] as const),
  );
  const deployment: Deployment = {
    v: 1,
    vendor_id: "relicario",
    origin,
    vault_origin: "http://localhost:3004",
    sequence: 7,
    issued_at: toTimestamp(now - dayMs),
    not_after: toTimestamp(now + dayMs),
    environment: "test",
    app_version: "0.3.1",
    branding: { product_name: "Relicario", layout: "standard", colors: { light: {}, dark: {} } },
    identity: { authority: "http://localhost:3001/realms/relicario", client_id: "relicario-portal", scope: "openid" },
    api: { base_url: `${origin}/api`, credentials: false },
    features: {},
    messages: [],
    releases: Object.fromEntries(remoteNames.map((name) => [name, { stable: createRecord(name).release }])),
    release_records: Object.fromEntries(records),
  };
  scenario = {
    portal,
    team,
    trustAnchors,
    expectations: {
      trustAnchors,
      origin,
      seenSequence: 0,
      now,
      serviceTime: null,
      rolloutBucket: 50,
      override: null,
      providedPackages: { react: "19.3.1", zod: "4.6.7" },
    },
    deployment,
  };
});

const verify = async (changes: Partial<Deployment>, expectations: Partial<DeploymentExpectations> = {}) =>
  verifyDeployment(await signDocument({ ...scenario.deployment, ...changes }, scenario.portal), {
    ...scenario.expectations,
    ...expectations,
  });

describe("verifyDeployment", () => {
  it("returns the deployment and a verified record for each remote", async () => {
    const { deployment, remotes } = await verify({});
    expect(deployment.sequence).toBe(7);
    expect([...remotes].map(([name, { status }]) => `${name} ${status}`)).toEqual(
      remoteNames.map((name) => `${name} verified`),
    );
  });

  it("allows a clock that is at most 15 minutes behind the time at which the document was issued", async () => {
    const issued = { issued_at: toTimestamp(now + 15 * 60_000) };
    await expect(verify(issued)).resolves.toMatchObject({ wrongClock: null });
    await expect(verify(issued, { now: now - 1 })).rejects.toMatchObject({
      code: "clock_wrong",
      details: { device: now - 1, service: now + 15 * 60_000 },
    });
  });

  it.each([
    [5 * 60_000, false],
    [5 * 60_000 + 1, true],
    [-5 * 60_000, false],
    [-5 * 60_000 - 1, true],
  ])("reports a clock that differs by %d ms: %s", async (differenceMs, isWrong) => {
    const service = now - differenceMs;
    const { wrongClock } = await verify({}, { serviceTime: service });
    expect(wrongClock).toEqual(isWrong ? { device: now, service } : null);
  });

  describe("refuses the whole deployment for", () => {
    it.each<[string, string, () => Partial<Deployment>, Partial<DeploymentExpectations>]>([
      ["another vendor's document", "deployment_refused", () => ({ vendor_id: "acme" }), {}],
      ["another origin's document", "deployment_refused", () => ({ origin: "http://localhost:3002" }), {}],
      ["a document with the vault at the portal's origin", "deployment_refused", () => ({ vault_origin: origin }), {}],
      [
        "a document with the vault on another site",
        "deployment_refused",
        () => ({ vault_origin: "http://vault.portal.localhost:3004" }),
        {},
      ],
      [
        "a document whose vault_origin is not an origin",
        "deployment_refused",
        () => ({ vault_origin: "http://localhost:3004/vault" }),
        {},
      ],
      ["a document older than one that was seen", "deployment_older", () => ({ sequence: 6 }), { seenSequence: 7 }],
      [
        "an expired document",
        "deployment_expired",
        () => ({ issued_at: toTimestamp(now - 2 * dayMs), not_after: toTimestamp(now) }),
        {},
      ],
      ["a stored document that has expired", "deployment_expired", () => ({}), { now: now + 2 * dayMs }],
      [
        "a document that is in force for more than 7 days",
        "deployment_refused",
        () => ({ issued_at: toTimestamp(now), not_after: toTimestamp(now + 7 * dayMs + 1) }),
        {},
      ],
      [
        "a document issued later than both clocks show",
        "deployment_refused",
        () => ({ issued_at: toTimestamp(now + dayMs / 2) }),
        { serviceTime: now },
      ],
      [
        "a document issued later than the device's clock shows, without a service time",
        "clock_wrong",
        () => ({ issued_at: toTimestamp(now + dayMs / 2) }),
        {},
      ],
      [
        "a fresh document, when the device's clock is behind",
        "clock_wrong",
        () => ({}),
        { now: now - 2 * dayMs, serviceTime: now },
      ],
      [
        "a document in force, when the device's clock is ahead",
        "clock_wrong",
        () => ({}),
        { now: now + 2 * dayMs, serviceTime: now },
      ],
      [
        "a document that has expired by both clocks, although they differ",
        "deployment_expired",
        () => ({}),
        { now: now + 2 * dayMs, serviceTime: now + 3 * dayMs },
      ],
      [
        "a document that ends before it begins",
        "deployment_refused",
        () => ({ issued_at: toTimestamp(now), not_after: toTimestamp(now - 1) }),
        {},
      ],
      ["a document with an unknown field", "deployment_refused", () => ({ extra: true }) as Partial<Deployment>, {}],
      [
        "a document that names no release of a remote",
        "deployment_refused",
        () => ({ releases: { settings: {} } }) as unknown as Partial<Deployment>,
        {},
      ],
      [
        "a document with a name that no remote can have",
        "deployment_refused",
        () => ({ releases: { "../settings": { stable: createRecord("settings").release } } }),
        {},
      ],
    ])("%s: %s", async (_name, code, changes, expected) => {
      await expect(verify(changes(), expected)).rejects.toMatchObject({ code });
    });

    it("but not for the same sequence again", async () => {
      await expect(verify({}, { seenSequence: 7 })).resolves.toBeDefined();
    });

    it.each<[string, () => Promise<unknown>]>([
      ["a key that is not the portal's", async () => signDocument(scenario.deployment, await createSigner("portal-1"))],
      ["a key of a team", () => signDocument(scenario.deployment, scenario.team)],
    ])("a document signed by %s", async (_name, createDocument) => {
      await expect(verifyDeployment(await createDocument(), scenario.expectations)).rejects.toMatchObject({
        code: "deployment_refused",
      });
    });

    it("a document whose payload, header or signature has an altered character", async () => {
      const signed = await signDocument(scenario.deployment, scenario.portal);
      const [firstSignature] = signed.signatures;
      const alter = (text: string | undefined) => {
        const middle = Math.floor((text ?? "").length / 2);
        return `${(text ?? "").slice(0, middle)}${text?.[middle] === "A" ? "B" : "A"}${(text ?? "").slice(middle + 1)}`;
      };
      const altered = [
        { ...signed, payload: alter(signed.payload) },
        { ...signed, signatures: [{ ...firstSignature, protected: alter(firstSignature?.protected) }] },
        { ...signed, signatures: [{ ...firstSignature, signature: alter(firstSignature?.signature) }] },
        { ...signed, signatures: [] },
        { payload: signed.payload },
        "not a document",
        null,
      ];
      for (const document of altered)
        await expect(verifyDeployment(document, scenario.expectations)).rejects.toMatchObject({
          code: "deployment_refused",
        });
    });
  });

  describe("refuses only one remote", () => {
    const createRecords = (jws: string) => ({
      release_records: { ...scenario.deployment.release_records, [createRecord("settings").release]: jws },
    });
    const verifyWithRecord = (jws: string) => verify(createRecords(jws));

    it.each<[string, string, () => Promise<string>]>([
      [
        "its record is signed by another key",
        "remote_refused",
        async () => signRecord(createRecord("settings"), await createSigner("team-1")),
      ],
      [
        "its record is signed by the portal",
        "remote_refused",
        () => signRecord(createRecord("settings"), scenario.portal),
      ],
      [
        "its record is of another remote",
        "remote_refused",
        () => signRecord({ ...createRecord("secrets"), release: createRecord("settings").release }, scenario.team),
      ],
      [
        "its record is of another release",
        "remote_refused",
        () => signRecord({ ...createRecord("settings"), release: "settings-0.3.1-ffffffffffff" }, scenario.team),
      ],
      [
        "a hash is malformed",
        "remote_refused",
        () => signRecord({ ...createRecord("settings"), files: { "remoteEntry.js": "sha256-x" } }, scenario.team),
      ],
      [
        "a route claims every address",
        "remote_refused",
        () =>
          signRecord(
            createRecord("settings", {
              routes: [{ path: "/*", titleKey: "texts:title", access: "public", shell: false }],
            }),
            scenario.team,
          ),
      ],
      [
        "it was built for a newer contract, whose manifest has unknown members",
        "remote_incompatible",
        () =>
          signRecord(
            {
              ...createRecord("settings"),
              manifest: { ...createRecord("settings", { contract: "^4" }).manifest, more: [] },
            },
            scenario.team,
          ),
      ],
      ["its record is nonsense", "remote_refused", () => Promise.resolve("a.b.c")],
      [
        "its record is longer than WebKitGTK can verify",
        "remote_refused",
        () => {
          const record = createRecord("settings");
          const hash = Object.values(record.files)[0] ?? "";
          const more = Array.from({ length: 600 }, (_, index) => [`${String(index)}.js`, hash] as const);
          return signRecord({ ...record, files: { ...record.files, ...Object.fromEntries(more) } }, scenario.team);
        },
      ],
    ])("when %s: %s", async (_name, code, jws) => {
      const { remotes, refusals } = await verifyWithRecord(await jws());
      expect(refusals).toMatchObject([{ remote: "settings", release: createRecord("settings").release, code }]);
      expect(remotes.get("settings")).toEqual({ status: "refused", code, manifest: null });
      expect(remotes.get("secrets")).toMatchObject({ status: "verified" });
    });

    it.each(["^4", "^3.99", "^2"])("when it was built for contract %s, and keeps its manifest", async (contract) => {
      const record = createRecord("settings", { contract });
      const { remotes } = await verifyWithRecord(await signRecord(record, scenario.team));
      expect(remotes.get("settings")).toEqual({
        status: "refused",
        code: "remote_incompatible",
        manifest: record.manifest,
      });
    });

    it.each([
      ["zod", "^4.7.0"],
      ["zod", "^3.0.0"],
      ["left-pad", "^1.0.0"],
    ])("when its code requires %s %s, which the host lacks, before any of it runs", async (name, range) => {
      const { remotes } = await verifyWithRecord(await signRecord(createRecordRequiring(range, name), scenario.team));
      expect(remotes.get("settings")).toMatchObject({
        status: "refused",
        code: "remote_incompatible",
        manifest: { name: "settings" },
      });
    });

    it("when the page has no key of its team, even if its name is inherited by every object", async () => {
      const { remotes } = await verify({
        releases: { ...scenario.deployment.releases, constructor: { stable: createRecord("settings").release } },
      });
      expect(remotes.get("constructor")).toEqual({ status: "refused", code: "remote_refused", manifest: null });
    });

    it.each<[string, () => Promise<Partial<Deployment>>]>([
      ["the deployment document disables it", () => Promise.resolve({ disabled: [createRecord("settings").release] })],
      ["the deployment document has no record of it", () => Promise.resolve({ release_records: {} })],
      [
        "no key of its team that the page has signed its record",
        async () => createRecords(await signRecord(createRecord("settings"), scenario.portal)),
      ],
      [
        "its record is not one of this release",
        async () =>
          createRecords(
            await signRecord({ ...createRecord("settings"), release: "settings-0.3.1-ffffffffffff" }, scenario.team),
          ),
      ],
      [
        `it is built for contract ^2, and the host has ${CONTRACT_VERSION}`,
        async () => createRecords(await signRecord(createRecord("settings", { contract: "^2" }), scenario.team)),
      ],
      [
        "it needs zod ^4.7.0, which the host does not have",
        async () => createRecords(await signRecord(createRecordRequiring("^4.7.0", "zod"), scenario.team)),
      ],
    ])("and says for the log: %s", async (reason, getChanges) => {
      const { refusals } = await verify(await getChanges());
      expect(refusals).toContainEqual(expect.objectContaining({ remote: "settings", reason }));
    });

    it("when its record is missing", async () => {
      const records = Object.fromEntries(
        Object.entries(scenario.deployment.release_records).filter(([release]) => !release.startsWith("settings")),
      );
      const { remotes } = await verify({ release_records: records });
      expect(remotes.get("settings")).toEqual({ status: "refused", code: "remote_refused", manifest: null });
    });
  });
});

describe("a canary release", () => {
  const canaryRelease = "settings-0.4.0-0123456789ab";
  const runWithCanary = async (
    percent: number,
    rolloutBucket: number,
    changes: Partial<Deployment> = {},
    logged: unknown[] = [],
  ) => {
    const releases = {
      ...scenario.deployment.releases,
      settings: { stable: createRecord("settings").release, canary: { release: canaryRelease, percent } },
    };
    const records = {
      ...scenario.deployment.release_records,
      [canaryRelease]: await signRecord(
        { ...createRecord("settings"), release: canaryRelease, version: "0.4.0" },
        scenario.team,
      ),
    };
    const { remotes, refusals } = await verify({ releases, release_records: records, ...changes }, { rolloutBucket });
    logged.push(...refusals);
    const settings = remotes.get("settings");
    return settings?.status === "verified" ? settings.record.release : settings?.code;
  };

  it("runs only in sessions whose bucket is below its percentage", async () => {
    await expect(runWithCanary(10, 9.99)).resolves.toBe(canaryRelease);
    await expect(runWithCanary(10, 10)).resolves.toBe(createRecord("settings").release);
  });

  it.each<[string, () => Promise<Partial<Deployment>>]>([
    ["is disabled", () => Promise.resolve({ disabled: [canaryRelease] })],
    [
      "is not signed by its team",
      async () => ({
        release_records: {
          ...scenario.deployment.release_records,
          [canaryRelease]: await signRecord({ ...createRecord("settings"), release: canaryRelease }, scenario.portal),
        },
      }),
    ],
  ])("is replaced by the stable release when it %s", async (_name, getChanges) => {
    const logged: unknown[] = [];
    await expect(runWithCanary(100, 0, await getChanges(), logged)).resolves.toBe(createRecord("settings").release);
    expect(logged).toMatchObject([{ remote: "settings", release: canaryRelease }]);
  });
});

it("verifyDeployment refuses a disabled release, keeps its manifest, and verifies the others", async () => {
  const { remotes } = await verify({ disabled: [createRecord("settings").release] });
  expect(remotes.get("settings")).toEqual({
    status: "refused",
    code: "remote_disabled",
    manifest: createRecord("settings").manifest,
  });
  expect(remotes.get("secrets")).toMatchObject({ status: "verified" });
});

it.each([
  ["its files", { publicPath: "https://evil.example/" }],
  ["its files, by code", { publicPath: "auto", getPublicPath: "return 'https://evil.example/'" }],
  ["its entry", { remoteEntry: { name: "remoteEntry.js", path: "https://evil.example/" } }],
  ["another entry", { remoteEntry: { name: "other.js", path: "" } }],
])(
  "verifyDeployment refuses a remote whose manifest loads %s from another origin, and verifies the others",
  async (_case, metaData) => {
    const record = createRecord("settings");
    const { remotes } = await verify({
      release_records: {
        ...scenario.deployment.release_records,
        [record.release]: await signRecord(
          { ...record, federation: { ...record.federation, metaData } },
          scenario.team,
        ),
      },
    });
    expect(remotes.get("settings")).toMatchObject({ status: "refused", code: "remote_refused" });
    expect(remotes.get("secrets")).toMatchObject({ status: "verified" });
  },
);

describe("a developer's override", () => {
  const overrideRelease = "settings-0.3.1-ba9876543210";
  const stableRelease = "settings-0.3.1-0123456789ab";
  const createOverride = async (
    changes: Partial<ReleaseOverride> = {},
    signer: Signer = scenario.team,
  ): Promise<string> => {
    const record = { ...createRecord("settings"), release: overrideRelease };
    const override: ReleaseOverride = {
      v: 1,
      kind: "release-override",
      vendor_id: "relicario",
      origin,
      remote: "settings",
      release: overrideRelease,
      release_record: await signRecord(record, scenario.team),
      not_after: toTimestamp(now + dayMs / 3),
      ...changes,
    };
    return signRecord(override, signer);
  };
  const verifyWithOverride = async (override: string, changes: Partial<Deployment> = {}) => {
    const { remotes, override: state } = await verify(changes, { override });
    const settings = remotes.get("settings");
    return { state, release: settings?.status === "verified" ? settings.record.release : null };
  };

  it("runs its release instead of the deployed one", async () => {
    expect(await verifyWithOverride(await createOverride())).toEqual({
      state: { status: "active", remote: "settings", release: overrideRelease },
      release: overrideRelease,
    });
    expect((await verify({}, { override: await createOverride() })).remotes.get("secrets")).toMatchObject({
      status: "verified",
      record: { release: "secrets-0.3.1-0123456789ab" },
    });
  });

  it("is refused in production", async () => {
    expect(await verifyWithOverride(await createOverride(), { environment: "production" })).toEqual({
      state: { status: "refused", reason: "production" },
      release: stableRelease,
    });
  });

  it.each<[string, () => Promise<string>, Partial<Deployment>?]>([
    ["of another vendor", () => createOverride({ vendor_id: "acme" })],
    ["of another origin", () => createOverride({ origin: "http://localhost:3002" })],
    ["that has expired", () => createOverride({ not_after: toTimestamp(now) })],
    ["that lasts more than a day", () => createOverride({ not_after: toTimestamp(now + dayMs + 1) })],
    ["of a remote that the deployment lacks", () => createOverride({ remote: "garden" })],
    ["signed by an unknown key with the team's key id", async () => createOverride({}, await createSigner("team-1"))],
    ["signed by the portal, not by the team", () => createOverride({}, scenario.portal)],
    [
      "whose record is signed by the portal",
      async () =>
        createOverride({
          release_record: await signRecord({ ...createRecord("settings"), release: overrideRelease }, scenario.portal),
        }),
    ],
    [
      "whose record is of another release",
      async () => createOverride({ release_record: await signRecord(createRecord("settings"), scenario.team) }),
    ],
    ["whose release is disabled", () => createOverride(), { disabled: [overrideRelease] }],
    ["of another kind", () => createOverride({ kind: "other" as "release-override" })],
    ["that is a release record", () => signRecord(createRecord("settings"), scenario.team)],
    ["that is not a JWS", () => Promise.resolve("not one")],
  ])("is refused as invalid: %s", async (_case, createOverrideJws, changes = {}) => {
    expect(await verifyWithOverride(await createOverrideJws(), changes)).toEqual({
      state: { status: "refused", reason: "invalid" },
      release: stableRelease,
    });
  });

  it("is refused if another team's key signed it", async () => {
    const otherSigner = await createSigner("team-2");
    const trustAnchors = {
      ...scenario.trustAnchors,
      team_keys: { ...scenario.trustAnchors.team_keys, sharing: [otherSigner.publicKey] },
    };
    const { override } = await verify(
      { releases: { settings: { stable: stableRelease } } },
      { trustAnchors, override: await createOverride({}, otherSigner) },
    );
    expect(override).toEqual({ status: "refused", reason: "invalid" });
  });
});

describe("loadDeployment", () => {
  const locks = createLocks();
  const load = (fetchResponse: () => Promise<Response>, time = now, changes: Partial<DeploymentDeps> = {}) =>
    loadDeployment({
      trustAnchors: scenario.trustAnchors,
      origin,
      storage: localStorage,
      locks,
      now: () => time,
      rolloutBucket: 50,
      override: null,
      providedPackages: scenario.expectations.providedPackages,
      fetch: fetchResponse,
      timeLimit: () => new AbortController().signal,
      ...changes,
    });
  const serve = async (changes: Partial<Deployment> = {}) => {
    const document = await signDocument({ ...scenario.deployment, ...changes }, scenario.portal);
    return () => Promise.resolve(Response.json(document));
  };
  const failFetch = () => Promise.reject(new TypeError("Failed to fetch"));

  beforeEach(() => {
    localStorage.clear();
  });

  it("stores the highest sequence and then refuses an older document", async () => {
    await load(await serve({ sequence: 9 }));
    await expect(load(await serve({ sequence: 8 }))).rejects.toMatchObject({ code: "deployment_older" });
  });

  it("keeps the later of two documents that two tabs read at once, in either order", async () => {
    for (const sequences of [
      [8, 9],
      [9, 8],
    ]) {
      localStorage.clear();
      const [firstResponse, secondResponse] = await Promise.all(sequences.map((sequence) => serve({ sequence })));
      const first = load(firstResponse ?? failFetch);
      const second = load(() => first.then(secondResponse)); // reads the stored document before the first one is stored
      const loads = await Promise.all([first, second]);
      expect(loads.map(({ deployment }) => deployment.sequence)).toEqual(sequences);
      await expect(load(failFetch)).resolves.toMatchObject({ deployment: { sequence: 9 } });
    }
  });

  it("starts in a browser that refuses locks", async () => {
    const refused = { request: () => Promise.reject(new DOMException("refused", "SecurityError")) };
    await expect(load(await serve(), now, { locks: refused })).resolves.toBeDefined();
    expect(localStorage.getItem(buildDeploymentKey("relicario"))).toBeNull();
  });

  it("computes the service's time from the response's Date and Age", async () => {
    const document = await signDocument(scenario.deployment, scenario.portal);
    const respond = (headers: Record<string, string>) => () => Promise.resolve(Response.json(document, { headers }));
    const date = new Date(now).toUTCString();
    await expect(load(respond({ date }), now + 3_600_000)).resolves.toMatchObject({
      wrongClock: { device: now + 3_600_000, service: now },
    });
    await expect(load(respond({ date, age: "3600" }), now + 3_600_000)).resolves.toMatchObject({ wrongClock: null });
    await expect(load(respond({ date: "yesterday" }), now + 3_600_000)).resolves.toMatchObject({ wrongClock: null });
    await expect(load(respond({ date }), now + 2 * dayMs)).rejects.toMatchObject({
      code: "clock_wrong",
      details: { device: now + 2 * dayMs, service: now },
    });
  });

  it("uses the last verified document while the gateway is unreachable", async () => {
    await load(await serve());
    await expect(load(failFetch)).resolves.toMatchObject({ deployment: { sequence: 7 } });
    await expect(load(() => Promise.resolve(new Response("", { status: 502 })))).resolves.toBeDefined();
  });

  it("refuses the last verified document once it has expired", async () => {
    await load(await serve());
    await expect(load(failFetch, now + 2 * dayMs)).rejects.toMatchObject({ code: "deployment_expired" });
  });

  it("does not replace a refused document with the last verified one", async () => {
    await load(await serve());
    await expect(load(await serve({ vendor_id: "acme" }))).rejects.toMatchObject({ code: "deployment_refused" });
    await expect(load(() => Promise.resolve(new Response("<html>")))).rejects.toMatchObject({
      code: "deployment_refused",
    });
    await expect(load(() => Promise.resolve(new Response("", { status: 404 })))).rejects.toMatchObject({
      code: "deployment_refused",
    });
  });

  it("verifies the stored document again, since storage may have been altered", async () => {
    localStorage.setItem(
      buildDeploymentKey("relicario"),
      JSON.stringify(await signDocument(scenario.deployment, await createSigner("portal-1"))),
    );
    await expect(load(failFetch)).rejects.toMatchObject({ code: "deployment_unreachable" });
  });

  it("reads the stored sequence only from a document signed for this portal, expired or not", async () => {
    const highest = Number.MAX_SAFE_INTEGER;
    const loadWithStored = async (changes: Partial<Deployment>, signer = scenario.portal) => {
      localStorage.setItem(
        buildDeploymentKey("relicario"),
        JSON.stringify(await signDocument({ ...scenario.deployment, ...changes }, signer)),
      );
      return load(await serve());
    };
    localStorage.setItem(
      buildDeploymentKey("relicario"),
      JSON.stringify({ sequence: highest, document: await signDocument(scenario.deployment, scenario.portal) }),
    );
    await expect(load(await serve())).resolves.toBeDefined();
    await expect(loadWithStored({ sequence: highest }, await createSigner("portal-1"))).resolves.toBeDefined();
    await expect(loadWithStored({ sequence: highest, vendor_id: "acme" })).resolves.toBeDefined();
    await expect(loadWithStored({ sequence: highest, origin: "https://other.example" })).resolves.toBeDefined();
    await expect(
      loadWithStored({
        sequence: 8,
        issued_at: new Date(now - 9 * dayMs).toISOString(),
        not_after: new Date(now - 8 * dayMs).toISOString(),
      }),
    ).rejects.toMatchObject({ code: "deployment_older" });
  });

  it("throws deployment_unreachable when nothing is stored", async () => {
    await expect(load(failFetch)).rejects.toMatchObject({ code: "deployment_unreachable" });
  });
});

describe("readTrustAnchors", () => {
  const read = (text: string | null) => {
    document.body.innerHTML = text === null ? "" : `<script type="application/json" id="portal-page"></script>`;
    const element = document.getElementById("portal-page");
    if (element !== null) element.textContent = text;
    return readTrustAnchors(document);
  };

  it("returns vendor and keys", () => {
    expect(read(JSON.stringify(scenario.trustAnchors))).toEqual(scenario.trustAnchors);
  });

  it.each([
    ["missing", null],
    ["empty", ""],
    ["malformed", '{"vendor_id":"x"}'],
  ])("refuses a page whose description is %s", (_name, text) => {
    expect(() => read(text)).toThrow("deployment_refused");
  });
});
