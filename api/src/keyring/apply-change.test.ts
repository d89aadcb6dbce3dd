import type { KeyringChange } from "@relicario/shared/api";

import { createChangeCall, findRecordedResponse } from "./apply-change.ts";
import type { KeyringRow } from "./queries.ts";

describe("findRecordedResponse", () => {
  it("computes no digest of a change whose number does not match", () => {
    const change = new Proxy({ state_rev: 9 } as KeyringChange, {
      ownKeys: () => {
        throw new Error("it was read through");
      },
    });
    const stored = { stateRev: 7, lastChangeSha256: Buffer.alloc(32) } as unknown as KeyringRow;
    expect(findRecordedResponse(stored, createChangeCall(change))).toBeNull();
    expect(() => findRecordedResponse({ ...stored, stateRev: 9 }, createChangeCall(change))).toThrow(
      "it was read through",
    );
  });
});
