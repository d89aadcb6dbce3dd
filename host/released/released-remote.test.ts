/**
 * Checks that a released remote keeps the contract in this host. `npm test -- releases` runs it for
 * each kept release.
 */
import { join } from "node:path";

import type { RemoteModule } from "@relicario/shared/contract";
import { conformance } from "@relicario/shared/testing";

import { readReleaseRecord, runRelease } from "./run-release.ts";

const release = process.env["RELICARIO_RELEASE"];
if (release === undefined)
  throw new Error(
    "RELICARIO_RELEASE must name the folder of a release. `npm test -- releases` sets it for each kept release.",
  );

const record = readReleaseRecord(release);
let loaded: RemoteModule | undefined;
const remote: RemoteModule = {
  get routes() {
    if (loaded === undefined) throw new Error(`${record.release} is not loaded: load it before reading its module`);
    return loaded.routes;
  },
};

beforeAll(async () => {
  loaded = await runRelease(release, record, (name) => jest.requireActual<object>(name));
});

conformance(record.manifest, remote, {
  localesFolder: join(release, "locales"),
  vault: {
    secrets: [{ title: "Letter", content: "words", tags: ["keys"], favorite: true }],
    people: [{ userName: "bruno", trust: "known" }],
    received: [{ title: "Door", content: "y", from: "bruno" }],
    ownRequests: [{ title: "The deed" }],
  },
  addresses: {
    "/shared/:shareId": "/shared/abcdefghijklmnopqrstuA",
    "/p-shared/:shareId": "/p-shared/abcdefghijklmnopqrstuA",
  },
});
