import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Deployment, type ReleaseRecord } from "@relicario/shared/contract";
import { decodeProtectedHeader, type GeneralJWS } from "jose";

import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { publishDeployment, verifySignedDeployment, type DeploymentInput } from "./deployment.ts";

const buildRelease = (
  name: string,
  overrides: Partial<ReleaseRecord["manifest"]> = {},
): DeploymentInput["releases"][number] => ({
  jws: `a.${name}.c`,
  record: {
    ...{ v: 1, release: `${name}-0.3.1-0123456789ab`, version: "0.3.1", files: {}, federation: { id: "x", name: "x" } },
    manifest: {
      name,
      contract: "^3",
      title: { en: name, es: name },
      routes: [],
      namespaces: [name],
      capabilities: [],
      api_paths: [],
      ...overrides,
    },
  },
});
const buildRoutes = (name: string, ...paths: string[]) => ({
  routes: paths.map((path) => ({ path, titleKey: `${name}:title`, access: "signed_in" as const, shell: true })),
});
const releases = ["secrets", "sharing", "recovery", "settings"].map((name) =>
  buildRelease(name, buildRoutes(name, `/${name}/*`)),
);
const baseInput: DeploymentInput = {
  vendorId: "relicario",
  origin: "http://localhost:3000",
  vaultOrigin: "http://localhost:3004",
  environment: "test",
  appVersion: "0.3.1",
  identity: { authority: "http://localhost:3001/realms/relicario", client_id: "relicario-portal", scope: "openid" },
  api: { base_url: "http://localhost:3000/api", credentials: false },
  releases,
};
const now = new Date("2026-11-21T12:00:00.000Z");
const nowInSeconds = now.getTime() / 1000;

