/** Seals a secret's content once, and its row at every attempt to publish. */
import { maxSmallSealedBytes, toBase64url, type KeyringChange, type TicketSignature } from "@relicario/shared/api";
import type { ContentKind, NewSecretInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import type { BookOpener } from "../seal/book.ts";
import { signSealedTicket } from "../seal/account-signatures.ts";
import { sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { sealContent } from "../seal/content.ts";
import { sealLabel, type Label, type LabelContext } from "../seal/label.ts";
import { computeLabelDigest, type RootRow } from "../seal/state.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

export type ChosenContent = Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content">;

/** A row of the list as published, with its keyring change. */
export interface SignedRow {
  readonly secret_db_id: string;
  /** Absent for a new secret. */
  readonly base_version?: number;
  readonly label: string;
  readonly ticket: string;
  readonly ticket_sig: TicketSignature;
  readonly keyring: KeyringChange;
}

/** Content sealed once to a new content identity, which every attempt to publish uses. */
export interface PublishableContent {
  /** Digest of the whole ciphertext, base64url. */
  readonly sha256: string;
  /** Secret. */
  readonly identity: string;
  /** Length of the plaintext in bytes. */
  readonly size: number;
  /** Sends a row with the content. The same row always sends the same bytes. */
  readonly publish: (row: SignedRow) => Promise<unknown>;
}

/**
 * Seals content that fits into one call.
 *
 * @throws PortalError `payload_too_large`, `validation_error`
 */
export async function sealInlineContent(
  vault: VaultSession,
  chosenContent: ChosenContent,
  options: OperationOptions,
): Promise<PublishableContent> {
  options.onProgress?.({ phase: "sealing", done: 0, total: 2 });
  const { content, ...facts } = await sealSmallContent(chosenContent);
  return { ...facts, publish: (row) => vault.service.store({ ...row, content }) };
}

/**
 * Seals content given as base64url, as in a call. @throws PortalError like {@link
 * sealInlineContent}
 */
export async function sealSmallContent(
  chosenContent: ChosenContent,
): Promise<Omit<PublishableContent, "publish"> & { readonly content: string }> {
  const plainBytes = await readContentBytes(chosenContent.content);
  const { sealed, sha256, identity, size } = await sealContent(chosenContent.contentKind, plainBytes);
  wipe(plainBytes);
  requireInlineSize(sealed);
  return { sha256, identity, size, content: toBase64url(sealed) };
}

/**
 * @throws PortalError `payload_too_large` for content over the limit of one call;
 *   `validation_error` if the file can no longer be read
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

/** @throws PortalError `payload_too_large` over the limit of one call */
function requireInlineSize(sealed: Bytes): void {
  if (sealed.length > maxSmallSealedBytes)
    throw new PortalError("payload_too_large", { details: { limit: maxSmallSealedBytes } });
}

export interface SecretDescription {
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  readonly createdAt: string;
  /** Mark of an imported item, see {@link Label}. */
  readonly source?: string | undefined;
}

/** Members of a label that are copied from the previous one. */
export type PreservedFields = Pick<Label, "former_sha256" | "rehearsed" | "kits" | "source">;

export interface SealedRow {
  readonly label: string;
  /** base64url */
  readonly ticket: string;
  readonly ticket_sig: TicketSignature;
  readonly root: RootRow;
}

/**
 * Signs a version's ticket and seals it to the openers. Seals a label with the openers and the
 * ticket's digest.
 *
 * @throws PortalError `show_opener_first` without the account key of `keys`.
 */
export async function sealRow(
  vault: VaultSession,
  keys: MetadataKeys,
  context: LabelContext,
  description: SecretDescription,
  content: Pick<PublishableContent, "sha256" | "identity" | "size">,
  openers: readonly Pick<BookOpener, "id" | "recipient">[],
  preservedFields: PreservedFields = {
    former_sha256: null,
    rehearsed: [],
    kits: [],
    source: description.source ?? null,
  },
): Promise<SealedRow> {
  const accountKey = vault.requireAccountKeyOf(keys);
  const { title, tags, name, contentKind, mime, createdAt } = description;
  const sharedFields = { title, tags: [...tags], name, content_kind: contentKind, size: content.size };
  const openerIds = openers.map(({ id }) => id);
  const ticket = await sealTicket(
    accountKey,
    openers.map((opener) => opener.recipient),
    {
      v: 1,
      kind: "owner",
      secret_id: context.secretId,
      version: context.version,
      rev: context.rev,
      owner: vault.userId,
      ...sharedFields,
      openers: openerIds,
      mime,
      content_sha256: content.sha256,
      content_identity: content.identity,
      created_at: createdAt,
    },
  );
  const ticketDigest = toBase64url(sha256(ticket));
  vault.signedOpeners.set(ticketDigest, openerIds);
  const label = await sealLabel(keys, vault.userId, context, {
    v: 1,
    ...sharedFields,
    openers: openerIds,
    ticket_sha256: ticketDigest,
    ...preservedFields,
  });
  const signature = await signSealedTicket(accountKey, ticket, {
    ...context,
    userId: vault.userId,
    shareId: null,
    contentSha256: content.sha256,
  });
  return { label, ticket: toBase64url(ticket), ticket_sig: signature, root: toRootRow(context, label) };
}

/** Selects the members of a row that are part of the root. */
export function toRootRow({ secretId, version, rev }: LabelContext, label: string): RootRow {
  return { secretId, version, rev, labelHex: computeLabelDigest(label) };
}
