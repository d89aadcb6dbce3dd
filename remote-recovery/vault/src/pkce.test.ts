import { createHash } from "node:crypto";

import { createPkcePair } from "./pkce.ts";

describe("makeCodeProof", () => {
  it("gives another verifier each time, and its SHA-256 as RFC 7636 asks for it", async () => {
    const [first, second] = [await createPkcePair(), await createPkcePair()];
    expect(first.verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(first.verifier).not.toBe(second.verifier);
    expect(first.challenge).toBe(createHash("sha256").update(first.verifier).digest("base64url"));
  });
});
