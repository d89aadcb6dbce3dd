import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Deployment, type ReleaseRecord } from "@relicario/shared/contract";
import { generalVerify, importJWK, type GeneralJWS } from "jose";

import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/development-keys.ts";
import { publishDeployment, type DeploymentInput } from "./deployment.ts";

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

  it("signs what the schema of the contract describes, with the portal's key", async () => {
    const deployment = await publishDeployment(folder, baseInput, key, now);
    const { payload, protectedHeader } = await generalVerify(readPublished(), await importJWK(key.publicKey, "EdDSA"), {
      algorithms: ["EdDSA"],
    });
    expect(Deployment.parse(JSON.parse(new TextDecoder().decode(payload)))).toEqual(deployment);
    expect(protectedHeader).toEqual({ alg: "EdDSA", kid: key.publicKey.kid });
    expect(deployment).toMatchObject({
      vendor_id: "relicario",
      origin: baseInput.origin,
      releases: { secrets: { stable: "secrets-0.3.1-0123456789ab" } },
      release_records: { "recovery-0.3.1-0123456789ab": "a.recovery.c" },
    });
  });

  it("says where identity and service are, and as which client, as it is told", async () => {
    const identity = {
      authority: "https://id.acme.example/realms/acme",
      client_id: "acme-portal",
      scope: "openid email",
    };
    const api = { base_url: "https://api.acme.example/v1", credentials: true };
    await publishDeployment(folder, { ...baseInput, origin: "https://portal.acme.example", identity, api }, key, now);
    expect(JSON.parse(Buffer.from(readPublished().payload, "base64url").toString("utf8"))).toMatchObject({
      origin: "https://portal.acme.example",
      identity,
      api,
    });
  });

  it("names the drives that it is told, with the addresses of their public services, and none otherwise", async () => {
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
    "signs nothing that would put %s into the page's policy",
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

  it("takes an address of https alone for where people pay", () => {
    const isAccepted = (url: string) => Deployment.shape.payments.safeParse({ url }).success;
    expect(
      ["https://pay.example.org/portal", "http://pay.example.org", "javascript:alert(1)", "/pay"].map(isAccepted),
    ).toEqual([true, false, false, false]);
  });

  it("is valid for seven days", async () => {
    const deployment = await publishDeployment(folder, baseInput, key, now);
    expect(Date.parse(deployment.not_after) - Date.parse(deployment.issued_at)).toBe(7 * 24 * 3_600_000);
  });

  it("grows with every signing, also within one second", async () => {
    const sequences: number[] = [];
    for (let count = 0; count < 3; count++)
      sequences.push((await publishDeployment(folder, baseInput, key, now)).sequence);
    expect(sequences).toEqual([nowInSeconds, nowInSeconds + 1, nowInSeconds + 2]);
  });

  it("grows when the clock was set back", async () => {
    await publishDeployment(folder, baseInput, key, now);
    const earlier = new Date(now.getTime() - 3_600_000);
    expect((await publishDeployment(folder, baseInput, key, earlier)).sequence).toBe(nowInSeconds + 1);
  });

  it("is above what browsers saw before the data folder was emptied", async () => {
    const previous = (await publishDeployment(folder, baseInput, key, now)).sequence;
    rmSync(join(folder, "relicario.sequence"));
    expect((await publishDeployment(folder, baseInput, key, new Date(now.getTime() + 5_000))).sequence).toBeGreaterThan(
      previous,
    );
  });

  it("takes as many remotes as there are", async () => {
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

  it("signs nothing when the last number cannot be read", async () => {
    writeFileSync(join(folder, "relicario.sequence"), "not a number");
    await expect(publishDeployment(folder, baseInput, key, now)).rejects.toThrow();
    expect(() => readPublished()).toThrow("ENOENT");
  });

  it("fails altogether when a signed document was changed", async () => {
    await publishDeployment(folder, baseInput, key, now);
    const changed = { ...readPublished(), payload: Buffer.from(JSON.stringify({ v: 1 })).toString("base64url") };
    await expect(generalVerify(changed, await importJWK(key.publicKey, "EdDSA"))).rejects.toThrow();
  });
});
