import type { KeyringChange } from "@relicario/shared/api";

import { callOf, repeatOf } from "./apply-change.ts";
import type { KeyringRow } from "./queries.ts";

describe("repeatOf", () => {
  it("looks at no more than the number of a change that does not follow", () => {
    const change = new Proxy({ state_rev: 9 } as KeyringChange, {
      ownKeys: () => {
        throw new Error("it was read through");
      },
    });
    const stored = { stateRev: 7, lastChangeSha256: Buffer.alloc(32) } as unknown as KeyringRow;
    expect(repeatOf(stored, callOf(change))).toBeNull();
    expect(() => repeatOf({ ...stored, stateRev: 9 }, callOf(change))).toThrow("it was read through");
  });
});
