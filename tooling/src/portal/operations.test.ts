import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { ReleaseRecord } from "@relicario/shared/contract";
import { decodeJwt } from "jose";

import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { makeRelease, signCompact } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import {
  createOverrideLinks,
  distrustTeam,
  importRelease,
  trustTeam,
  setCanary,
  promote,
  registerRelease,
  renewDocuments,
  rollBack,
  setDisabled,
  verifyRelease,
} from "./operations.ts";
import { readAuditLog } from "./audit-log.ts";
import { describeRemote, formatStatus } from "./status.ts";
import { getAuditFile, openStore, readVendor } from "./store.ts";
import { createTestPortal, type TestPortal } from "./testing/test-portal.ts";

let portal: TestPortal;
beforeEach(async () => {
  portal = await createTestPortal();
});
afterEach(() => {
  portal.remove();
});

const operator = "Ana";
const publishRelease = async (remote: string, script: string, manifest: object = {}): Promise<string> =>
  (
    await registerRelease(portal.store, {
      remote,
      packageFolder: portal.build(remote, script, manifest),
      keyPair: await portal.loadTeamKey(remote),
      by: operator,
    })
  ).record.release;
const readCurrentDeployment = async (vendor = "relicario") => (await readVendor(portal.store, vendor)).deployment;
const getRejectionMessage = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UserFacingError);
  return error instanceof Error ? error.message : "";
};
const releaseFile = (id: string, name: string): string =>
  join(portal.store.registryFolder, id.split("-")[0] ?? "", id, name);

