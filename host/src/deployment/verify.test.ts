import type {
  Deployment,
  PortalTrustAnchors,
  ReleaseOverride,
  ReleaseRecord,
  RemoteName,
  VerificationKey,
} from "@relicario/shared/contract";
import { CompactSign, exportJWK, GeneralSign, generateKeyPair, type CryptoKey } from "jose";

import { loadDeployment, readTrustAnchors } from "./load.ts";
import { buildDeploymentKey } from "./offline-deployment.ts";
import { verifyDeployment, type DeploymentExpectations } from "./verify.ts";

const origin = "http://localhost:3000";
const now = Date.parse("2026-11-21T10:00:00.000Z");
const day = 24 * 60 * 60_000;
const toTimestamp = (ms: number) => new Date(ms).toISOString();

interface Signer {
  readonly key: CryptoKey;
  readonly publicKey: VerificationKey;
}

async function createSigner(kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const { x = "" } = await exportJWK(publicKey);
  return { key: privateKey, publicKey: { kid, kty: "OKP", crv: "Ed25519", x } };
}

const encodeJson = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const signDocument = (payload: unknown, signer: Signer, alg = "EdDSA") =>
  new GeneralSign(encodeJson(payload))
    .addSignature(signer.key)
    .setProtectedHeader({ alg, kid: signer.publicKey.kid })
    .sign();

const signRecord = (record: unknown, signer: Signer) =>
  new CompactSign(encodeJson(record)).setProtectedHeader({ alg: "EdDSA", kid: signer.publicKey.kid }).sign(signer.key);

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
  readonly page: PortalTrustAnchors;
  readonly expected: DeploymentExpectations;
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
    sequence: 7,
    issued_at: toTimestamp(now - day),
    not_after: toTimestamp(now + day),
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
    page: trustAnchors,
    expected: {
      page: trustAnchors,
      origin,
      seenSequence: 0,
      now,
      rolloutBucket: 50,
      override: null,
      providedPackages: { react: "19.3.1", zod: "4.6.7" },
    },
    deployment,
  };
});

const verify = async (changes: Partial<Deployment>, expectations: Partial<DeploymentExpectations> = {}) =>
  verifyDeployment(await signDocument({ ...scenario.deployment, ...changes }, scenario.portal), {
    ...scenario.expected,
    ...expectations,
  });

