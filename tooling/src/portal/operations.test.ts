import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { loadOrCreateKeyPair } from "../keys/development-keys.ts";
import { UserFacingError } from "../user-facing-error.ts";
import {
  setCanary,
  promote,
  registerRelease,
  renewDocuments,
  rollBack,
  setDisabled,
  verifyRelease,
} from "./operations.ts";
import { readAuditLog } from "./audit-log.ts";
import { formatStatus } from "./status.ts";
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
      key: await portal.team(remote),
      by: operator,
    })
  ).record.release;
const readCurrentDeployment = async (vendor = "relicario") => (await readVendor(portal.store, vendor)).deployment;
const getRejectionMessage = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UserFacingError);
  return error instanceof Error ? error.message : "";
};
const releaseFile = (id: string, name: string): string => join(portal.store.registry, id.split("-")[0] ?? "", id, name);

describe("release and promote", () => {
  it("put a release beside the one in force, and then in its place, for every vendor that has the remote", async () => {
    const firstDeployment = await portal.start();
    await portal.start("acme");
    const nextRelease = await publishRelease("notes", "notes of the second day");
    expect((await readCurrentDeployment()).releases).toEqual(firstDeployment.releases);

    await promote(portal.store, nextRelease, { by: operator });
    for (const vendor of ["relicario", "acme"]) {
      const { releases, release_records, sequence } = await readCurrentDeployment(vendor);
      expect(releases["notes"]).toEqual({ stable: nextRelease });
      expect(Object.keys(release_records).sort()).toEqual([nextRelease, releases["garden"]?.stable].sort());
      expect(sequence).toBeGreaterThan(firstDeployment.sequence);
    }
  });

  it("reach one vendor alone when it is named", async () => {
    await portal.start();
    const acmeBefore = await portal.start("acme");
    const nextRelease = await publishRelease("notes", "notes of the second day");
    await promote(portal.store, nextRelease, { by: operator, vendor: "relicario" });
    expect((await readCurrentDeployment()).releases["notes"]?.stable).toBe(nextRelease);
    expect(await readCurrentDeployment("acme")).toEqual(acmeBefore);
  });

  it("refuse a release built for another contract at every vendor, in a matrix, and go past it only by force, which is noted", async () => {
    await portal.start();
    await portal.start("acme");
    const nextRelease = await publishRelease("notes", "notes of a later host", { contract: "^4" });
    const auditLogBefore = readFileSync(getAuditFile(portal.store), "utf8");
    const message = await getRejectionMessage(promote(portal.store, nextRelease, { by: operator }));
    for (const vendor of ["acme", "relicario"])
      expect(message).toMatch(new RegExp(`${vendor}: it is built for contract \\^4, and the host offers 3\\.`));
    expect(readFileSync(getAuditFile(portal.store), "utf8")).toBe(auditLogBefore);
    expect((await verifyRelease(portal.store, nextRelease)).matrix.map(({ objections }) => objections.length)).toEqual([
      1, 1,
    ]);

    await promote(portal.store, nextRelease, { by: operator, force: true });
    expect((await readCurrentDeployment()).releases["notes"]?.stable).toBe(nextRelease);
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
      key: await portal.team("notes"),
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
  ])("refuse a release with a file that is %s, force or not", async (_case, damage, message) => {
    await portal.start();
    const nextRelease = await publishRelease("notes", "notes of the second day");
    damage(nextRelease);
    expect(await getRejectionMessage(promote(portal.store, nextRelease, { by: operator, force: true }))).toContain(
      message,
    );
    expect(await getRejectionMessage(verifyRelease(portal.store, nextRelease))).toContain(message);
  });

  it("refuse a release that another team signed, or one under another name", async () => {
    const { releases } = await portal.start();
    const nextRelease = await publishRelease("notes", "notes of the second day");
    const record = releaseFile(nextRelease, "release.json");
    const originalRecord = readFileSync(record, "utf8");
    writeFileSync(record, readFileSync(releaseFile(releases["garden"]?.stable ?? "", "release.json")));
    expect(await getRejectionMessage(promote(portal.store, nextRelease, { by: operator, force: true }))).toContain(
      "is not signed by a key of the team of notes",
    );
    writeFileSync(record, readFileSync(releaseFile(releases["notes"]?.stable ?? "", "release.json")));
    expect(await getRejectionMessage(promote(portal.store, nextRelease, { by: operator, force: true }))).toContain(
      `signed in ${nextRelease} is ${releases["notes"]?.stable ?? ""} of notes`,
    );
    writeFileSync(record, originalRecord);
    await expect(promote(portal.store, nextRelease, { by: operator })).resolves.toHaveLength(1);
  });

  it("say which release, remote or vendor they do not know", async () => {
    await portal.start();
    expect(await getRejectionMessage(promote(portal.store, "notes-9.9.9-000000000000", { by: operator }))).toContain(
      "There is no release",
    );
    expect(await getRejectionMessage(promote(portal.store, "../keys", { by: operator }))).toContain(
      "No vendor here has the remote",
    );
    expect(await getRejectionMessage(promote(portal.store, "notes-../../keys", { by: operator }))).toContain(
      "is not the name of a release",
    );
    expect(await getRejectionMessage(rollBack(portal.store, "attic", { by: operator, vendor: "relicario" }))).toContain(
      "relicario has no remote attic",
    );
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator, vendor: "nobody" }))).toContain(
      "There is no vendor nobody here",
    );
  });
});