describe("release and promote", () => {
  it("add a release without running it, and make it stable for every vendor that has the remote", async () => {
    const firstDeployment = await portal.start();
    await portal.start("acme");
    const nextReleaseId = await publishRelease("notes", "notes of the second day");
    expect((await readCurrentDeployment()).releases).toEqual(firstDeployment.releases);

    await promote(portal.store, nextReleaseId, { by: operator });
    for (const vendor of ["relicario", "acme"]) {
      const { releases, release_records, sequence } = await readCurrentDeployment(vendor);
      expect(releases["notes"]).toEqual({ stable: nextReleaseId });
      expect(Object.keys(release_records).sort()).toEqual([nextReleaseId, releases["garden"]?.stable].sort());
      expect(sequence).toBeGreaterThan(firstDeployment.sequence);
    }
  });

  it("change only the named vendor", async () => {
    await portal.start();
    const acmeBefore = await portal.start("acme");
    const nextReleaseId = await publishRelease("notes", "notes of the second day");
    await promote(portal.store, nextReleaseId, { by: operator, vendorId: "relicario" });
    expect((await readCurrentDeployment()).releases["notes"]?.stable).toBe(nextReleaseId);
    expect(await readCurrentDeployment("acme")).toEqual(acmeBefore);
  });

  it("refuse a release for another contract with the objections of every vendor, unless forced, which is logged", async () => {
    await portal.start();
    await portal.start("acme");
    const nextReleaseId = await publishRelease("notes", "notes of a later host", { contract: "^4" });
    const auditLogBefore = readFileSync(getAuditFile(portal.store), "utf8");
    const message = await getRejectionMessage(promote(portal.store, nextReleaseId, { by: operator }));
    for (const vendor of ["acme", "relicario"])
      expect(message).toMatch(new RegExp(`${vendor}: it is built for contract \\^4, and the host offers 3\\.`));
    expect(readFileSync(getAuditFile(portal.store), "utf8")).toBe(auditLogBefore);
    expect(
      (await verifyRelease(portal.store, nextReleaseId)).compatibility.map(({ objections }) => objections.length),
    ).toEqual([1, 1]);

    await promote(portal.store, nextReleaseId, { by: operator, force: true });
    expect((await readCurrentDeployment()).releases["notes"]?.stable).toBe(nextReleaseId);
    expect(readAuditLog(getAuditFile(portal.store)).at(-1)).toMatchObject({
      action: "promote",
      forced: [expect.stringContaining("contract ^4")],
    });
  });

  it.each([
    [
      "a path of another remote",
      { routes: [{ path: "/garden/*", titleKey: "notes:title", access: "signed_in", shell: true }] },
      "garden and notes both claim a path",
    ],
    [
      "a path of the host",
      { routes: [{ path: "/help", titleKey: "notes:title", access: "signed_in", shell: true }] },
      "/help leads to the host's own page /help",
    ],
  ])("refuse a release that claims %s", async (_case, manifest, message) => {
    await portal.start();
    expect(
      await getRejectionMessage(
        promote(portal.store, await publishRelease("notes", "new", manifest), { by: operator }),
      ),
    ).toContain(message);
  });

  it("refuse a release that needs a shared package which the host lacks", async () => {
    await portal.start();
    const folder = portal.build("notes", "new");
    writeFileSync(
      join(folder, "build/web/mf-manifest.json"),
      JSON.stringify({ id: "notes", name: "notes", shared: [{ name: "react", requiredVersion: "^99.0.0" }] }),
    );
    const { record } = await registerRelease(portal.store, {
      remote: "notes",
      packageFolder: folder,
      keyPair: await portal.loadTeamKey("notes"),
      by: operator,
    });
    expect(await getRejectionMessage(promote(portal.store, record.release, { by: operator }))).toContain(
      "it needs react ^99.0.0",
    );
  });

  it.each<[string, (id: string) => void, string]>([
    ["changed", (id) => appendFileSync(releaseFile(id, "remoteEntry.js"), " "), "remoteEntry.js was changed"],
    ["missing", (id) => rmSync(releaseFile(id, "locales/es/notes.json")), "locales/es/notes.json is missing"],
    ["not listed", (id) => writeFileSync(releaseFile(id, "more.js"), "alert(1)"), "more.js is not listed"],
    [
      "changed in a compressed form",
      (id) => writeFileSync(releaseFile(id, "manifest.json.br"), "x"),
      "manifest.json.br was changed",
    ],
  ])("refuse a release with a file that is %s, even when forced", async (_case, damage, message) => {
    await portal.start();
    const nextReleaseId = await publishRelease("notes", "notes of the second day");
    damage(nextReleaseId);
    expect(await getRejectionMessage(promote(portal.store, nextReleaseId, { by: operator, force: true }))).toContain(
      message,
    );
    expect(await getRejectionMessage(verifyRelease(portal.store, nextReleaseId))).toContain(message);
  });

  it("refuse a release that another team signed, and a release under another name", async () => {
    const { releases } = await portal.start();
    const nextReleaseId = await publishRelease("notes", "notes of the second day");
    const record = releaseFile(nextReleaseId, "release.json");
    const originalRecord = readFileSync(record, "utf8");
    writeFileSync(record, readFileSync(releaseFile(releases["garden"]?.stable ?? "", "release.json")));
    expect(await getRejectionMessage(promote(portal.store, nextReleaseId, { by: operator, force: true }))).toContain(
      "has the record of garden-1.0.0-",
    );
    writeFileSync(record, readFileSync(releaseFile(releases["notes"]?.stable ?? "", "release.json")));
    expect(await getRejectionMessage(promote(portal.store, nextReleaseId, { by: operator, force: true }))).toContain(
      `${nextReleaseId} has the record of ${releases["notes"]?.stable ?? ""}`,
    );
    writeFileSync(record, originalRecord);
    await expect(promote(portal.store, nextReleaseId, { by: operator })).resolves.toHaveLength(1);
  });

  it("name the release, remote or vendor that does not exist", async () => {
    await portal.start();
    expect(await getRejectionMessage(promote(portal.store, "notes-9.9.9-000000000000", { by: operator }))).toContain(
      "There is no release",
    );
    expect(await getRejectionMessage(promote(portal.store, "../keys", { by: operator }))).toBe(
      "There is no remote or release ../keys here. Remotes: garden, notes.",
    );
    expect(await getRejectionMessage(promote(portal.store, "notes-../../keys", { by: operator }))).toContain(
      "There is no remote or release notes-../../keys here",
    );
    expect(await getRejectionMessage(rollBack(portal.store, "attic", { by: operator }))).toContain(
      "There is no remote or release attic here",
    );
    expect(await getRejectionMessage(rollBack(portal.store, "notes-1.0.0-000000000000", { by: operator }))).toBe(
      "A rollback takes a remote's name: notes.",
    );
    for (const disabled of [true, false])
      expect(
        await getRejectionMessage(setDisabled(portal.store, "notes-9.9.9-000000000000", disabled, { by: operator })),
      ).toContain("There is no release notes-9.9.9-000000000000");
    await expect(
      createOverrideLinks(portal.store, "attic", { by: operator, hours: 1, loadKeyPair: portal.loadTeamKey }),
    ).rejects.toThrow("There is no remote or release attic here");
    expect(existsSync(join(portal.store.keysFolder, "team-attic.json"))).toBe(false);
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator, vendorId: "nobody" }))).toContain(
      "There is no vendor nobody here",
    );
  });
});

