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

import { getDetachedContentName, toBase64, type Kit } from "../kit/kit-document.ts";
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
import { readAuthorKeys } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import { changeLabel } from "./update.ts";

export interface KitDeps extends ContentSource {
  /**
   * Loads a file of the release: the template of a kit, or a decoder that the template does not
   * include.
   */
  readonly loadReleaseFile: (name: "kit" | KitDecoder["name"]) => Promise<Bytes>;
  readonly openSink: () => Promise<Sink>;
}

interface PackedSecret {
  readonly portableSecret: PortableSecret;
  readonly entry: Kit["secrets"][number];
  readonly attachment: Blob | null;
}

/**
 * [Note: Kit sequence]
 * 1. A picture is presented. Secrets that it does not open, or whose content was dropped, are
 *    skipped and named.
 * 2. Each ticket is verified, and sealed again with the current names, only to this picture's
 *    opener.
 * 3. Contents stay sealed, and must match the digests of their tickets. Those up to 1 MiB go into
 *    the kit, larger ones into separate files.
 * 4. The template is filled in: helper of the picture, tickets, contents, public author keys of
 *    the account.
 * 5. The file's SHA-256 is written into the label of each secret, with the secret's ticket and key
 *    epoch, before the kit is returned.
 *
 * @throws PortalError those of presenting a picture, `opener_needed` if the picture opens none of
 *   the secrets, `list_mismatch`, `decryption_failed` (`secret_id` in its details),
 *   `validation_error`, `storage_full`, `cancelled`, and errors of publishing
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
    const requestedRows = await readLabelledRows(vault, account, secretIds);
    const opener = await presentOpener();
    const openedRows = filterOpenedBy(opener, requestedRows);
    const [firstRow] = openedRows;
    if (firstRow === undefined) throw new PortalError("opener_needed");
    const { openedKeyring } = requireRow(account, firstRow.row.secretId);
    const helper = await requireImageHelper(vault, openedKeyring.book, opener.openerId, options);
    const [template, decoder] = await Promise.all([deps.loadReleaseFile("kit"), loadDecoder(deps, presentedPicture)]);

    const packedSecrets: PackedSecret[] = [];
    let remainingBytes = maxKitTotalContentBytes;
    for (const [index, openedRow] of openedRows.entries()) {
      throwIfCancelled(options.signal);
      options.onProgress?.({ phase: "fetching", done: index, total: openedRows.length });
      const portableSecret = await readPortableSecret(vault, openedKeyring, openedRow, opener, options);
      const packedSecret = await packSecret(portableSecret, deps, opener, remainingBytes, options);
      if (packedSecret.attachment === null) remainingBytes -= portableSecret.ticket.size;
      packedSecrets.push(packedSecret);
    }
    const createdAt = formatTimestamp(vault.now());
    const kit: Kit = {
      v: 1,
      kind: "kit",
      made_at: createdAt,
      note,
      user_id: vault.userId,
      author_keys: (await readAuthorKeys(vault, openedKeyring)).map(toBase64url),
      image: { id: opener.openerId, helper: toBase64url(helper.bytes) },
      secrets: packedSecrets.map(({ entry }) => entry),
    };
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const file = await fillTemplate(new TextDecoder().decode(template), kit, decoder);
    const digest = await sha256Async(file);
    for (const { portableSecret } of packedSecrets)
      await recordKit(
        vault,
        portableSecret,
        {
          sha256: toBase64url(digest),
          made_at: createdAt,
          key_epoch: openedKeyring.keys.keyEpoch,
          ticket_sha256: portableSecret.label.ticket_sha256,
        },
        options,
      );
    const includedIds = new Set(packedSecrets.map(({ entry }) => entry.secret_id));
    return {
      name: `kit-${createdAt.slice(0, 10)}.html`,
      file: new Blob([file], { type: "text/html" }),
      sha256: bytesToHex(digest),
      createdAt,
      hasPassphrase: helper.requiresPassphrase,
      secretIds: [...includedIds],
      attachments: packedSecrets.flatMap(({ entry, attachment }) =>
        attachment === null
          ? []
          : [{ secretId: entry.secret_id, name: getDetachedContentName(entry.secret_id), file: attachment }],
      ),
      skippedIds: secretIds.filter((secretId) => !includedIds.has(secretId)),
      unverifiedIds: packedSecrets
        .filter(({ portableSecret }) => portableSecret.signatureStatus === "not_verified")
        .map(({ entry }) => entry.secret_id),
    };
  });
}

/** @throws PortalError `validation_error` */
function validateKitRequest(secretIds: readonly string[], note: string): void {
  const fields = [
    ...(secretIds.length > maxKitSecrets ? ["secrets"] : []),
    ...(note.length > maxKitNoteLength || !note.isWellFormed() ? ["note"] : []),
  ];
  if (fields.length > 0) throw new PortalError("validation_error", { details: { fields } });
}

/**
 * Loads the decoder for the presented picture's format, since the person's own copy is likely to
 * have the same. A kit always decodes JPEG, PNG and WebP.
 */
async function loadDecoder(deps: KitDeps, { picture }: PresentedPicture): Promise<KitDecoder | null> {
  const name = detectDecoder(await readPictureBytes(picture.slice(0, 256)));
  return name === null ? null : { name, bytes: await deps.loadReleaseFile(name) };
}

/** Detects the format by the brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function detectDecoder(head: Bytes): KitDecoder["name"] | null {
  const text = new TextDecoder("latin1").decode(head);
  if (text.slice(4, 8) !== "ftyp") return null;
  const brands = text.slice(8, new DataView(head.buffer).getUint32(0));
  if (/avi[fs]/.test(brands)) return "avif";
  return /hei[cxms]|hev[cx]/.test(brands) ? "heic" : null;
}

async function packSecret(
  portableSecret: PortableSecret,
  deps: KitDeps,
  opener: OpenerKeys,
  remainingBytes: number,
  options: OperationOptions,
): Promise<PackedSecret> {
  const { ticket } = portableSecret;
  const entry = {
    secret_id: ticket.secret_id,
    version: ticket.version,
    ticket: toBase64(await sealSignedTicket([opener.recipient], ticket)),
  };
  if (ticket.size <= Math.min(maxInlineKitContentBytes, remainingBytes)) {
    const pieces: Bytes[] = [];
    for await (const bytes of readSealedContent(portableSecret, deps, options.signal)) pieces.push(bytes);
    return { portableSecret, entry: { ...entry, content: toBase64(concatBytes(...pieces)) }, attachment: null };
  }
  const sink = await deps.openSink();
  const attachment = await commitOnSuccess(sink, async () => {
    for await (const bytes of readSealedContent(portableSecret, deps, options.signal)) await sink.write(copyOf(bytes));
  });
  return { portableSecret, entry: { ...entry, content: null }, attachment };
}

type LabelKitEntry = PortableSecret["label"]["kits"][number];

/**
 * Records the kit in the current label. If the secret has changed meanwhile, the kit counts as
 * outdated.
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
