import { copyOf } from "../seal/bytes.ts";
import type { ShownKey } from "../shown-image.ts";
import type { VaultContext } from "../vault-context.ts";
import { list } from "../acts/list.ts";
import { newRecoveryCode } from "../acts/openers.ts";
import { startServiceWorld, type ServiceWorld } from "./service-world.ts";

/** One service for all tests of a file; each signs up people of its own. */
export function withServiceWorld(): () => ServiceWorld {
  jest.setTimeout(300_000); // a busy machine takes its time
  let world: ServiceWorld;
  beforeAll(async () => {
    world = await startServiceWorld();
  });
  afterEach(() => {
    world.goAhead(0);
  });
  afterAll(() => world.stop());
  return () => world;
}

export const code = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
export const plain = ({ content }: { readonly content: Uint8Array | null }): string =>
  new TextDecoder().decode(content ?? new Uint8Array());
export const passkey = (fill = 7, bytes = 32): ShownKey => ({
  kind: "passkey",
  prf: copyOf(new Uint8Array(bytes).fill(fill)),
});
export const printedCode = async (): Promise<ShownKey & { readonly code: string }> => ({
  kind: "recovery_code",
  code: (await newRecoveryCode()).words.join(" "),
});
export const titles = async (vault: VaultContext): Promise<(string | undefined)[]> =>
  (await list(vault)).map(({ label }) => label?.title).sort();