describe("verify", () => {
  it.each([
    ["of a route that the remote does not have", { route: "/more" }, "is not a route of this manifest"],
    ["of a destination of the portal", { route: "/home" }, "is reserved for a destination of the portal"],
    ["without a text", { titleKey: "notes:none" }, "the navigation entry /notes has no text notes:none in locales/es"],
  ])(
    "objects to an entry of the navigation %s, if a team signs it with its own tools",
    async (_case, changes, message) => {
      await portal.start();
      const release = await publishRelease("notes", "new");
      const recordFile = releaseFile(release, "release.json");
      const record = decodeJwt<ReleaseRecord>(readFileSync(recordFile, "utf8"));
      const [route] = record.manifest.routes;
      const manifest = {
        ...record.manifest,
        contract: "^3.1",
        routes: [...record.manifest.routes, { ...route, path: "/home" }],
        navigation: [{ route: "/notes", titleKey: "notes:title", icon: "leaf", order: 1, ...changes }],
      } as ReleaseRecord["manifest"];
      writeFileSync(recordFile, await signCompact({ ...record, manifest }, await portal.loadTeamKey("notes")));
      const { compatibility } = await verifyRelease(portal.store, release);
      expect(compatibility.flatMap(({ objections }) => objections).join()).toContain(message);
    },
  );
});

