/**
 * Jest set-up: Argon2id uses 64 KiB and one pass instead of 64 MiB and three. Stored costs stay
 * those of the product, because their range is checked, and each yields another key. Tests of
 * vectors use the real function: `jest.unmock("./kdf.ts")`.
 */
import { argon2id } from "hash-wasm";

import type { Argon2Costs } from "../seal/kdf.ts";

jest.mock("../seal/kdf.ts", () => {
  const real = jest.requireActual<typeof import("../seal/kdf.ts")>("../seal/kdf.ts");
  const stretch: typeof real.stretch = async (password, salt, costs) => {
    const { memoryKib, passes, lanes }: Argon2Costs = real.assertCostsInRange(costs);
    const hash = await argon2id({
      password,
      salt,
      secret: [memoryKib, passes, lanes].join(" "),
      memorySize: 64,
      iterations: 1,
      parallelism: lanes,
      hashLength: 32,
      outputType: "binary",
    });
    return Uint8Array.from(hash);
  };
  return { ...real, stretch };
});