describe("publishDeployment", () => {
  let folder: string;
  let key: SigningKeyPair;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "deployment-"));
    key = await loadOrCreateKeyPair(join(folder, "keys"), "portal");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const readPublished = (): GeneralJWS =>
    JSON.parse(readFileSync(join(folder, "relicario.json"), "utf8")) as GeneralJWS;

  it("signs a document of the contract's schema with the portal's key", async () => {
    const deployment = await publishDeployment(folder, baseInput, key, now);
    const published = readPublished();
    expect(await verifySignedDeployment(published, [key.publicKey])).toEqual(deployment);
    expect(published.signatures.map((entry) => decodeProtectedHeader(entry))).toEqual([
      { alg: "EdDSA", kid: key.publicKey.kid },
    ]);
    expect(deployment).toMatchObject({
      vendor_id: "relicario",
      origin: baseInput.origin,
      releases: { secrets: { stable: "secrets-0.3.1-0123456789ab" } },
      release_records: { "recovery-0.3.1-0123456789ab": "a.recovery.c" },
    });
  });

  it("names the configured identity provider, client and service", async () => {
    const identity = {
      authority: "https://id.acme.example/realms/acme",
      client_id: "acme-portal",
      scope: "openid email",
    };
    const api = { base_url: "https://api.acme.example/v1", credentials: true };
    const origins = { origin: "https://portal.acme.example", vaultOrigin: "https://vault.acme.example" };
    await publishDeployment(folder, { ...baseInput, ...origins, identity, api }, key, now);
    expect(JSON.parse(Buffer.from(readPublished().payload, "base64url").toString("utf8"))).toMatchObject({
      origin: "https://portal.acme.example",
      vault_origin: "https://vault.acme.example",
      identity,
      api,
    });
  });

  it.each(["http://localhost:3000", "http://vault.localhost:3000", "https://localhost:3004"])(
    "refuses a vault's origin that every host would refuse: %s",
    async (vaultOrigin) => {
      await expect(publishDeployment(folder, { ...baseInput, vaultOrigin }, key, now)).rejects.toMatchObject({
        name: "UserFacingError",
        message: expect.stringContaining("another origin of the same site"),
      });
    },
  );

  it("names the configured drives, with their public addresses, and none by default", async () => {
    expect(await publishDeployment(folder, baseInput, key, now)).not.toHaveProperty("drives");
    const { drives } = await publishDeployment(
      folder,
      { ...baseInput, drives: { onedrive: { client_id: "c", content_origins: ["https://*.sharepoint.example"] } } },
      key,
      now,
    );
    expect(drives).toEqual({
      onedrive: {
        client_id: "c",
        authority: "https://login.microsoftonline.com/consumers",
        graph_url: "https://graph.microsoft.com/v1.0",
        picker_url: "https://onedrive.live.com/picker",
        content_origins: ["https://*.sharepoint.example"],
      },
    });
  });

  it.each(["https://a.example/path", "https://a.example;script-src *", "*", "https://*", "javascript:x"])(
    "refuses %s as a source in the page's policy",
    async (source) => {
      await expect(
        publishDeployment(
          folder,
          { ...baseInput, drives: { onedrive: { client_id: "c", content_origins: [source] } } },
          key,
          now,
        ),
      ).rejects.toThrow();
    },
  );

  it("accepts https for URLs that pages call or link to, and http only on this machine", () => {
    const { payments, handovers, identity, api, messages, drives } = Deployment.shape;
    const text = { en: "x", es: "x" };
    const schemas: Readonly<Record<string, (url: string) => boolean>> = {
      payments: (url) => payments.safeParse({ url }).success,
      handovers: (url) => handovers.safeParse([{ name: "n", url }]).success,
      authority: (url) => identity.safeParse({ authority: url, client_id: "c", scope: "openid" }).success,
      service: (url) => api.safeParse({ base_url: url, credentials: false }).success,
      issuer: (url) => api.safeParse({ base_url: "https://x.example", issuer: url, credentials: false }).success,
      message: (url) => messages.safeParse([{ id: "m", title: text, body: text, link: url }]).success,
      drive: (url) => drives.safeParse({ onedrive: { client_id: "c", picker_url: url } }).success,
      "a drive's contents": (url) => drives.safeParse({ onedrive: { client_id: "c", content_origins: [url] } }).success,
    };
    for (const [name, accepts] of Object.entries(schemas)) {
      expect([name, ["https://x.example", "http://localhost:3001"].map(accepts)]).toEqual([name, [true, true]]);
      expect([name, ["http://x.example", "javascript:alert(1)", "data:text/html,x", "/x", ""].map(accepts)]).toEqual([
        name,
        [false, false, false, false, false],
      ]);
    }
  });

  it("describes what is wrong with its input", async () => {
    const identity = { ...baseInput.identity, authority: "http://id.example" };
    await expect(publishDeployment(folder, { ...baseInput, identity }, key, now)).rejects.toMatchObject({
      name: "UserFacingError",
      message: expect.stringMatching(
        /relicario would be wrong:\n.*neither https nor on this machine\n.*identity\.authority/,
      ),
    });
  });

  it("is valid for seven days", async () => {
    const deployment = await publishDeployment(folder, baseInput, key, now);
    expect(Date.parse(deployment.not_after) - Date.parse(deployment.issued_at)).toBe(7 * 24 * 3_600_000);
  });

  it("increases the sequence with every signing, also within one second", async () => {
    const sequences: number[] = [];
    for (let count = 0; count < 3; count++)
      sequences.push((await publishDeployment(folder, baseInput, key, now)).sequence);
    expect(sequences).toEqual([nowInSeconds, nowInSeconds + 1, nowInSeconds + 2]);
  });

  it("increases the sequence when the clock was set back", async () => {
    await publishDeployment(folder, baseInput, key, now);
    const earlier = new Date(now.getTime() - 3_600_000);
    expect((await publishDeployment(folder, baseInput, key, earlier)).sequence).toBe(nowInSeconds + 1);
  });

  it("signs a higher sequence than before the data folder was emptied", async () => {
    const previous = (await publishDeployment(folder, baseInput, key, now)).sequence;
    rmSync(join(folder, "relicario.sequence"));
    expect((await publishDeployment(folder, baseInput, key, new Date(now.getTime() + 5_000))).sequence).toBeGreaterThan(
      previous,
    );
  });

  it("accepts any number of remotes", async () => {
    const { releases: publishedReleases } = await publishDeployment(
      folder,
      { ...baseInput, releases: [...releases, buildRelease("notes", buildRoutes("notes", "/notes"))] },
      key,
      now,
    );
    expect(Object.keys(publishedReleases)).toEqual(["secrets", "sharing", "recovery", "settings", "notes"]);
  });

  it.each([
    [
      "the same path",
      buildRelease("notes", buildRoutes("notes", "/notes", "/settings/profile")),
      "settings and notes both claim a path: /settings/* and /settings/profile",
    ],
    [
      "the same texts",
      buildRelease("notes", { namespaces: ["notes", "settings"] }),
      "settings and notes both own the texts settings",
    ],
  ])("signs nothing when two remotes claim %s", async (_, added, message) => {
    await expect(publishDeployment(folder, { ...baseInput, releases: [...releases, added] }, key, now)).rejects.toThrow(
      message,
    );
    expect(() => readPublished()).toThrow("ENOENT");
  });

  it("signs nothing when the last sequence cannot be read", async () => {
    writeFileSync(join(folder, "relicario.sequence"), "not a number");
    await expect(publishDeployment(folder, baseInput, key, now)).rejects.toThrow();
    expect(() => readPublished()).toThrow("ENOENT");
  });

  it("signs a document that fails verification when changed", async () => {
    await publishDeployment(folder, baseInput, key, now);
    const changed = { ...readPublished(), payload: Buffer.from(JSON.stringify({ v: 1 })).toString("base64url") };
    await expect(verifySignedDeployment(changed, [key.publicKey])).rejects.toThrow();
  });
});