describe("import", () => {
  /** Builds and signs outside the portal. */
  const makeElsewhere = async (
    remote: string,
    script: string,
    keyPair?: SigningKeyPair,
  ): Promise<{ releaseId: string; folder: string }> => {
    const packageFolder = portal.build(remote, script);
    const { record, folder } = await makeRelease({
      remote,
      packageFolder,
      webFolder: join(packageFolder, "build/web"),
      keyPair: keyPair ?? (await portal.loadTeamKey(remote)),
    });
    const copy = join(portal.folder, "download");
    cpSync(folder, copy, { recursive: true });
    return { releaseId: record.release, folder: copy };
  };
  const getImportMessage = (folder: string) =>
    getRejectionMessage(importRelease(portal.store, folder, { by: operator }));

  it("adds what a team signed, from a folder of any name, without running it", async () => {
    const { releases } = await portal.start();
    await portal.start("acme"); // whose page has the same keys
    const { releaseId, folder } = await makeElsewhere("notes", "notes of the second day");
    await importRelease(portal.store, folder, { by: operator, reason: "for May" });
    expect((await readCurrentDeployment()).releases).toEqual(releases);
    const entry = { action: "import", release: releaseId, reason: "for May" };
    expect(readAuditLog(getAuditFile(portal.store)).at(-1)).toMatchObject(entry);

    await promote(portal.store, "notes", { by: operator }); // its latest release
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: releaseId });
    expect(await getImportMessage(folder)).toBe(`The registry has ${releaseId} already.`);
  });

  it("refuses what no known team signed, and what was changed since, and adds nothing", async () => {
    await portal.start();
    const stranger = await loadOrCreateKeyPair(join(portal.folder, "stranger"), "team-notes");
    for (const remote of ["notes", "attic"]) {
      const { folder } = await makeElsewhere(remote, `${remote} of a stranger`, stranger);
      expect(await getImportMessage(folder)).toContain(`is not signed by a key of the team of ${remote}`);
      rmSync(folder, { recursive: true });
    }

    const { releaseId, folder } = await makeElsewhere("notes", "notes of the second day");
    symlinkSync("/etc/hostname", join(folder, "locales/host"));
    expect(await getImportMessage(folder)).toBe("locales/host is neither file nor folder.");
    rmSync(join(folder, "locales/host"));
    writeFileSync(join(folder, "large"), Buffer.alloc(33 * 1024 ** 2));
    expect(await getImportMessage(folder)).toBe("large is larger than 32 MiB.");
    rmSync(join(folder, "large"));
    const script = readFileSync(join(folder, "remoteEntry.js"));
    appendFileSync(join(folder, "remoteEntry.js"), " ");
    expect(await getImportMessage(folder)).toContain("remoteEntry.js was changed");
    writeFileSync(join(folder, "remoteEntry.js"), script);

    const signRecord = async (changes: object): Promise<string> => {
      const [, payload = ""] = readFileSync(join(folder, "release.json"), "utf8").split(".");
      const record = JSON.parse(Buffer.from(payload, "base64url").toString()) as ReleaseRecord;
      return signCompact({ ...record, ...changes }, await portal.loadTeamKey("notes"));
    };
    for (const [changes, message] of [
      [{ release: "notes-1.0.0-0123456789ab" }, "is not named by the hash of its files"],
      [{ release: "garden-1.0.0-0123456789ab" }, "signed in"],
      [{ release: "notes-1.0.0-../../../keys" }, "has no valid release.json"],
      [{ manifest: { name: "../keys", contract: "^3" } }, "has no valid release.json"],
    ] as const) {
      const original = readFileSync(join(folder, "release.json"));
      writeFileSync(join(folder, "release.json"), await signRecord(changes));
      expect(await getImportMessage(folder)).toContain(message);
      writeFileSync(join(folder, "release.json"), original);
    }
    rmSync(join(folder, "release.json"));
    expect(await getImportMessage(folder)).toContain("has no valid release.json");
    expect(await getImportMessage(join(portal.folder, "nothing"))).toContain("There is no folder");
    expect(readdirSync(portal.store.registryFolder).sort()).toEqual(["garden", "notes"]);
    expect(existsSync(join(portal.store.registryFolder, "notes", releaseId))).toBe(false);
  });
});

