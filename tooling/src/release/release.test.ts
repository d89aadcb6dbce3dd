import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { makeRelease, signCompact, verifyReleaseRecord, findCurrentRelease, type ReleaseSources } from "./release.ts";

const federation = { id: "relicario_secrets", name: "relicario_secrets" };
const manifest = {
  name: "secrets",
  contract: "^3",
  title: { en: "Secrets", es: "Secretos" },
  routes: [{ path: "/home", titleKey: "beta-home:a", access: "signed_in", shell: true }],
  namespaces: ["beta-home"],
  capabilities: ["http"],
  api_paths: ["/secrets"],
};
const script = "console.log('a page of a remote');".repeat(20);

describe("makeRelease", () => {
  let folder: string;
  let key: SigningKeyPair;
  let sources: ReleaseSources;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "release-"));
    key = await loadOrCreateKeyPair(join(folder, "keys"), "team");
    const packageFolder = join(folder, "package");
    const webFolder = join(packageFolder, "build/web");
    mkdirSync(webFolder, { recursive: true });
    mkdirSync(join(packageFolder, "src/locales/en"), { recursive: true });
    mkdirSync(join(packageFolder, "src/locales/es"), { recursive: true });
    writeFileSync(join(packageFolder, "package.json"), JSON.stringify({ version: "1.2.3" }));
    writeFileSync(join(packageFolder, "manifest.json"), JSON.stringify(manifest));
    writeFileSync(join(packageFolder, "src/locales/en/beta-home.json"), '{"a":"A"}');
    writeFileSync(join(packageFolder, "src/locales/es/beta-home.json"), '{"a":"Á"}');
    writeFileSync(join(webFolder, "remoteEntry.js"), script);
    writeFileSync(join(webFolder, "remoteEntry.js.map"), "{}");
    writeFileSync(join(webFolder, "mf-manifest.json"), JSON.stringify(federation));
    writeFileSync(join(webFolder, "resolved-versions.json"), '{"react":"19.3.1"}');
    sources = { remote: "secrets", packageFolder, webFolder, keyPair: key };
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const writeSource = (file: string, text: string): void => {
    writeFileSync(join(sources.packageFolder, file), text);
  };

  it("lists every file with its hash, except source maps, federation's manifest and compressed forms", async () => {
    const { record } = await makeRelease(sources);
    expect(Object.keys(record.files)).toEqual([
      "locales/en/beta-home.json",
      "locales/es/beta-home.json",
      "manifest.json",
      "remoteEntry.js",
    ]);
    expect(record.files["remoteEntry.js"]).toBe(`sha384-${createHash("sha384").update(script).digest("base64")}`);
    expect(record).toMatchObject({ v: 1, version: "1.2.3", manifest, federation });
  });

  it("names the folder by remote, version and the hash of its file list", async () => {
    const { record, folder: releaseFolder } = await makeRelease(sources);
    const list = Object.entries(record.files)
      .map(([path, integrity]) => `${path} ${integrity}\n`)
      .join("");
    expect(record.release).toBe(`secrets-1.2.3-${createHash("sha256").update(list).digest("hex").slice(0, 12)}`);
    expect(releaseFolder).toBe(join(sources.packageFolder, "dist", record.release));
  });

  it("makes the same release from the same sources", async () => {
    const firstRelease = await makeRelease(sources);
    const inode = statSync(firstRelease.folder).ino;
    const secondRelease = await makeRelease(sources);
    expect(secondRelease.record.release).toBe(firstRelease.record.release);
    expect(statSync(secondRelease.folder).ino).toBe(inode);
  });

  it.each([
    ["one byte of a script", "build/web/remoteEntry.js", script.replace("page", "Page")],
    ["one byte of a text", "src/locales/es/beta-home.json", '{"a":"B"}'],
    ["a capability", "manifest.json", JSON.stringify({ ...manifest, capabilities: ["http", "vault"] })],
    [
      "the access of a route",
      "manifest.json",
      JSON.stringify({ ...manifest, routes: [{ ...manifest.routes[0], access: "public" }] }),
    ],
  ])("makes another release when %s changes, and keeps the former", async (_case, file, text) => {
    const firstRelease = await makeRelease(sources);
    writeSource(file, text);
    const secondRelease = await makeRelease(sources);
    expect(secondRelease.record.release).not.toBe(firstRelease.record.release);
    expect(existsSync(join(firstRelease.folder, "release.json"))).toBe(true);
    expect((await findCurrentRelease(sources.packageFolder, key))?.record.release).toBe(secondRelease.record.release);
  });

  it.each([
    ["against another version", '{"react":"18.3.1"}', "react 18.3.1 is installed"],
    ["without saying against which versions", null, "does not say against which versions"],
  ])("refuses a build that was made %s", async (_case, versions, message) => {
    const file = join(sources.webFolder, "resolved-versions.json");
    if (versions === null) rmSync(file);
    else writeFileSync(file, versions);
    await expect(makeRelease(sources)).rejects.toThrow(message);
  });

  it("keeps two former releases and removes older ones", async () => {
    const releases: string[] = [];
    for (const text of ["1", "2", "3", "4"]) {
      writeSource("build/web/remoteEntry.js", text);
      releases.push((await makeRelease(sources)).record.release);
    }
    const remaining = readdirSync(join(sources.packageFolder, "dist"));
    expect(remaining).toContain(releases[3]);
    expect(remaining.filter((name) => releases.includes(name))).toHaveLength(3);
  });

  it("signs the record with the team's key", async () => {
    const { record, jws } = await makeRelease(sources);
    await expect(verifyReleaseRecord(jws, key)).resolves.toEqual(record);
  });

  it("returns null for a record of another key", async () => {
    const { jws } = await makeRelease(sources);
    await expect(
      verifyReleaseRecord(jws, await loadOrCreateKeyPair(join(folder, "keys"), "stranger")),
    ).resolves.toBeNull();
  });

  it("throws when a signed record was changed", async () => {
    const { record, jws } = await makeRelease(sources);
    const [header, , signature] = jws.split(".");
    const payload = Buffer.from(JSON.stringify({ ...record, version: "9.9.9" })).toString("base64url");
    await expect(verifyReleaseRecord(`${header ?? ""}.${payload}.${signature ?? ""}`, key)).rejects.toThrow(
      "signature verification failed",
    );
  });

  it("signs an unchanged release again when the team has a new key", async () => {
    const firstRelease = await makeRelease(sources);
    const newKey = await loadOrCreateKeyPair(join(folder, "keys"), "new");
    await expect(findCurrentRelease(sources.packageFolder, newKey)).resolves.toBeNull();
    await makeRelease({ ...sources, keyPair: newKey });
    expect((await findCurrentRelease(sources.packageFolder, newKey))?.record.release).toBe(firstRelease.record.release);
  });

  it("finds no current release when one of its files is missing", async () => {
    const { folder: releaseFolder } = await makeRelease(sources);
    rmSync(join(releaseFolder, "remoteEntry.js"));
    await expect(findCurrentRelease(sources.packageFolder, key)).resolves.toBeNull();
  });

  it("includes the package's bill of materials in the signed files", async () => {
    const withoutBill = await makeRelease(sources);
    expect(Object.keys(withoutBill.record.files)).not.toContain("sbom.cdx.json");
    const bill = JSON.stringify({ bomFormat: "CycloneDX" });
    writeSource("build/sbom.cdx.json", bill);
    const { record, folder: releaseFolder } = await makeRelease(sources);
    expect(record.files["sbom.cdx.json"]).toBe(`sha384-${createHash("sha384").update(bill).digest("base64")}`);
    expect(readFileSync(join(releaseFolder, "sbom.cdx.json"), "utf8")).toBe(bill);
    expect(record.release).not.toBe(withoutBill.record.release);
  });

  it("writes compressed forms that hold the same bytes", async () => {
    const { folder: releaseFolder } = await makeRelease(sources);
    expect(brotliDecompressSync(readFileSync(join(releaseFolder, "remoteEntry.js.br"))).toString()).toBe(script);
    expect(gunzipSync(readFileSync(join(releaseFolder, "remoteEntry.js.gz"))).toString()).toBe(script);
  });

  it.each<[string, object, string]>([
    ["asks for an unknown capability", { capabilities: ["token"] }, "capabilities"],
    ["is of another remote", { name: "sharing" }, "says that it is sharing"],
    ["names missing texts", { namespaces: ["beta-home", "notes"] }, "locales/es/notes.json is missing"],
    [
      "does not name existing texts",
      { routes: [], namespaces: [] },
      "does not name the namespace of locales/en/beta-home.json",
    ],
    [
      "has a navigation entry without a text",
      {
        contract: "^3.1",
        routes: [...manifest.routes, { path: "/more", titleKey: "beta-home:a", access: "signed_in", shell: true }],
        navigation: [{ route: "/more", titleKey: "beta-home:more.title", icon: "leaf", order: 1 }],
      },
      "the navigation entry /more has no text beta-home:more.title in locales/es",
    ],
  ])("refuses a manifest that %s", async (_case, changes, message) => {
    writeSource("manifest.json", JSON.stringify({ ...manifest, ...changes }));
    await expect(makeRelease(sources)).rejects.toThrow(message);
    expect(existsSync(join(sources.packageFolder, "dist/current"))).toBe(false);
  });

  it("signs no record that is too long for the host", async () => {
    const { record } = await makeRelease(sources);
    const integrity = Object.values(record.files)[0] ?? "";
    const files = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`${String(index)}.js`, integrity]));
    await expect(signCompact({ ...record, files }, key)).rejects.toThrow("Build fewer files");
  });
});
