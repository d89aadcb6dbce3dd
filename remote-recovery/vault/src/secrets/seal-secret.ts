/**
 * What is published of a secret: its content, sealed once, and the row that goes with it, sealed
 * anew at every try.
 */
import { maxSmallSealedBytes, toBase64url, type KeyringChange } from "@relicario/shared/api";
import type { ContentKind, NewSecretInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { sealContent } from "../seal/content.ts";
import { sealLabel, type Label, type LabelContext } from "../seal/label.ts";
import { computeLabelDigest, type RootRow } from "../seal/state.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** Content as it is chosen, with what the label says of it. */
export type ChosenContent = Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content">;

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
export interface PublishableContent {
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
export async function sealInlineContent(
  vault: VaultSession,
  chosen: ChosenContent,
  options: OperationOptions,
): Promise<PublishableContent> {
  options.onProgress?.({ phase: "sealing", done: 0, total: 2 });
  const { content, ...facts } = await sealSmallContent(chosen);
  return { ...facts, publish: (row) => vault.service.store({ ...row, content }) };
}

/**
 * Content sealed once, as it stands in a call: base64url. @throws PortalError as {@link
 * sealInlineContent}.
 */
export async function sealSmallContent(
  chosen: ChosenContent,
): Promise<Omit<PublishableContent, "publish"> & { readonly content: string }> {
  const plain = await readContentBytes(chosen.content);
  const { sealed, sha256, identity, size } = await sealContent(chosen.contentKind, plain);
  wipe(plain);
  requireInlineSize(sealed);
  return { sha256, identity, size, content: toBase64url(sealed) };
}

/**
 * The content's bytes.
 *
 * @throws PortalError `payload_too_large` for what cannot go in one call; `validation_error` when
 *   the file has gone.
 */
async function readContentBytes(content: Blob): Promise<Bytes> {
  if (content.size > maxSmallSealedBytes)
    throw new PortalError("payload_too_large", { details: { limit: maxSmallSealedBytes } });
  try {
    return new Uint8Array(await content.arrayBuffer());
  } catch (cause) {
    throw new PortalError("validation_error", { cause, details: { fields: ["content"] } });
  }
}

/**
 * @throws PortalError `payload_too_large` when the sealed content is over the limit of one call.
 */
function requireInlineSize(sealed: Bytes): void {
  if (sealed.length > maxSmallSealedBytes)
    throw new PortalError("payload_too_large", { details: { limit: maxSmallSealedBytes } });
}

/** What label and ticket say of a version. */
export interface SecretDescription {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** When this version was made. */
  readonly createdAt: string;
  /** Of an imported item: its mark, see {@link Label}. */
  readonly source?: string | undefined;
}

/** What a label says beside that: what went before this version, and what became of it outside. */
export type PreservedFields = Pick<Label, "former_sha256" | "rehearsed" | "kits" | "source">;

export interface SealedRow {
  readonly label: string;
  /** base64url. */
  readonly ticket: string;
  readonly root: RootRow;
}

/**
 * Ticket and label of one version: the ticket signed and sealed to the openers, the label naming
 * them and its digest.
 */
export async function sealRow(
  vault: VaultSession,
  keys: MetadataKeys,
  context: LabelContext,
  description: SecretDescription,
  content: Pick<PublishableContent, "sha256" | "identity" | "size">,
  openers: readonly Pick<BookOpener, "id" | "recipient">[],
  preserved: PreservedFields = { former_sha256: null, rehearsed: [], kits: [], source: description.source ?? null },
): Promise<SealedRow> {
  const { title, tags, name, contentKind, mime, createdAt } = description;
  const sharedFields = { title, tags: [...tags], name, content_kind: contentKind, size: content.size };
  const ticket = await sealTicket(
    keys,
    openers.map((opener) => opener.recipient),
    {
      v: 1,
      kind: "owner",
      secret_id: context.secretId,
      version: context.version,
      rev: context.rev,
      owner: vault.userId,
      ...sharedFields,
      mime,
      content_sha256: content.sha256,
      content_identity: content.identity,
      created_at: createdAt,
    },
  );
  const label = await sealLabel(keys, vault.userId, context, {
    v: 1,
    ...sharedFields,
    openers: openers.map((opener) => opener.id),
    ticket_sha256: toBase64url(sha256(ticket)),
    ...preserved,
  });
  return { label, ticket: toBase64url(ticket), root: toRootRow(context, label) };
}

/** The members of a row that the root is computed over. */
export function toRootRow({ secretId, version, rev }: LabelContext, label: string): RootRow {
  return { secretId, version, rev, labelHex: computeLabelDigest(label) };
}
