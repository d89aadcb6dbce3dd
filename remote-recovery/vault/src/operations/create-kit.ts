import {
  maxInlineKitContentBytes,
  maxKitTotalContentBytes,
  maxKitNoteLength,
  maxKitSecrets,
  maxKitsPerSecret,
  toBase64url,
} from "@relicario/shared/api";
import type { KitOptions, CreatedKit } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { bytesToHex } from "@noble/hashes/utils.js";

import { detachedContentName, toBase64, type Kit } from "../kit/kit-document.ts";
import { fillTemplate, type KitDecoder } from "../kit/kit-file.ts";
import { concatBytes, copyOf, sha256Async, type Bytes } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { sealSignedTicket } from "../seal/ticket.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { commitOnSuccess, type Sink } from "../transfer/sinks.ts";
import {
  readLabelledRows,
  filterOpenedBy,
  readPortableSecret,
  readSealedContent,
  type ContentSource,
  type PortableSecret,
} from "../secrets/portable-secret.ts";
import { requireRow } from "../keyring/read-account.ts";
import { readPictureBytes } from "../openers/read-picture.ts";
import { requireImageHelper } from "../openers/recognise-image.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { collectSigningKeys } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import { changeLabel } from "./update.ts";

/** What making a kit needs beside the vault. */
export interface KitDeps extends ContentSource {
  /** A file of the release: the template of a kit, or a decoder that it does not have. */
  readonly file: (name: "kit" | KitDecoder["name"]) => Promise<Bytes>;
  /** Where a large content goes. */
  readonly openSink: () => Promise<Sink<Blob>>;
}

interface PackedSecret {
  readonly portable: PortableSecret;
  readonly entry: Kit["secrets"][number];
  readonly attachment: Blob | null;
}

/**
 * [Note: Kit sequence]
 * 1. A picture is shown; what it does not open, and what the service has dropped, is left and
 *    named.
 * 2. Each ticket is checked as for a recovery and sealed again, with the names of today, to the
 *    opener of this picture alone.
 * 3. Contents go along as they are sealed, each compared with its ticket's digest: up to 1 MiB
 *    inside, larger ones beside.
 * 4. The template of the release is filled in: helper of the picture, tickets, contents, the
 *    account's public signing keys.
 * 5. The file's SHA-256 is written into the label of each secret, with the ticket and the
 *    generation it was made of. Then the kit is given to whoever asked.
 *
 * @throws PortalError those of showing a picture, `opener_needed` when it opens none of them,
 *   `list_mismatch`, `decryption_failed` (`secret_id` in its details), `validation_error`,
 *   `storage_full`, `cancelled`, and those of publishing.
 */
export function createKit(
  vault: VaultSession,
  deps: KitDeps,
  secretIds: readonly string[],
  presentedPicture: PresentedPicture,
  options: KitOptions & OperationOptions = {},
): Promise<CreatedKit> {
  const note = options.note ?? "";
  validateKitRequest(secretIds, note);
  return withPresentedOpener(vault, presentedPicture, options, async (account, presentOpener) => {
    const requested = await readLabelledRows(vault, account, secretIds);
    const opener = await presentOpener();
    const secrets = filterOpenedBy(opener, requested);
    const [firstSecret] = secrets;
    if (firstSecret === undefined) throw new PortalError("opener_needed");
    const { openedKeyring } = requireRow(account, firstSecret.row.secretId);
    const helper = await requireImageHelper(vault, openedKeyring.book, opener.openerId, options);
    const [template, decoder] = await Promise.all([deps.file("kit"), loadDecoder(deps, presentedPicture)]);

    const packed: PackedSecret[] = [];
    let remainingBytes = maxKitTotalContentBytes;
    for (const [index, secret] of secrets.entries()) {
      throwIfCancelled(options.signal);
      options.onProgress?.({ phase: "fetching", done: index, total: secrets.length });
      const portable = await readPortableSecret(vault, openedKeyring, secret, opener, options);
      const packedSecret = await packSecret(portable, deps, opener, remainingBytes, options);
      if (packedSecret.attachment === null) remainingBytes -= portable.ticket.size;
      packed.push(packedSecret);
    }
    const createdAt = formatTimestamp(vault.now());
    const kit: Kit = {
      v: 1,
      kind: "kit",
      made_at: createdAt,
      note,
      user_id: vault.userId,
      signing_keys: collectSigningKeys(openedKeyring.keys, openedKeyring.book).map(toBase64url),
      image: { id: opener.openerId, helper: toBase64url(helper.bytes) },
      secrets: packed.map(({ entry }) => entry),
    };
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const file = await fillTemplate(new TextDecoder().decode(template), kit, decoder);
    const digest = await sha256Async(file);
    for (const { portable } of packed)
      await recordKit(
        vault,
        portable,
        {
          sha256: toBase64url(digest),
          made_at: createdAt,
          key_epoch: openedKeyring.keys.keyEpoch,
          ticket_sha256: portable.label.ticket_sha256,
        },
        options,
      );
    const includedIds = new Set(packed.map(({ entry }) => entry.secret_id));
    return {
      name: `kit-${createdAt.slice(0, 10)}.html`,
      file: new Blob([file], { type: "text/html" }),
      sha256: bytesToHex(digest),
      createdAt,
      hasPassphrase: helper.encrypted,
      secretIds: [...includedIds],
      attachments: packed.flatMap(({ entry, attachment }) =>
        attachment === null
          ? []
          : [{ secretId: entry.secret_id, name: detachedContentName(entry.secret_id), file: attachment }],
      ),
      skipped: secretIds.filter((secretId) => !includedIds.has(secretId)),
      notVerified: packed
        .filter(({ portable }) => portable.author === "not_verified")
        .map(({ entry }) => entry.secret_id),
    };
  });
}

