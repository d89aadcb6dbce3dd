import { fromB64u, hasValidSignature, toB64u, type KeyringChange, type KeyStatement } from "@relicario/shared/api";

import { withSigningSeed, signDocument, type AccountKeys } from "./account-key.ts";
import { equalBytes } from "./bytes.ts";

/** What the account publishes of itself, signed by its own signing key. `previous_sig` comes with rotation. */
export async function makeKeyStatement(keys: AccountKeys, userId: string): Promise<KeyStatement> {
  const statement = { v: 1 as const, user_id: userId, recipient: keys.recipient, signing_key: toB64u(keys.signingKey), key_epoch: keys.keyEpoch, previous_sig: null };
  return withSigningSeed(keys, (seed) => signDocument("key", statement, seed));
}

/** Whether a published statement is the one that hangs on our account key. */
export function isOwnKeyStatement(keys: AccountKeys, userId: string, statement: KeyStatement): boolean {
  return (
    statement.user_id === userId &&
    statement.recipient === keys.recipient &&
    equalBytes(fromB64u(statement.signing_key), keys.signingKey) &&
    statement.key_epoch === keys.keyEpoch &&
    hasValidSignature("key", statement, keys.signingKey)
  );
}

/** Signs a keyring change with the account's signing key. The same change has the same bytes: Ed25519 is deterministic. */
export function signKeyringChange(keys: AccountKeys, change: Omit<KeyringChange, "sig">): Promise<KeyringChange> {
  return withSigningSeed(keys, (seed) => signDocument("put", change, seed));
}