describe("trust", () => {
  it("lets a new remote of a team that signs elsewhere be imported, promoted, and kept by a start", async () => {
    await portal.start();
    const team = await loadOrCreateKeyPair(join(portal.folder, "elsewhere"), "team");
    const packageFolder = portal.build("attic", "attic of another team");
    const { record, folder } = await makeRelease({
      remote: "attic",
      packageFolder,
      webFolder: join(packageFolder, "build/web"),
      keyPair: team,
    });
    const options = { by: operator, reason: "contract of May" };
    await expect(importRelease(portal.store, folder, options)).rejects.toThrow("is not signed by a key");

    expect(await trustTeam(portal.store, "attic", team.publicKey, options)).toEqual(["relicario"]);
    expect(readAuditLog(getAuditFile(portal.store)).at(-1)).toMatchObject({
      action: "trust",
      remote: "attic",
      key: team.publicKey,
    });
    await expect(trustTeam(portal.store, "attic", team.publicKey, options)).rejects.toThrow("is trusted already");
    await importRelease(portal.store, folder, options);
    await promote(portal.store, "attic", { by: operator, force: false });
    await portal.start();
    expect((await readCurrentDeployment()).releases["attic"]).toEqual({ stable: record.release });
    expect((await readVendor(portal.store, "relicario")).trustAnchors.team_keys["attic"]).toEqual([team.publicKey]);

    expect(await distrustTeam(portal.store, "attic", options)).toEqual(["relicario"]);
    expect((await readVendor(portal.store, "relicario")).trustAnchors.team_keys["attic"]).toBeUndefined();
    await portal.start();
    expect((await readCurrentDeployment()).releases["attic"]).toBeUndefined();
    await expect(distrustTeam(portal.store, "attic", options)).rejects.toThrow("nothing was changed");
  });

  it("is added to the vendors that lack it", async () => {
    await portal.start();
    await portal.start("acme");
    const { publicKey } = await loadOrCreateKeyPair(join(portal.folder, "elsewhere"), "team");
    const trust = (vendorId?: string) => trustTeam(portal.store, "attic", publicKey, { by: operator, vendorId });
    expect(await trust("acme")).toEqual(["acme"]);
    expect(await trust()).toEqual(["relicario"]);
    await expect(trust()).rejects.toThrow("nothing was changed");
    expect(await distrustTeam(portal.store, "attic", { by: operator })).toEqual(["acme", "relicario"]);
  });

  it("adds a key to those of the portal's own build, and never one for the vault", async () => {
    await portal.start();
    const { publicKey } = await loadOrCreateKeyPair(join(portal.folder, "elsewhere"), "team");
    const own = (await portal.loadTeamKey("notes")).publicKey;
    const readKeys = async () => (await readVendor(portal.store, "relicario")).trustAnchors.team_keys["notes"];
    await trustTeam(portal.store, "notes", publicKey, { by: operator });
    await portal.start();
    expect(await readKeys()).toEqual([own, publicKey]);
    await distrustTeam(portal.store, "notes", { by: operator });
    expect(await readKeys()).toEqual([own]);
    await expect(trustTeam(portal.store, "recovery", publicKey, { by: operator })).rejects.toThrow("has the vault");
  });
});

describe("a remote's name", () => {
  it("means its latest release for verify, promote and canary", async () => {
    await portal.start();
    const secondReleaseId = await publishRelease("notes", "notes of the second day");
    expect((await verifyRelease(portal.store, "notes")).release.signedRecord.release).toBe(secondReleaseId);
    await setCanary(portal.store, "notes", 20, { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]?.canary?.release).toBe(secondReleaseId);
    await promote(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: secondReleaseId });
  });

  it("means the releases that run for disable, and those that are disabled for enable", async () => {
    const stable = (await portal.start()).releases["notes"]?.stable ?? "";
    const canary = await publishRelease("notes", "notes of the second day");
    await setCanary(portal.store, canary, 20, { by: operator });
    await setDisabled(portal.store, "notes", true, { by: operator });
    const deployment = await readCurrentDeployment();
    expect(deployment.disabled).toEqual([stable, canary]);
    expect(describeRemote(deployment, "notes")).toBe(
      `notes runs ${stable}, and ${canary} in 20 % of sessions. Disabled: ${stable}, ${canary}.`,
    );
    await setDisabled(portal.store, "notes", false, { by: operator });
    expect((await readCurrentDeployment()).disabled).toEqual([]);
  });
});

