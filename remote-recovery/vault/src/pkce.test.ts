import { createHash } from "node:crypto";

import { createPkcePair } from "./pkce.ts";

describe("createPkcePair", () => {
  it("creates a new verifier each time, with its SHA-256 as the challenge (RFC 7636)", async () => {
    const [firstPair, secondPair] = [await createPkcePair(), await createPkcePair()];
    expect(firstPair.verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(firstPair.verifier).not.toBe(secondPair.verifier);
    expect(firstPair.challenge).toBe(createHash("sha256").update(firstPair.verifier).digest("base64url"));
  });
});
