import { toB64u, type KeyringChange } from "@relicario/shared/api";
import type { ProtectRequest } from "@relicario/shared/contract";

import { wipe } from "../seal/bytes.ts";
import { sealContent } from "../seal/content.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { contentBytes, requireSmall } from "./check-request.ts";

/** Content as it is chosen, with what the label says of it. */
export type ChosenContent = Pick<ProtectRequest, "contentKind" | "name" | "mime" | "content">;

/** A row of the list as it is published, with the change that goes with it. */
export interface SignedRow {
  readonly secret_db_id: string;
  /** Absent for a new secret. */
  readonly base_version?: number;
  readonly label: string;
  readonly ticket: string;
  readonly keyring: KeyringChange;
}

/** Content sealed once to a fresh content identity; it stays the same at every try. */
export interface ReadyContent {
  /** base64url, over the whole ciphertext. */
  readonly sha256: string;
  /** Secret. */
  readonly identity: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** The call that publishes a row with it. The same row is the same bytes. */
  readonly publish: (row: SignedRow) => Promise<unknown>;
}

/**
 * Seals content that goes in one call.
 *
 * @throws PortalError `payload_too_large`, `validation_error`.
 */
export async function sealInCall(vault: VaultContext, chosen: ChosenContent, options: ActOptions): Promise<ReadyContent> {
  options.onProgress?.({ phase: "sealing", done: 0, total: 2 });
  const plain = await contentBytes(chosen.content);
  const { sealed, sha256, identity, size } = await sealContent(chosen.contentKind, plain);
  wipe(plain);
  requireSmall(sealed);
  const content = toB64u(sealed);
  return { sha256, identity, size, publish: (row) => vault.service.store({ ...row, content }) };
}
