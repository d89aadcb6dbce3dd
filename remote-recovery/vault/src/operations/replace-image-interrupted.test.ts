import "fake-indexeddb/auto";

import { interruptReplacements } from "./testing/image-replacement.ts";

jest.setTimeout(240_000); // slow on a busy machine

describe("twenty interrupted replacements of an image", () => {
  it("leave one consistent account after any call, and can be repeated", () => interruptReplacements(20));
});
