/** A released remote keeps to the contract in this host. `npm test -- releases` names each that is kept in turn. */
import { join } from "node:path";

import type { RemoteModule } from "@relicario/shared/contract";
import { conformance } from "@relicario/shared/testing";

import { recordIn, runRelease } from "./run-release.ts";

const folder = process.env["RELICARIO_RELEASE"];

if (folder === undefined) {
  it.skip("is there, when RELICARIO_RELEASE names its folder", () => undefined);
} else {
  conformsAsReleased(folder);
}

function conformsAsReleased(release: string): void {
  const record = recordIn(release);
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
      people: [{ userName: "bruno", standing: "known" }],
      received: [{ title: "Door", content: "y", from: "bruno" }],
      asked: [{ title: "The deed" }],
    },
    addresses: { "/shared/:shareId": "/shared/abcdefghijklmnopqrstuA", "/p-shared/:shareId": "/p-shared/abcdefghijklmnopqrstuA" },
  });
}
