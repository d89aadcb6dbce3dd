import { createEngineWorkerApi, type EngineWorkerApi } from "@relicario/engine/worker-api";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import type { ContentKind } from "../seal/label.ts";
import { getDetachedContentName, type Kit } from "./kit-document.ts";
import { openDetachedContent, openEmbeddedContent, openKit, type OpenedKitSecret } from "./open-kit.ts";
import type { z } from "zod";

/**
 * The facts of an opened secret that the page shows. The content stays in the worker until the page
 * requests it.
 */
export interface KitSecretSummary {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly name: string;
  readonly contentKind: z.infer<typeof ContentKind>;
  /** Bytes of the plain content. */
  readonly size: number;
  /** Time when this version was created. RFC 3339. */
  readonly createdAt: string;
  readonly signatureStatus: OpenedKitSecret["signatureStatus"];
  /** Name of the file next to the kit; null if the kit contains the content. */
  readonly detachedName: string | null;
}

/** Plain bytes per part of a Blob, so that a large content is never completely in memory. */
const blobPartBytes = 8 * 1024 ** 2;

export type KitWorkerApi = ReturnType<typeof createKitWorkerApi>;

export function createKitWorkerApi(engine: EngineWorkerApi = createEngineWorkerApi()) {
  let openedSecrets: readonly (OpenedKitSecret | null)[] = [];

  function requireSecret(index: number): OpenedKitSecret {
    const secret = openedSecrets[index];
    if (secret == null) throw new PortalError("not_found");
    return secret;
  }

  return {
    /** Resolves when the worker runs. */
    ping: () => undefined,
    init: engine.init,

    /**
     * Opens the tickets, in the order of the kit; null for a damaged secret. Throws the errors of
     * `openKit`.
     */
    open: async (
      kit: Kit,
      picture: Blob,
      passphrase: string | null,
      options?: CallOptions,
    ): Promise<(KitSecretSummary | null)[]> => {
      // The engine's worker overwrites the bytes that it receives, so it gets a copy.
      const copyingEngine = {
        ...engine,
        recover: (...[bytes, ...rest]: Parameters<EngineWorkerApi["recover"]>) =>
          engine.recover(copyOf(bytes), ...rest),
      };
      const { secrets } = await openKit(copyingEngine, kit, { picture, passphrase }, options);
      openedSecrets = secrets;
      return secrets.map((secret) => (secret === null ? null : toSummary(secret)));
    },

    /** Opens the content of a secret that the kit contains. Throws `decryption_failed`. */
    openEmbedded: async (index: number): Promise<Bytes> => {
      const bytes = await openEmbeddedContent(requireSecret(index));
      return Comlink.transfer(bytes, [bytes.buffer]);
    },

    /**
     * Opens the content of a secret that is in a file next to the kit. Throws `digest_mismatch` for
     * another file, `decryption_failed`, `cancelled`.
     */
    openDetached: async (index: number, file: Blob, options?: CallOptions): Promise<Blob> => {
      const blobParts: Blob[] = [];
      let chunks: Bytes[] = [];
      let bufferedSize = 0;
      for await (const bytes of openDetachedContent(requireSecret(index), file, options)) {
        chunks.push(copyOf(bytes));
        bufferedSize += bytes.length;
        if (bufferedSize < blobPartBytes) continue;
        blobParts.push(new Blob(chunks));
        [chunks, bufferedSize] = [[], 0];
      }
      return new Blob([...blobParts, ...chunks]);
    },
  };
}

function toSummary({ ticket, sealedContent, signatureStatus }: OpenedKitSecret): KitSecretSummary {
  return {
    secretId: ticket.secret_id,
    title: ticket.title,
    tags: ticket.tags,
    name: ticket.name,
    contentKind: ticket.content_kind,
    size: ticket.size,
    createdAt: ticket.created_at,
    signatureStatus,
    detachedName: sealedContent === null ? getDetachedContentName(ticket.secret_id) : null,
  };
}
