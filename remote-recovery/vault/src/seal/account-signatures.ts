import {
  fromBase64url,
  hasValidSignature,
  toBase64url,
  type KeyringChange,
  type KeyStatement,
} from "@relicario/shared/api";

import { signDocument, type MetadataKeys } from "./account-key.ts";
import { equalBytes } from "./bytes.ts";

/**
 * What the account publishes of itself, signed by its own signing key.
 *
 * @param previousKeys keys of the generation before, which sign the statement without both
 *   signatures; null where none is followed.
 */
export async function createKeyStatement(
  keys: MetadataKeys,
  userId: string,
  previousKeys: MetadataKeys | null = null,
): Promise<KeyStatement> {
  const body = {
    v: 1 as const,
    user_id: userId,
    recipient: keys.recipient,
    signing_key: toBase64url(keys.signingKey),
    key_epoch: keys.keyEpoch,
  };
  const previousSig = previousKeys === null ? null : (await signDocument("key", body, previousKeys.signer)).sig;
  return signDocument("key", { ...body, previous_sig: previousSig }, keys.signer);
}

/** Whether a published statement is the one that hangs on our account key. */
export function isOwnKeyStatement(keys: MetadataKeys, userId: string, statement: KeyStatement): boolean {
  return (
    statement.user_id === userId &&
    statement.recipient === keys.recipient &&
    equalBytes(fromBase64url(statement.signing_key), keys.signingKey) &&
    statement.key_epoch === keys.keyEpoch &&
    hasValidSignature("key", statement, keys.signingKey)
  );
}

/**
 * Whether `previous_sig` is what it says: the signature of the key before. Null says that there is
 * none: the first statement, or an account that was started anew.
 *
 * @param previousSigningKeys signing keys of former generations, each with its last `key_epoch`.
 */
export function hasValidPreviousSignature(
  statement: KeyStatement,
  previousSigningKeys: readonly { readonly keyEpoch: number; readonly signingKey: Uint8Array }[],
): boolean {
  const { previous_sig: sig, sig: _, ...body } = statement;
  if (sig === null) return true;
  return previousSigningKeys.some(
    ({ keyEpoch, signingKey }) =>
      keyEpoch === statement.key_epoch - 1 && hasValidSignature("key", { ...body, sig }, signingKey),
  );
}

/** Signs a keyring change with the account's signing key. */
export function signKeyringChange(keys: MetadataKeys, change: Omit<KeyringChange, "sig">): Promise<KeyringChange> {
  return signDocument("put", change, keys.signer);
}
