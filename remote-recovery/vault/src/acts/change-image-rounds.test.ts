import "fake-indexeddb/auto";

import { killChanges } from "./testing/changed-image.ts";

jest.setTimeout(240_000); // for a busy machine

describe("twenty changes of a picture that are killed", () => {
  it("at any of their calls leave one consistent account, and are done by going on", () => killChanges(20));
});
