import {
  maxKitContentBytes,
  maxKitContentsBytes,
  maxKitNoteLength,
  maxKitSecrets,
  maxKitsOfSecret,
  toB64u,
} from "@relicario/shared/api";
import type { KitOptions, MadeKit } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { bytesToHex } from "@noble/hashes/utils.js";

import { besideName, toBase64, type Kit } from "../kit/kit-document.ts";
import { fillTemplate, type KitDecoder } from "../kit/kit-file.ts";
import { concat, copyOf, digestOf, type Bytes } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { sealSigned } from "../seal/ticket.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { committed, type Sink } from "../transfer/sinks.ts";
import {
  labelledRows,
  openedBy,
  readLeaving,
  sealedContent,
  type ContentSource,
  type LeavingSecret,
} from "../steps/leaving-secret.ts";
import { requireRow } from "../steps/read-account.ts";
import { pictureBytes } from "../steps/picture.ts";
import { requireHelperOf } from "../steps/recognise-image.ts";
import type { ShownPicture } from "../shown-image.ts";
import { ownSigningKeys, withShownOpener } from "./recover.ts";
import { changeLabel } from "./update.ts";

/** What making a kit needs beside the vault. */
export interface KitParts extends ContentSource {
  /** A file of the release: the template of a kit, or a decoder that it does not have. */
  readonly file: (name: "kit" | KitDecoder["name"]) => Promise<Bytes>;
  /** Where a large content goes. */
  readonly openSink: () => Promise<Sink<Blob>>;
}

interface Packed {
  readonly leaving: LeavingSecret;
  readonly entry: Kit["secrets"][number];
  readonly beside: Blob | null;
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
export function makeKit(
  vault: VaultContext,
  parts: KitParts,
  secretIds: readonly string[],
  shown: ShownPicture,
  options: KitOptions & ActOptions = {},
): Promise<MadeKit> {
  const note = options.note ?? "";
  refuseWrong(secretIds, note);
  return withShownOpener(vault, shown, options, async (account, show) => {
    const wanted = await labelledRows(vault, account, secretIds);
    const opener = await show();
    const secrets = openedBy(opener, wanted);
    const [first] = secrets;
    if (first === undefined) throw new PortalError("opener_needed");
    const { opened } = requireRow(account, first.row.secretId);
    const helper = await requireHelperOf(vault, opened.book, opener.openerId, options);
    const [template, decoder] = await Promise.all([parts.file("kit"), decoderFor(parts, shown)]);

    const packed: Packed[] = [];
    let room = maxKitContentsBytes;
    for (const [index, secret] of secrets.entries()) {
      refuseCancelled(options.signal);
      options.onProgress?.({ phase: "fetching", done: index, total: secrets.length });
      const leaving = await readLeaving(vault, opened, secret, opener, options);
      const one = await pack(leaving, parts, opener, room, options);
      if (one.beside === null) room -= leaving.ticket.size;
      packed.push(one);
    }
    const madeAt = timestamp(vault.now());
    const kit: Kit = {
      v: 1,
      kind: "kit",
      made_at: madeAt,
      note,
      user_id: vault.userId,
      signing_keys: ownSigningKeys(opened.keys, opened.book).map(toB64u),
      image: { id: opener.openerId, helper: toB64u(helper.bytes) },
      secrets: packed.map(({ entry }) => entry),
    };
    options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
    const file = await fillTemplate(new TextDecoder().decode(template), kit, decoder);
    const digest = await digestOf(file);
    for (const { leaving } of packed)
      await record(
        vault,
        leaving,
        {
          sha256: toB64u(digest),
          made_at: madeAt,
          key_epoch: opened.keys.keyEpoch,
          ticket_sha256: leaving.label.ticket_sha256,
        },
        options,
      );
    const kept = new Set(packed.map(({ entry }) => entry.secret_id));
    return {
      name: `kit-${madeAt.slice(0, 10)}.html`,
      file: new Blob([file], { type: "text/html" }),
      sha256: bytesToHex(digest),
      madeAt,
      passphrase: helper.encrypted,
      secretIds: [...kept],
      beside: packed.flatMap(({ entry, beside }) =>
        beside === null ? [] : [{ secretId: entry.secret_id, name: besideName(entry.secret_id), file: beside }],
      ),
      left: secretIds.filter((secretId) => !kept.has(secretId)),
      notVerified: packed
        .filter(({ leaving }) => leaving.author === "not_verified")
        .map(({ entry }) => entry.secret_id),
    };
  });
}

/** @throws PortalError `validation_error`. */
function refuseWrong(secretIds: readonly string[], note: string): void {
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
async function decoderFor(parts: KitParts, { picture }: ShownPicture): Promise<KitDecoder | null> {
  const name = ownDecoder(await pictureBytes(picture.slice(0, 256)));
  return name === null ? null : { name, bytes: await parts.file(name) };
}

/** By the brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function ownDecoder(start: Bytes): KitDecoder["name"] | null {
  const text = new TextDecoder("latin1").decode(start);
  if (text.slice(4, 8) !== "ftyp") return null;
  const brands = text.slice(8, new DataView(start.buffer).getUint32(0));
  if (/avi[fs]/.test(brands)) return "avif";
  return /hei[cxms]|hev[cx]/.test(brands) ? "heic" : null;
}

async function pack(
  leaving: LeavingSecret,
  parts: KitParts,
  opener: ShownOpener,
  room: number,
  options: ActOptions,
): Promise<Packed> {
  const { ticket } = leaving;
  const entry = {
    secret_id: ticket.secret_id,
    version: ticket.version,
    ticket: toBase64(await sealSigned([opener.recipient], ticket)),
  };
  if (ticket.size <= Math.min(maxKitContentBytes, room)) {
    const pieces: Bytes[] = [];
    for await (const bytes of sealedContent(leaving, parts, options.signal)) pieces.push(bytes);
    return { leaving, entry: { ...entry, content: toBase64(concat(...pieces)) }, beside: null };
  }
  const sink = await parts.openSink();
  const beside = await committed(sink, async () => {
    for await (const bytes of sealedContent(leaving, parts, options.signal)) await sink.write(copyOf(bytes));
  });
  return { leaving, entry: { ...entry, content: null }, beside };
}

type KitLine = LeavingSecret["label"]["kits"][number];

/**
 * Names the kit in the label of the secret, whatever became of that meanwhile: then the label shows
 * it as out of date.
 */
async function record(vault: VaultContext, { row }: LeavingSecret, line: KitLine, options: ActOptions): Promise<void> {
  await changeLabel(
    vault,
    row.secretId,
    (before) => ({
      ...before,
      kits: [...before.kits.filter(({ sha256 }) => sha256 !== line.sha256), line].slice(-maxKitsOfSecret),
    }),
    options,
  );
}
