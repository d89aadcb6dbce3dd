import type { EngineName } from "../../support/engines/engine.ts";
import type { AttackName } from "./campaign.ts";

type Expectation = "succeeds" | "fails";

/** The drivers of the others have no passkeys. */
const inChromiumAlone = (expectation: Expectation): ReadonlyMap<EngineName, Expectation> =>
  new Map([["Chromium", expectation]]);

/**
 * Whether each attack of a hostile remote succeeds today, in every engine or in those named. Its
 * test fails when it does otherwise: a change that ends an attack changes its line.
 */
const expectations: Readonly<Record<AttackName, Expectation | ReadonlyMap<EngineName, Expectation>>> = {
  "account key, by worker": "fails",
  "account key, by messages": "fails",
  "account key, by ports": "fails",
  "metadata keys, by worker": "fails",
  "metadata keys, by messages": "fails",
  "metadata keys, by ports": "fails",
  "opener of the picture, by worker": "fails",
  "opener of the picture, by messages": "fails",
  "opener of the picture, by ports": "fails",
  "picture, by inputs": "fails",
  "picture, by blobs": "fails",
  "picture, by messages": "fails",
  "passphrase, by inputs": "fails",
  "passphrase, by messages": "fails",
  "passphrase, by intrinsics": "fails",
  "passphrase, by worker": "fails",
  "recovery code, by screen": "fails",
  "recovery code, by inputs": "fails",
  "recovery code, by messages": "fails",
  "recovery code, by search and selection": "fails",
  "length of a passphrase, by what its element tells": "fails",
  "passphrase, by taking the focus": "fails",
  "picture and passphrase, by an imitated element": "succeeds",
  "an element pressed and filled by script": "fails",
  "a port that the page brokers": "fails",
  "the controller asked in an element's name": "fails",
  "an element of the attacker's own, for what another one holds": "fails",
  "the controller imitated": "fails",
  "the page's documents in place of an element": "fails",
  "PRF output, by wrapped credentials": inChromiumAlone("fails"),
  "documents, by the keys that the vault stored": "fails",
  "the vault's storage read": "fails",
  "the vault's storage written": "fails",
  "a worker of the vault started": "fails",
  "the passkey used from the page": inChromiumAlone("fails"),
  "a fake sign-in unlocks the device": "fails",
  "a secret into another account, by its token": "fails",
  "a service worker over the portal": "fails",
};

export const attackNames = Object.keys(expectations) as readonly AttackName[];

/** Null where the engine's driver cannot make the attack. */
export function getExpectation(attackName: AttackName, engine: EngineName): Expectation | null {
  const expectation = expectations[attackName];
  return typeof expectation === "string" ? expectation : (expectation.get(engine) ?? null);
}
