import type { Keyring, ImageRecord } from "@relicario/shared/api";

import type { RecordBox } from "../db/record-box.ts";
import type { KeyringRow } from "./queries.ts";

export function presentKeyring(row: KeyringRow, states?: readonly { stateRev: number; state: string }[]): Keyring {
  return {
    key_epoch: row.keyEpoch,
    state_rev: row.stateRev,
    state: row.state,
    book: row.book,
    shares: row.shares,
    requests: row.requests,
    slots: row.slots.map(({ openerId, kind, slot }) => ({
      opener_id: openerId,
      kind,
      slot: slot.toString("base64url"),
    })),
    key_statement: row.keyStatement,
    ...(states === undefined ? {} : { states: states.map(({ stateRev, state }) => ({ state_rev: stateRev, state })) }),
  };
}

export function presentImageRecord(
  box: RecordBox,
  accountId: string,
  { id, sealedHelper, createdAt }: { id: string; sealedHelper: Buffer; createdAt: Date },
): ImageRecord {
  return {
    id,
    helper: box.open(accountId, id, sealedHelper).toString("base64url"),
    created_at: createdAt.toISOString(),
  };
}
