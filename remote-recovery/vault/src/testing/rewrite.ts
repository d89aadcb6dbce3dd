import { fromB64u, toB64u } from "@relicario/shared/api";

import { sha256 } from "../seal/bytes.ts";
import { openLabel, revOf, sealLabel, type Label } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { labelDigest, openState, rootOf, sealState, stateDigest } from "../seal/state.ts";
import { openTicket, type OwnerTicket } from "../seal/ticket.ts";
import { requireKeys, type VaultContext } from "../vault-context.ts";
import { lastOf, touch } from "./fake-account.ts";
import type { World } from "./world.ts";

/**
 * Publishes a row anew with a label and ticket of the test's choosing, and a state that fits: what
 * only somebody with the account key could do. For the checks that are left when all digests fit.
 */
export async function rewriteRow(
  world: World,
  vault: VaultContext,
  secretId: string,
  opener: ShownOpener,
  change: {
    readonly rev?: number;
    readonly label?: Partial<Label>;
    readonly seal: (ticket: OwnerTicket) => Promise<Uint8Array>;
  },
): Promise<void> {
  const keys = requireKeys(vault);
  const { keyring, rows } = world.service.account;
  const stored = rows.get(secretId);
  const row = lastOf(stored?.versions);
  const last = lastOf(keyring?.states);
  if (keyring === null || stored === undefined || row === undefined || last === undefined)
    throw new TypeError("nothing to rewrite");
  const place = { secretId, version: stored.versions.length, rev: revOf(row.label) };
  const label = await openLabel(keys, vault.userId, place, row.label);
  const ticket = await change.seal(await openTicket(opener, fromB64u(row.ticket)));
  row.ticket = toB64u(ticket);
  const rev = change.rev ?? place.rev;
  row.label = await sealLabel(
    keys,
    vault.userId,
    { ...place, rev },
    { ...label, ...change.label, ticket_sha256: toB64u(sha256(ticket)) },
  );
  touch(world.service.account, stored);
  const { previous: _, ...state } = await openState(keys, vault.userId, last.state_rev, last.state);
  const root = rootOf(
    [...rows].map(([id, { versions }]) => {
      const jwe = lastOf(versions)?.label ?? "";
      return { secretId: id, version: versions.length, rev: revOf(jwe), labelHex: labelDigest(jwe) };
    }),
  );
  const next = { ...state, state_rev: last.state_rev + 1, root };
  keyring.states.push({
    state_rev: next.state_rev,
    state: await sealState(keys, vault.userId, next, stateDigest(last.state)),
  });
}
