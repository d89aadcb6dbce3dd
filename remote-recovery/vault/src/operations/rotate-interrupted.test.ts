import "fake-indexeddb/auto";

import { interruptRotations } from "./testing/account-rotation.ts";

jest.setTimeout(240_000); // for a busy machine

describe("twenty rotations that are killed", () => {
  it("at any of their calls leave one consistent account, and are done by going on", () => interruptRotations(20));
});