/** @throws PortalError `validation_error`. */
function validateKitRequest(secretIds: readonly string[], note: string): void {
  const fields = [
    ...(secretIds.length > maxKitSecrets ? ["secrets"] : []),
    ...(note.length > maxKitNoteLength || !note.isWellFormed() ? ["note"] : []),
  ];
  if (fields.length > 0) throw new PortalError("validation_error", { details: { fields } });
}

/**
 * The copy that is kept is likely of the kind that is shown; a kit reads JPEG, PNG and WebP by
 * itself.
 */
async function loadDecoder(deps: KitDeps, { picture }: PresentedPicture): Promise<KitDecoder | null> {
  const name = detectDecoder(await readPictureBytes(picture.slice(0, 256)));
  return name === null ? null : { name, bytes: await deps.file(name) };
}

/** By the brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function detectDecoder(head: Bytes): KitDecoder["name"] | null {
  const text = new TextDecoder("latin1").decode(head);
  if (text.slice(4, 8) !== "ftyp") return null;
  const brands = text.slice(8, new DataView(head.buffer).getUint32(0));
  if (/avi[fs]/.test(brands)) return "avif";
  return /hei[cxms]|hev[cx]/.test(brands) ? "heic" : null;
}

async function packSecret(
  portable: PortableSecret,
  deps: KitDeps,
  opener: OpenerKeys,
  remainingBytes: number,
  options: OperationOptions,
): Promise<PackedSecret> {
  const { ticket } = portable;
  const entry = {
    secret_id: ticket.secret_id,
    version: ticket.version,
    ticket: toBase64(await sealSignedTicket([opener.recipient], ticket)),
  };
  if (ticket.size <= Math.min(maxInlineKitContentBytes, remainingBytes)) {
    const pieces: Bytes[] = [];
    for await (const bytes of readSealedContent(portable, deps, options.signal)) pieces.push(bytes);
    return { portable, entry: { ...entry, content: toBase64(concatBytes(...pieces)) }, attachment: null };
  }
  const sink = await deps.openSink();
  const attachment = await commitOnSuccess(sink, async () => {
    for await (const bytes of readSealedContent(portable, deps, options.signal)) await sink.write(copyOf(bytes));
  });
  return { portable, entry: { ...entry, content: null }, attachment };
}

type LabelKitEntry = PortableSecret["label"]["kits"][number];

/**
 * Names the kit in the label of the secret, whatever became of that meanwhile: then the label shows
 * it as out of date.
 */
async function recordKit(
  vault: VaultSession,
  { row }: PortableSecret,
  kitEntry: LabelKitEntry,
  options: OperationOptions,
): Promise<void> {
  await changeLabel(
    vault,
    row.secretId,
    (label) => ({
      ...label,
      kits: [...label.kits.filter(({ sha256 }) => sha256 !== kitEntry.sha256), kitEntry].slice(-maxKitsPerSecret),
    }),
    options,
  );
}