describe("canary and rollback", () => {
  it("start and end a canary, and return release by release", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
    const secondReleaseId = await publishRelease("notes", "notes of the second day");
    const thirdReleaseId = await publishRelease("notes", "notes of the third day");
    await setCanary(portal.store, secondReleaseId, 50, { by: operator });
    const withCanary = await readCurrentDeployment();
    expect(withCanary.releases["notes"]).toEqual({
      stable: firstReleaseId,
      canary: { release: secondReleaseId, percent: 50 },
    });
    expect(Object.keys(withCanary.release_records)).toEqual(expect.arrayContaining([firstReleaseId, secondReleaseId]));

    await rollBack(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: firstReleaseId });
    await promote(portal.store, secondReleaseId, { by: operator });
    await promote(portal.store, thirdReleaseId, { by: operator });
    await rollBack(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: secondReleaseId });
    await rollBack(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: firstReleaseId });
    expect(await getRejectionMessage(rollBack(portal.store, "notes", { by: operator }))).toContain(
      "knows no release of notes that relicario had before",
    );
    expect(
      readAuditLog(getAuditFile(portal.store))
        .filter((entry) => entry.by === operator)
        .map(({ action }) => action),
    ).toEqual(["release", "release", "canary", "rollback", "promote", "promote", "rollback", "rollback"]);
  });

  it("do not end a canary that is not there", async () => {
    const { releases, sequence } = await portal.start();
    expect(
      await getRejectionMessage(setCanary(portal.store, releases["notes"]?.stable ?? "", 0, { by: operator })),
    ).toBe("notes has no canary: nothing was changed.");
    expect((await readCurrentDeployment()).sequence).toBe(sequence);
  });

  it.each([-1, 101, 1.5, Number.NaN])("refuse a share of %s per cent", async (percent) => {
    const { releases } = await portal.start();
    expect(() => setCanary(portal.store, releases["notes"]?.stable ?? "", percent, { by: operator })).toThrow(
      "0 to 100",
    );
  });

  it("do not return to a disabled release", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
    await promote(portal.store, await publishRelease("notes", "notes of the second day"), { by: operator });
    await setDisabled(portal.store, firstReleaseId, true, { by: operator });
    expect(await getRejectionMessage(rollBack(portal.store, "notes", { by: operator }))).toContain("is disabled");
  });
});

describe("disable", () => {
  it("names the release in every document, without the registry, and blocks its promotion until the release is enabled", async () => {
    const { releases } = await portal.start();
    const stable = releases["notes"]?.stable ?? "";
    rmSync(portal.store.registryFolder, { recursive: true });
    await renewDocuments(portal.store, { by: operator });
    await setDisabled(portal.store, stable, true, { by: operator, reason: "it sends everything home" });
    expect((await readCurrentDeployment()).disabled).toEqual([stable]);
    expect(readAuditLog(getAuditFile(portal.store)).at(-1)).toMatchObject({
      action: "disable",
      reason: "it sends everything home",
    });
    await portal.start();
    expect((await readCurrentDeployment()).disabled).toEqual([stable]);
    expect(await getRejectionMessage(promote(portal.store, stable, { by: operator }))).toContain(
      "it is disabled there",
    );
    await setDisabled(portal.store, stable, false, { by: operator });
    expect((await readCurrentDeployment()).disabled).toEqual([]);
  });
});

describe("enable and disable", () => {
  it("refuse a release that is so already", async () => {
    const { releases, sequence } = await portal.start();
    const stable = releases["notes"]?.stable ?? "";
    for (const subject of [stable, "notes"])
      expect(await getRejectionMessage(setDisabled(portal.store, subject, false, { by: operator }))).toBe(
        `${subject} is not disabled: nothing was changed.`,
      );
    expect((await readCurrentDeployment()).sequence).toBe(sequence);
    await setDisabled(portal.store, stable, true, { by: operator });
    expect(await getRejectionMessage(setDisabled(portal.store, stable, true, { by: operator }))).toBe(
      `${stable} is already disabled: nothing was changed.`,
    );
  });
});

