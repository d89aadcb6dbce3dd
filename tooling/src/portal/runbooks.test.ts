/** Tests docs/operations.md, "When something is wrong". */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { PortalTrustAnchors } from "@relicario/shared/contract";
import { z } from "zod";

import { compileCacheEnvironment } from "../compile-cache.ts";
import { registerRelease } from "./operations.ts";
import { openStore, getTrustAnchorsFile, readVendor } from "./store.ts";
import { createTestPortal, type TestPortal } from "./testing/test-portal.ts";

jest.setTimeout(120_000); // each command is a process

const run = promisify(execFile);
const operator = "Ana";

let portal: TestPortal;
beforeEach(async () => {
  portal = await createTestPortal();
});
afterEach(() => {
  portal.remove();
});

/** @throws Error with the command's stderr */
async function runPortalCommand(...args: readonly string[]): Promise<string> {
  const { keysFolder, deploymentsFolder, registryFolder } = portal.store;
  const environment = {
    ...process.env,
    ...compileCacheEnvironment,
    NODE_OPTIONS: "",
    KEYS_FOLDER: keysFolder,
    DEPLOYMENTS_FOLDER: deploymentsFolder,
    RELEASES_FOLDER: registryFolder,
  };
  const execution = run(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "main.ts"), ...args, "--by", operator],
    { env: environment },
  );
  const { stdout } = await execution.catch((error: unknown) => {
    throw new Error(z.object({ stderr: z.string() }).parse(error).stderr);
  });
  return stdout;
}

const publishRelease = async (script: string): Promise<string> =>
  (
    await registerRelease(portal.store, {
      remote: "notes",
      packageFolder: portal.build("notes", script),
      keyPair: await portal.loadTeamKey("notes"),
      by: operator,
    })
  ).record.release;
/** With the current portal key, as a page reads it. */
const readCurrentDeployment = async () => (await readVendor(await openStore(portal.store), "relicario")).deployment;
const readPage = (): PortalTrustAnchors =>
  PortalTrustAnchors.parse(JSON.parse(readFileSync(getTrustAnchorsFile(portal.store, "relicario"), "utf8")));
const readKeyId = (record: string | undefined): string =>
  z.object({ kid: z.string() }).parse(JSON.parse(Buffer.from(record?.split(".")[0] ?? "", "base64url").toString())).kid;

it("a released remote is bad: the release is disabled, and the previous release runs again", async () => {
  const firstReleaseId = (await portal.start()).releases["notes"]?.stable;
  const badReleaseId = await publishRelease("notes that send everything home");
  await runPortalCommand("promote", badReleaseId);
  expect(await runPortalCommand("disable", badReleaseId, "--reason", "it sends everything home")).toContain(
    "Open pages stop it within a minute.",
  );
  expect(await readCurrentDeployment()).toMatchObject({
    disabled: [badReleaseId],
    releases: { notes: { stable: badReleaseId } },
  });
  expect(await runPortalCommand("rollback", "notes")).toContain(`notes runs ${firstReleaseId ?? ""}.`);
  expect(await readCurrentDeployment()).toMatchObject({
    disabled: [badReleaseId],
    releases: { notes: { stable: firstReleaseId } },
  });
  await expect(runPortalCommand("promote", badReleaseId)).rejects.toThrow("it is disabled there");
  expect(await runPortalCommand("log")).toMatch(/promote.*\n.*disable.*reason=it sends everything home.*\n.*rollback/);
});

it("a team's key is taken: after a start with a new key, nothing that the former key signed is promoted", async () => {
  await portal.start();
  const forgedReleaseId = await publishRelease("a thief's notes");
  const formerKid = (await portal.loadTeamKey("notes")).publicKey.kid;
  portal.build("notes", "notes of the team");
  rmSync(join(portal.store.keysFolder, "team-notes.json"));
  await portal.start();
  await expect(runPortalCommand("promote", forgedReleaseId, "--force")).rejects.toThrow(
    "is not signed by a key of the team of notes",
  );
  const { releases, release_records: records } = await readCurrentDeployment();
  expect(readKeyId(records[releases["notes"]?.stable ?? ""])).not.toBe(formerKid);
  expect(readPage().team_keys["notes"]?.map(({ kid }) => kid)).toEqual([
    readKeyId(records[releases["notes"]?.stable ?? ""]),
  ]);
});

it("the portal's key is taken: after a start with a new key, the page names only the new key, disabled releases stay disabled, and documents of the former key are refused", async () => {
  const firstReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
  const secondReleaseId = await publishRelease("notes of the second day");
  await runPortalCommand("promote", secondReleaseId);
  await runPortalCommand("disable", firstReleaseId);
  const document = join(portal.store.deploymentsFolder, "relicario.json");
  const formerDocument = readFileSync(document, "utf8");
  renameSync(join(portal.store.keysFolder, "portal.json"), join(portal.folder, "taken.json"));
  await portal.start();
  const { portalKeyPair } = await openStore(portal.store);
  expect(portalKeyPair.publicKey.kid).not.toBe(portal.store.portalKeyPair.publicKey.kid);
  expect(readPage().portal_keys).toEqual([portalKeyPair.publicKey]);
  expect((await readCurrentDeployment()).disabled).toEqual([firstReleaseId]);
  await runPortalCommand("promote", secondReleaseId); // a choice that is made again
  expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: secondReleaseId });
  writeFileSync(document, formerDocument);
  await expect(runPortalCommand("renew")).rejects.toThrow("is not signed by the portal's key");
});

it("the registry is lost: disable, enable and renew work without the registry, and a start adds the built releases", async () => {
  const stableReleaseId = (await portal.start()).releases["notes"]?.stable ?? "";
  rmSync(portal.store.registryFolder, { recursive: true });
  await runPortalCommand("disable", stableReleaseId);
  await runPortalCommand("enable", stableReleaseId);
  await runPortalCommand("renew");
  await expect(runPortalCommand("verify", stableReleaseId)).rejects.toThrow(`There is no release ${stableReleaseId}`);
  await portal.start();
  expect(readdirSync(portal.store.registryFolder).sort()).toEqual(["garden", "notes"]);
  expect(await runPortalCommand("verify", stableReleaseId)).toContain("files are what the team signed.");
});