describe("canary and rollback", () => {
  it("give a release to a share of sessions, end that, and go back release by release", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
    const second = await publishRelease("notes", "notes of the second day");
    const third = await publishRelease("notes", "notes of the third day");
    await setCanary(portal.store, second, 50, { by: operator });
    const withCanary = await readCurrentDeployment();
    expect(withCanary.releases["notes"]).toEqual({ stable: firstReleaseId, canary: { release: second, percent: 50 } });
    expect(Object.keys(withCanary.release_records)).toEqual(expect.arrayContaining([firstReleaseId, second]));

    await rollBack(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: firstReleaseId });
    await promote(portal.store, second, { by: operator });
    await promote(portal.store, third, { by: operator });
    await rollBack(portal.store, "notes", { by: operator });
    expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: second });
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

  it.each([-1, 101, 1.5, Number.NaN])("take no share of %s per cent", async (percent) => {
    const { releases } = await portal.start();
    expect(() => setCanary(portal.store, releases["notes"]?.stable ?? "", percent, { by: operator })).toThrow(
      "0 to 100",
    );
  });

  it("do not go back to what was switched off", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
    await promote(portal.store, await publishRelease("notes", "notes of the second day"), { by: operator });
    await setDisabled(portal.store, firstReleaseId, true, { by: operator });
    expect(await getRejectionMessage(rollBack(portal.store, "notes", { by: operator }))).toContain("is switched off");
  });
});

describe("disable", () => {
  it("names the release in every document, without the registry, and refuses to promote it until it is allowed again", async () => {
    const { releases } = await portal.start();
    const stable = releases["notes"]?.stable ?? "";
    rmSync(portal.store.registry, { recursive: true });
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
      "it is switched off there",
    );
    await setDisabled(portal.store, stable, false, { by: operator });
    expect((await readCurrentDeployment()).disabled).toEqual([]);
  });
});

describe("renew and status", () => {
  it("sign the same for another week, and tell what is in force", async () => {
    const { releases, not_after } = await portal.start("relicario", {}, new Date("2026-11-21T12:00:00.000Z"));
    const nextRelease = await publishRelease("notes", "notes of the second day");
    await renewDocuments(portal.store, { by: operator, now: new Date("2026-11-25T12:00:00.000Z") });
    const renewed = await readCurrentDeployment();
    expect(renewed.releases).toEqual(releases);
    expect(Date.parse(renewed.not_after) - Date.parse(not_after)).toBe(4 * 24 * 3_600_000);
    const lines = await formatStatus(portal.store, "");
    expect(lines.join("\n")).toContain(`notes  ${releases["notes"]?.stable ?? ""}`);
    expect(lines).toContain(`    also there: ${nextRelease}`);
  });
});

describe("a start", () => {
  it("keeps what an operator chose until something else is built", async () => {
    const firstReleaseId = (await portal.start()).releases["notes"]?.stable;
    portal.build("notes", "notes of the second day");
    const second = (await portal.start()).releases["notes"]?.stable;
    expect(second).not.toBe(firstReleaseId);
    await rollBack(portal.store, "notes", { by: operator });
    expect((await portal.start()).releases["notes"]).toEqual({ stable: firstReleaseId });
    portal.build("notes", "notes of the third day");
    expect([firstReleaseId, second]).not.toContain((await portal.start()).releases["notes"]?.stable);
  });

  it("signs with a new key of the portal when the former one was taken away, and what was switched off stays off", async () => {
    const { releases } = await portal.start();
    await setDisabled(portal.store, releases["notes"]?.stable ?? "", true, { by: operator });
    rmSync(join(portal.store.keys, "portal.json"));
    const restarted = await portal.start();
    expect(restarted.disabled).toEqual([releases["notes"]?.stable]);
    const store = await openStore(portal.store);
    expect(store.key.publicKey.kid).not.toBe(portal.store.key.publicKey.kid);
    await expect(readVendor(store, "relicario")).resolves.toMatchObject({
      deployment: { sequence: restarted.sequence },
    });
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator }))).toContain(
      "is not signed by the portal's key",
    );
  });

  it("runs nothing that a team's former key signed, once the team has another one", async () => {
    await portal.start();
    const stolenKey = await portal.team("notes");
    const forged = (
      await registerRelease(portal.store, {
        remote: "notes",
        packageFolder: portal.build("notes", "a thief's notes"),
        key: stolenKey,
        by: operator,
      })
    ).record.release;
    portal.build("notes", "notes of the second day");
    rmSync(join(portal.store.keys, "team-notes.json"));
    const { releases, release_records: records } = await portal.start();
    const readKeyId = (jws: string | undefined): unknown =>
      JSON.parse(Buffer.from(jws?.split(".")[0] ?? "", "base64url").toString());
    expect(readKeyId(records[releases["notes"]?.stable ?? ""])).toMatchObject({
      kid: (await portal.team("notes")).publicKey.kid,
    });
    expect(await getRejectionMessage(promote(portal.store, forged, { by: operator, force: true }))).toContain(
      "is not signed by a key of the team of notes",
    );
  });
});

describe("what is signed without the log", () => {
  it("is noticed by the next command", async () => {
    await portal.start();
    await renewDocuments(portal.store, { by: operator });
    const lines = readFileSync(getAuditFile(portal.store), "utf8").trimEnd().split("\n");
    writeFileSync(getAuditFile(portal.store), `${lines.slice(0, -1).join("\n")}\n`);
    expect(await getRejectionMessage(renewDocuments(portal.store, { by: operator }))).toContain(
      "The audit log lacks the signing of number",
    );
  });

  it("and a document of another key is nobody's", async () => {
    await portal.start();
    const otherStore = { ...portal.store, key: await loadOrCreateKeyPair(portal.store.keys, "stranger") };
    expect(
      await getRejectionMessage(setDisabled(otherStore, "notes-1.0.0-000000000000", true, { by: operator })),
    ).toContain("is not signed by the portal's key");
  });
});
