import type { KeyringChange } from "@relicario/shared/api";

import { withSigningSeed, type AccountKeys } from "./account-key.ts";
import { signDocument } from "./sign.ts";

/** Signs a keyring change with the account's signing key. The same change has the same bytes: Ed25519 is deterministic. */
export function signKeyringChange(keys: AccountKeys, change: Omit<KeyringChange, "sig">): Promise<KeyringChange> {
  return withSigningSeed(keys, (seed) => signDocument("put", change, seed));
}
