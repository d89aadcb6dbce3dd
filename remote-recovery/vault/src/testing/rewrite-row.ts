import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { sha256 } from "../seal/bytes.ts";
import { openLabel, parseUnverifiedRev, sealLabel, type Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { computeLabelDigest, openState, computeRoot, sealState, computeStateDigest } from "../seal/state.ts";
import { openTicket, type OwnerTicket } from "../seal/ticket.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { lastOf, touch } from "./fake-account.ts";
import type { World } from "./world.ts";

/**
 * Publishes a row again with a chosen label and ticket and a valid state, as only a holder of the
 * account key could. Used to test the checks that remain when all digests match.
 */
export async function rewriteRow(
  world: World,
  vault: VaultSession,
  secretId: string,
  opener: OpenerKeys,
  change: {
    readonly rev?: number;
    readonly label?: Partial<Label>;
    readonly seal: (ticket: OwnerTicket) => Promise<Uint8Array>;
  },
): Promise<void> {
  const keys = vault.requireKeys();
  const { keyring, rows } = world.service.account;
  const storedRow = rows.get(secretId);
  const row = lastOf(storedRow?.versions);
  const lastState = lastOf(keyring?.states);
  if (keyring === null || storedRow === undefined || row === undefined || lastState === undefined)
    throw new TypeError("expected a stored row");
  const context = { secretId, version: storedRow.versions.length, rev: parseUnverifiedRev(row.label) };
  const label = await openLabel(keys, vault.userId, context, row.label);
  const ticket = await change.seal(await openTicket(opener, fromBase64url(row.ticket)));
  row.ticket = toBase64url(ticket);
  const rev = change.rev ?? context.rev;
  row.label = await sealLabel(
    keys,
    vault.userId,
    { ...context, rev },
    { ...label, ...change.label, ticket_sha256: toBase64url(sha256(ticket)) },
  );
  touch(world.service.account, storedRow);
  const { previous: _, ...state } = await openState(keys, vault.userId, lastState.state_rev, lastState.state);
  const root = computeRoot(
    [...rows].map(([id, { versions }]) => {
      const jwe = lastOf(versions)?.label ?? "";
      return {
        secretId: id,
        version: versions.length,
        rev: parseUnverifiedRev(jwe),
        labelHex: computeLabelDigest(jwe),
      };
    }),
  );
  const nextState = { ...state, state_rev: lastState.state_rev + 1, root };
  keyring.states.push({
    state_rev: nextState.state_rev,
    state: await sealState(keys, vault.userId, nextState, computeStateDigest(lastState.state)),
  });
}
