/**
 * A released remote keeps to the contract in this host. `npm test -- releases` names each that is
 * kept in turn.
 */
import { join } from "node:path";

import type { RemoteModule } from "@relicario/shared/contract";
import { conformance } from "@relicario/shared/testing";

import { readReleaseRecord, runRelease } from "./run-release.ts";

const release = process.env["RELICARIO_RELEASE"];
if (release === undefined)
  throw new Error(
    "RELICARIO_RELEASE has to name the folder of a release: npm test -- releases does, for each that is kept.",
  );

const record = readReleaseRecord(release);
let loaded: RemoteModule | undefined;
const remote: RemoteModule = {
  get routes() {
    if (loaded === undefined) throw new Error(`${record.release} does not run`);
    return loaded.routes;
  },
};

beforeAll(async () => {
  loaded = await runRelease(release, record, (name) => jest.requireActual<object>(name));
});

conformance(record.manifest, remote, {
  locales: join(release, "locales"),
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
