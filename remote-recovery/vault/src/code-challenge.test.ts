import { createHash } from "node:crypto";

import { makeCodeProof } from "./code-challenge.ts";

describe("makeCodeProof", () => {
  it("gives another verifier each time, and its SHA-256 as RFC 7636 asks for it", async () => {
    const [one, other] = [await makeCodeProof(), await makeCodeProof()];
    expect(one.verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(one.verifier).not.toBe(other.verifier);
    expect(one.challenge).toBe(createHash("sha256").update(one.verifier).digest("base64url"));
  });
});
