import "fake-indexeddb/auto";

import { interruptRotations } from "./testing/account-rotation.ts";

jest.setTimeout(240_000); // slow on a busy machine

describe("twenty interrupted rotations", () => {
  it("leave one consistent account after any call, and can be repeated", () => interruptRotations(20));
});