describe("verifyDeployment", () => {
  it("gives the deployment and a verified record for each remote", async () => {
    const { deployment, remotes } = await verify({});
    expect(deployment.sequence).toBe(7);
    expect([...remotes].map(([name, { status }]) => `${name} ${status}`)).toEqual(
      remoteNames.map((name) => `${name} verified`),
    );
  });

  describe("refuses the whole", () => {
    it.each<[string, string, () => Partial<Deployment>, Partial<DeploymentExpectations>]>([
      ["another vendor's document", "deployment_refused", () => ({ vendor_id: "acme" }), {}],
      ["another origin's document", "deployment_refused", () => ({ origin: "http://localhost:3002" }), {}],
      ["an older document than one seen", "deployment_older", () => ({ sequence: 6 }), { seenSequence: 7 }],
      [
        "an expired document",
        "deployment_expired",
        () => ({ issued_at: toTimestamp(now - 2 * day), not_after: toTimestamp(now) }),
        {},
      ],
      ["a document that expired while it was kept", "deployment_expired", () => ({}), { now: now + 2 * day }],
      [
        "a document that is in force for more than 7 days",
        "deployment_refused",
        () => ({ issued_at: toTimestamp(now), not_after: toTimestamp(now + 7 * day + 1) }),
        {},
      ],
      ["a document of the future", "deployment_refused", () => ({ issued_at: toTimestamp(now + day / 2) }), {}],
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

    it("takes the same sequence again", async () => {
      await expect(verify({}, { seenSequence: 7 })).resolves.toBeDefined();
    });

    it.each<[string, () => Promise<unknown>]>([
      ["a key that is not the portal's", async () => signDocument(scenario.deployment, await createSigner("portal-1"))],
      ["a key of a team", () => signDocument(scenario.deployment, scenario.team)],
    ])("signed by %s", async (_name, createDocument) => {
      await expect(verifyDeployment(await createDocument(), scenario.expected)).rejects.toMatchObject({
        code: "deployment_refused",
      });
    });

    it("when one character of payload, header or signature is altered", async () => {
      const signed = await signDocument(scenario.deployment, scenario.portal);
      const [first] = signed.signatures;
      const alter = (text: string | undefined) => {
        const middle = Math.floor((text ?? "").length / 2);
        return `${(text ?? "").slice(0, middle)}${text?.[middle] === "A" ? "B" : "A"}${(text ?? "").slice(middle + 1)}`;
      };
      const altered = [
        { ...signed, payload: alter(signed.payload) },
        { ...signed, signatures: [{ ...first, protected: alter(first?.protected) }] },
        { ...signed, signatures: [{ ...first, signature: alter(first?.signature) }] },
        { ...signed, signatures: [] },
        { payload: signed.payload },
        "not a document",
        null,
      ];
      for (const document of altered)
        await expect(verifyDeployment(document, scenario.expected)).rejects.toMatchObject({
          code: "deployment_refused",
        });
    });
  });

  describe("refuses one remote only", () => {
    const verifyWithRecord = async (jws: string) =>
      verify({ release_records: { ...scenario.deployment.release_records, [createRecord("settings").release]: jws } });

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
        "a hash is missing its shape",
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
        "it was built for a newer contract, whose manifest says more",
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
    ])("when %s: %s", async (_name, code, jws) => {
      const { remotes } = await verifyWithRecord(await jws());
      expect(remotes.get("settings")).toEqual({ status: "refused", code, manifest: null });
      expect(remotes.get("secrets")).toMatchObject({ status: "verified" });
    });

    it.each(["^4", "^3.99", "^2"])("when it was built for %s, and keeps what it says of itself", async (contract) => {
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
    ])("when its code asks for %s %s, which is not here, before any of it runs", async (name, range) => {
      const { remotes } = await verifyWithRecord(await signRecord(createRecordRequiring(range, name), scenario.team));
      expect(remotes.get("settings")).toMatchObject({
        status: "refused",
        code: "remote_incompatible",
        manifest: { name: "settings" },
      });
    });

    it("when its team has no key in the page, whatever its name is", async () => {
      const { remotes } = await verify({
        releases: { ...scenario.deployment.releases, constructor: { stable: createRecord("settings").release } },
      });
      expect(remotes.get("constructor")).toEqual({ status: "refused", code: "remote_refused", manifest: null });
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

describe("a canary", () => {
  const canary = "settings-0.4.0-0123456789ab";
  const runWithCanary = async (percent: number, rolloutBucket: number, changes: Partial<Deployment> = {}) => {
    const releases = {
      ...scenario.deployment.releases,
      settings: { stable: createRecord("settings").release, canary: { release: canary, percent } },
    };
    const records = {
      ...scenario.deployment.release_records,
      [canary]: await signRecord({ ...createRecord("settings"), release: canary, version: "0.4.0" }, scenario.team),
    };
    const { remotes } = await verify(
      { releases, release_records: records, ...changes },
      { rolloutBucket: rolloutBucket },
    );
    const settings = remotes.get("settings");
    return settings?.status === "verified" ? settings.record.release : settings?.code;
  };

  it("is for the sessions that lie below its percentage", async () => {
    await expect(runWithCanary(10, 9.99)).resolves.toBe(canary);
    await expect(runWithCanary(10, 10)).resolves.toBe(createRecord("settings").release);
  });

  it.each<[string, () => Promise<Partial<Deployment>>]>([
    ["was switched off", () => Promise.resolve({ disabled: [canary] })],
    [
      "is not signed by its team",
      async () => ({
        release_records: {
          ...scenario.deployment.release_records,
          [canary]: await signRecord({ ...createRecord("settings"), release: canary }, scenario.portal),
        },
      }),
    ],
  ])("gives way to the stable release when it %s", async (_name, getChanges) => {
    await expect(runWithCanary(100, 0, await getChanges())).resolves.toBe(createRecord("settings").release);
  });
});

it("verifyDeployment refuses a release that was switched off, keeps what it says of itself, and goes on with the others", async () => {
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
  "verifyDeployment refuses a remote whose manifest looks for %s elsewhere, and goes on with the others",
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
  const stable = "settings-0.3.1-0123456789ab";
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
      not_after: toTimestamp(now + day / 3),
      ...changes,
    };
    return signRecord(override, signer);
  };
  const run = async (override: string, changes: Partial<Deployment> = {}) => {
    const { remotes, override: state } = await verify(changes, { override });
    const settings = remotes.get("settings");
    return { state, release: settings?.status === "verified" ? settings.record.release : null };
  };

  it("runs its release in the place of the promoted one, a canary too", async () => {
    expect(await run(await createOverride())).toEqual({
      state: { status: "active", remote: "settings", release: overrideRelease },
      release: overrideRelease,
    });
    expect((await verify({}, { override: await createOverride() })).remotes.get("secrets")).toMatchObject({
      status: "verified",
      record: { release: "secrets-0.3.1-0123456789ab" },
    });
  });

  it("is refused where the document says that this is production", async () => {
    expect(await run(await createOverride(), { environment: "production" })).toEqual({
      state: { status: "refused", reason: "production" },
      release: stable,
    });
  });

  it.each<[string, () => Promise<string>, Partial<Deployment>?]>([
    ["of another vendor", () => createOverride({ vendor_id: "acme" })],
    ["of another origin", () => createOverride({ origin: "http://localhost:3002" })],
    ["that is over", () => createOverride({ not_after: toTimestamp(now) })],
    ["of more than a day", () => createOverride({ not_after: toTimestamp(now + day + 1) })],
    ["of a remote that is not here", () => createOverride({ remote: "garden" })],
    ["signed by a key of another name's owner", async () => createOverride({}, await createSigner("team-1"))],
    ["signed by the portal, not by the team", () => createOverride({}, scenario.portal)],
    [
      "whose record nobody of the team signed",
      async () =>
        createOverride({
          release_record: await signRecord({ ...createRecord("settings"), release: overrideRelease }, scenario.portal),
        }),
    ],
    [
      "whose record is of another release",
      async () => createOverride({ release_record: await signRecord(createRecord("settings"), scenario.team) }),
    ],
    ["whose release is switched off", () => createOverride(), { disabled: [overrideRelease] }],
    ["of another kind", () => createOverride({ kind: "other" as "release-override" })],
    ["that is a record", () => signRecord(createRecord("settings"), scenario.team)],
    ["that is no JWS", () => Promise.resolve("not one")],
  ])("counts as nothing %s", async (_case, createOverrideJws, changes = {}) => {
    expect(await run(await createOverrideJws(), changes)).toEqual({
      state: { status: "refused", reason: "invalid" },
      release: stable,
    });
  });

  it("of one team opens no other team's remote", async () => {
    const other = await createSigner("team-2");
    const trustAnchors = { ...scenario.page, team_keys: { ...scenario.page.team_keys, sharing: [other.publicKey] } };
    const { override } = await verify(
      { releases: { settings: { stable } } },
      { page: trustAnchors, override: await createOverride({}, other) },
    );
    expect(override).toEqual({ status: "refused", reason: "invalid" });
  });
});

describe("loadDeployment", () => {
  const load = (fetchResponse: () => Promise<Response>, time = now) =>
    loadDeployment({
      page: scenario.page,
      origin,
      storage: localStorage,
      now: () => time,
      rolloutBucket: 50,
      override: null,
      providedPackages: scenario.expected.providedPackages,
      fetch: fetchResponse,
      timeLimit: () => new AbortController().signal,
    });
  const serve = async (changes: Partial<Deployment> = {}) => {
    const document = await signDocument({ ...scenario.deployment, ...changes }, scenario.portal);
    return () => Promise.resolve(Response.json(document));
  };
  const failFetch = () => Promise.reject(new TypeError("Failed to fetch"));

  beforeEach(() => {
    localStorage.clear();
  });

  it("remembers the highest sequence and refuses an older document from then on", async () => {
    await load(await serve({ sequence: 9 }));
    await expect(load(await serve({ sequence: 8 }))).rejects.toMatchObject({ code: "deployment_older" });
  });

  it("uses the last verified document while the gateway is away", async () => {
    await load(await serve());
    await expect(load(failFetch)).resolves.toMatchObject({ deployment: { sequence: 7 } });
    await expect(load(() => Promise.resolve(new Response("", { status: 502 })))).resolves.toBeDefined();
  });

  it("does not use it once it expired", async () => {
    await load(await serve());
    await expect(load(failFetch, now + 2 * day)).rejects.toMatchObject({ code: "deployment_expired" });
  });

  it("does not use it in the place of a document that is refused", async () => {
    await load(await serve());
    await expect(load(await serve({ vendor_id: "acme" }))).rejects.toMatchObject({ code: "deployment_refused" });
    await expect(load(() => Promise.resolve(new Response("<html>")))).rejects.toMatchObject({
      code: "deployment_refused",
    });
    await expect(load(() => Promise.resolve(new Response("", { status: 404 })))).rejects.toMatchObject({
      code: "deployment_refused",
    });
  });

  it("checks a kept document again: storage may have been altered", async () => {
    localStorage.setItem(
      buildDeploymentKey("relicario"),
      JSON.stringify(await signDocument(scenario.deployment, await createSigner("portal-1"))),
    );
    await expect(load(failFetch)).rejects.toMatchObject({ code: "deployment_unreachable" });
  });

  it("counts a sequence of a document that is signed for this portal, expired or not, and no other", async () => {
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
        issued_at: new Date(now - 9 * day).toISOString(),
        not_after: new Date(now - 8 * day).toISOString(),
      }),
    ).rejects.toMatchObject({ code: "deployment_older" });
  });

  it("says that it is unreachable when nothing was kept", async () => {
    await expect(load(failFetch)).rejects.toMatchObject({ code: "deployment_unreachable" });
  });
});

describe("readPortalPage", () => {
  const read = (text: string | null) => {
    document.body.innerHTML = text === null ? "" : `<script type="application/json" id="portal-page"></script>`;
    const element = document.getElementById("portal-page");
    if (element !== null) element.textContent = text;
    return readTrustAnchors(document);
  };

  it("reads vendor and keys", () => {
    expect(read(JSON.stringify(scenario.page))).toEqual(scenario.page);
  });

  it.each([
    ["missing", null],
    ["empty", ""],
    ["of another shape", '{"vendor_id":"x"}'],
  ])("refuses a page whose description is %s", (_name, text) => {
    expect(() => read(text)).toThrow("deployment_refused");
  });
});
