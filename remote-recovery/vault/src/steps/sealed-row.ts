import { toB64u } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";

import type { AccountKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { sealLabel, type LabelPlace } from "../seal/label.ts";
import { labelDigest, type RootRow } from "../seal/state.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { VaultContext } from "../vault-context.ts";
import type { ReadyContent } from "./ready-content.ts";

/** What label and ticket say of a version. */
export interface Described {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** When this version was made. */
  readonly createdAt: string;
  readonly rehearsedAt: string | null;
}

export interface SealedRow {
  readonly label: string;
  /** base64url. */
  readonly ticket: string;
  readonly root: RootRow;
}

/** Ticket and label of one version: the ticket signed and sealed to the openers, the label naming them and its digest. */
export async function sealRow(
  vault: VaultContext,
  keys: AccountKeys,
  place: LabelPlace,
  described: Described,
  content: Pick<ReadyContent, "sha256" | "identity" | "size">,
  openers: readonly Pick<BookOpener, "id" | "recipient">[],
): Promise<SealedRow> {
  const { title, tags, name, contentKind, mime, createdAt, rehearsedAt } = described;
  const shown = { title, tags: [...tags], name, content_kind: contentKind, size: content.size };
  const ticket = await sealTicket(
    keys,
    openers.map((opener) => opener.recipient),
    {
      v: 1,
      kind: "owner",
      secret_id: place.secretId,
      version: place.version,
      rev: place.rev,
      owner: vault.userId,
      ...shown,
      mime,
      content_sha256: content.sha256,
      content_identity: content.identity,
      created_at: createdAt,
    },
  );
  const label = await sealLabel(keys, vault.userId, place, {
    v: 1,
    ...shown,
    openers: openers.map((opener) => opener.id),
    ticket_sha256: toB64u(sha256(ticket)),
    rehearsed_at: rehearsedAt,
  });
  return { label, ticket: toB64u(ticket), root: rootRow(place, label) };
}

/** A row as the root sees it. */
export function rootRow({ secretId, version, rev }: LabelPlace, label: string): RootRow {
  return { secretId, version, rev, labelHex: labelDigest(label) };
}
