import { fromBase64url } from "@relicario/shared/api";
import type { HistoryWords } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { sha256, utf8 } from "../seal/bytes.ts";
import { encodeDigestAsWords } from "../seal/mnemonic.ts";
import { computeStateDigest, parseUnverifiedPrevious } from "../seal/state.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Number and words of a state of this device's verified history: the first 88 bits of
 * SHA-256(`relicario/v1/history` ‖ state digest). Two devices with other words at one number were
 * shown different histories.
 *
 * @param stateRev null for the newest state.
 * @throws PortalError `vault_locked`, `no_keyring`; `not_found` for a later number, or one that the
 *   chain of states does not reach back to; and those of reading.
 */
export async function readHistory(
  vault: VaultSession,
  stateRev: number | null,
  { signal }: OperationOptions = {},
): Promise<HistoryWords> {
  const view = await refreshKeyring(vault, signal);
  if (view === null) throw new PortalError("no_keyring");
  if (view.openedKeyring === null) throw new PortalError("vault_locked");
  const { state_rev: newestRev, state: newestState } = view.keyring;
  const rev = stateRev ?? newestRev;
  if (rev < 1 || rev > newestRev) throw new PortalError("not_found");
  let digest = computeStateDigest(newestState);
  if (rev < newestRev) {
    const states = (await vault.service.getKeyring(rev, signal))?.states ?? [];
    for (let current = newestRev; current > rev; current--) {
      const link = states.find(({ state_rev: linkRev }) => linkRev === current);
      if (link === undefined || computeStateDigest(link.state) !== digest) throw new PortalError("not_found");
      digest = parseUnverifiedPrevious(link.state) ?? "";
    }
  }
  return {
    stateRev: rev,
    words: encodeDigestAsWords(sha256(utf8("relicario/v1/history"), fromBase64url(digest))),
  };
}
