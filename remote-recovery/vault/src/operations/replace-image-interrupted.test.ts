import "fake-indexeddb/auto";

import { interruptReplacements } from "./testing/image-replacement.ts";

jest.setTimeout(240_000); // for a busy machine

describe("twenty changes of a picture that are killed", () => {
  it("at any of their calls leave one consistent account, and are done by going on", () => interruptReplacements(20));
});
