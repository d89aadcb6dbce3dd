import { copyOf } from "../seal/bytes.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { list } from "../operations/list.ts";
import { generateRecoveryCode } from "../operations/openers.ts";
import { startServiceWorld, type ServiceWorld } from "./service-world.ts";

/** Starts one service for all tests of a file; each test signs up its own people. */
export function withServiceWorld(): () => ServiceWorld {
  jest.setTimeout(300_000); // for busy machines
  let world: ServiceWorld;
  beforeAll(async () => {
    world = await startServiceWorld();
  });
  afterEach(() => {
    world.setClockOffset(0);
  });
  afterAll(() => world.stop());
  return () => world;
}

export const errorWithCode = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
export const decodeContent = ({ content }: { readonly content: Uint8Array | null }): string =>
  new TextDecoder().decode(content ?? new Uint8Array());
export const makePasskey = (fill = 7, bytes = 32): PresentedKey => ({
  kind: "passkey",
  prf: copyOf(new Uint8Array(bytes).fill(fill)),
});
export const createPrintedCode = async (): Promise<PresentedKey & { readonly code: string }> => ({
  kind: "recovery_code",
  code: (await generateRecoveryCode()).words.join(" "),
});
export const listTitles = async (vault: VaultSession): Promise<(string | undefined)[]> =>
  (await list(vault)).map(({ label }) => label?.title).sort();
