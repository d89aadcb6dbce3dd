/** What docs/operations.md says under "When something is wrong", by the commands that it prints. */
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

jest.setTimeout(120_000); // each command is a process of its own

const run = promisify(execFile);
const operator = "Ana";

let portal: TestPortal;
beforeEach(async () => {
  portal = await createTestPortal();
});
afterEach(() => {
  portal.remove();
});

/** `npm run portal -- …`; what it says. Throws what it complains of. */
async function runPortalCommand(...args: readonly string[]): Promise<string> {
  const { keys, deployments, registry } = portal.store;
  const environment = {
    ...process.env,
    ...compileCacheEnvironment,
    NODE_OPTIONS: "",
    KEYS_FOLDER: keys,
    DEPLOYMENTS_FOLDER: deployments,
    RELEASES_FOLDER: registry,
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
      key: await portal.team("notes"),
      by: operator,
    })
  ).record.release;
/** As a page would have it: by the key that is there now. */
const readCurrentDeployment = async () => (await readVendor(await openStore(portal.store), "relicario")).deployment;
const readPage = (): PortalTrustAnchors =>
  PortalTrustAnchors.parse(JSON.parse(readFileSync(getTrustAnchorsFile(portal.store, "relicario"), "utf8")));
const readKeyId = (record: string | undefined): string =>
  z.object({ kid: z.string() }).parse(JSON.parse(Buffer.from(record?.split(".")[0] ?? "", "base64url").toString())).kid;

it("a released remote is bad: it is stopped, and the one before runs again", async () => {
  const first = (await portal.start()).releases["notes"]?.stable;
  const badRelease = await publishRelease("notes that send everything home");
  await runPortalCommand("promote", badRelease);
  expect(await runPortalCommand("disable", badRelease, "--reason", "it sends everything home")).toContain(
    "Open pages stop it within a minute.",
  );
  expect(await readCurrentDeployment()).toMatchObject({
    disabled: [badRelease],
    releases: { notes: { stable: badRelease } },
  });
  expect(await runPortalCommand("rollback", "notes")).toContain(`notes runs ${first ?? ""}.`);
  expect(await readCurrentDeployment()).toMatchObject({
    disabled: [badRelease],
    releases: { notes: { stable: first } },
  });
  await expect(runPortalCommand("promote", badRelease)).rejects.toThrow("it is switched off there");
  expect(await runPortalCommand("log")).toMatch(/promote.*\n.*disable.*reason=it sends everything home.*\n.*rollback/);
});

it("a team's key is taken: after a start with a new one nothing that the former key signed is promoted", async () => {
  await portal.start();
  const forged = await publishRelease("a thief's notes");
  const formerKid = (await portal.team("notes")).publicKey.kid;
  portal.build("notes", "notes of the team");
  rmSync(join(portal.store.keys, "team-notes.json"));
  await portal.start();
  await expect(runPortalCommand("promote", forged, "--force")).rejects.toThrow(
    "is not signed by a key of the team of notes",
  );
  const { releases, release_records: records } = await readCurrentDeployment();
  expect(readKeyId(records[releases["notes"]?.stable ?? ""])).not.toBe(formerKid);
  expect(readPage().team_keys["notes"]?.map(({ kid }) => kid)).toEqual([
    readKeyId(records[releases["notes"]?.stable ?? ""]),
  ]);
});

it("the portal's key is taken: after a start with a new one the page names it alone, what was switched off stays off, and a document of the former key counts no more", async () => {
  const first = (await portal.start()).releases["notes"]?.stable ?? "";
  const second = await publishRelease("notes of the second day");
  await runPortalCommand("promote", second);
  await runPortalCommand("disable", first);
  const document = join(portal.store.deployments, "relicario.json");
  const formerDocument = readFileSync(document, "utf8");
  renameSync(join(portal.store.keys, "portal.json"), join(portal.folder, "taken.json"));
  await portal.start();
  const { key } = await openStore(portal.store);
  expect(key.publicKey.kid).not.toBe(portal.store.key.publicKey.kid);
  expect(readPage().portal_keys).toEqual([key.publicKey]);
  expect((await readCurrentDeployment()).disabled).toEqual([first]);
  await runPortalCommand("promote", second); // a choice that is made again
  expect((await readCurrentDeployment()).releases["notes"]).toEqual({ stable: second });
  writeFileSync(document, formerDocument);
  await expect(runPortalCommand("renew")).rejects.toThrow("is not signed by the portal's key");
});

it("the registry is lost: releases are stopped and the week is renewed without it, and a start puts in what is built", async () => {
  const stable = (await portal.start()).releases["notes"]?.stable ?? "";
  rmSync(portal.store.registry, { recursive: true });
  await runPortalCommand("disable", stable);
  await runPortalCommand("enable", stable);
  await runPortalCommand("renew");
  await expect(runPortalCommand("verify", stable)).rejects.toThrow(`There is no release ${stable}`);
  await portal.start();
  expect(readdirSync(portal.store.registry).sort()).toEqual(["garden", "notes"]);
  expect(await runPortalCommand("verify", stable)).toContain("files are what the team signed.");
});