describe("renew and status", () => {
  it("sign the same releases for another week, and list what is deployed", async () => {
    const { releases, not_after } = await portal.start("relicario", {}, new Date("2026-11-21T12:00:00.000Z"));
    const nextReleaseId = await publishRelease("notes", "notes of the second day");
    await renewDocuments(portal.store, { by: operator, now: new Date("2026-11-25T12:00:00.000Z") });
    const renewedDeployment = await readCurrentDeployment();
    expect(renewedDeployment.releases).toEqual(releases);
    expect(Date.parse(renewedDeployment.not_after) - Date.parse(not_after)).toBe(4 * 24 * 3_600_000);
    const lines = await formatStatus(portal.store, "");
    expect(lines.join("\n")).toContain(`notes  ${releases["notes"]?.stable ?? ""}`);
    expect(lines).toContain(`    also there: ${nextReleaseId}`);
  });
});

describe("a start", () => {
  it("keeps the operator's choice until there is a new build", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable;
    portal.build("notes", "notes of the second day");
    const secondReleaseId = (await portal.start()).releases["notes"]?.stable;
    expect(secondReleaseId).not.toBe(firstReleaseId);
    await rollBack(portal.store, "notes", { by: operator });
    expect((await portal.start()).releases["notes"]).toEqual({ stable: firstReleaseId });
    portal.build("notes", "notes of the third day");
    expect([firstReleaseId, secondReleaseId]).not.toContain((await portal.start()).releases["notes"]?.stable);
  });

  it("signs with a new portal key when the former key is lost, and keeps disabled releases disabled", async () => {
    const { releases } = await portal.start();
    await setDisabled(portal.store, releases["notes"]?.stable ?? "", true, { by: operator });
    rmSync(join(portal.store.keysFolder, "portal.json"));
    const restartedDeployment = await portal.start();
    expect(restartedDeployment.disabled).toEqual([releases["notes"]?.stable]);
    const store = await openStore(portal.store);
    expect(store.portalKeyPair.publicKey.kid).not.toBe(portal.store.portalKeyPair.publicKey.kid);
    await expect(readVendor(store, "relicario")).resolves.toMatchObject({
      deployment: { sequence: restartedDeployment.sequence },
    });
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator }))).toContain(
      "is not signed by the portal's key",
    );
  });

  it("runs nothing that a team's former key signed", async () => {
    await portal.start();
    const stolenKey = await portal.loadTeamKey("notes");
    const forgedReleaseId = (
      await registerRelease(portal.store, {
        remote: "notes",
        packageFolder: portal.build("notes", "a thief's notes"),
        keyPair: stolenKey,
        by: operator,
      })
    ).record.release;
    portal.build("notes", "notes of the second day");
    rmSync(join(portal.store.keysFolder, "team-notes.json"));
    const { releases, release_records: records } = await portal.start();
    const readKeyId = (jws: string | undefined): unknown =>
      JSON.parse(Buffer.from(jws?.split(".")[0] ?? "", "base64url").toString());
    expect(readKeyId(records[releases["notes"]?.stable ?? ""])).toMatchObject({
      kid: (await portal.loadTeamKey("notes")).publicKey.kid,
    });
    expect(await getRejectionMessage(promote(portal.store, forgedReleaseId, { by: operator, force: true }))).toContain(
      "is not signed by a key of the team of notes",
    );
  });
});

describe("documents that do not match the log", () => {
  it("are refused when the log lacks their signing", async () => {
    await portal.start();
    await renewDocuments(portal.store, { by: operator });
    const lines = readFileSync(getAuditFile(portal.store), "utf8").trimEnd().split("\n");
    writeFileSync(getAuditFile(portal.store), `${lines.slice(0, -1).join("\n")}\n`);
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator }))).toContain(
      "The audit log lacks the signing of number",
    );
  });

  it("are refused when another key signed them", async () => {
    await portal.start();
    const otherStore = {
      ...portal.store,
      portalKeyPair: await loadOrCreateKeyPair(portal.store.keysFolder, "stranger"),
    };
    expect(
      await getRejectionMessage(setDisabled(otherStore, "notes-1.0.0-000000000000", true, { by: operator })),
    ).toContain("is not signed by the portal's key");
  });
});
