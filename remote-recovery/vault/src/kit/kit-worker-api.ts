import { createEngineWorkerApi, type EngineWorkerApi } from "@relicario/engine/worker-api";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import type { ContentKind } from "../seal/label.ts";
import { detachedContentName, type Kit } from "./kit-document.ts";
import { openDetachedContent, openEmbeddedContent, openKit, type KitSecret } from "./open-kit.ts";
import type { z } from "zod";

/**
 * What the page shows of an opened secret; its content stays in the worker until it is asked for.
 */
export interface KitSecretSummary {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly name: string;
  readonly contentKind: z.infer<typeof ContentKind>;
  /** Bytes of the plain content. */
  readonly size: number;
  /** When this version was made. RFC 3339. */
  readonly createdAt: string;
  readonly author: KitSecret["author"];
  /** Name of the file beside the kit; null when the content is inside. */
  readonly detachedName: string | null;
}

/** Plain bytes that become one part of a Blob, so that a large content is not in memory at once. */
const blobPartBytes = 8 * 1024 ** 2;

/** What the worker of a kit offers. */
export type KitWorkerApi = ReturnType<typeof createKitWorkerApi>;

export function createKitWorkerApi(engine: EngineWorkerApi = createEngineWorkerApi()) {
  let openedSecrets: readonly (KitSecret | null)[] = [];

  function requireSecret(index: number): KitSecret {
    const secret = openedSecrets[index];
    if (secret == null) throw new PortalError("not_found");
    return secret;
  }

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,
    /** As that of the engine's worker. */
    init: engine.init,

    /** In the order of the kit; null for a secret that is damaged. Errors: those of `openKit`. */
    open: async (
      kit: Kit,
      picture: Blob,
      passphrase: string | null,
      options?: CallOptions,
    ): Promise<(KitSecretSummary | null)[]> => {
      // What the engine's worker is given it overwrites.
      const copyingEngine = {
        ...engine,
        recover: (...[bytes, ...rest]: Parameters<EngineWorkerApi["recover"]>) =>
          engine.recover(copyOf(bytes), ...rest),
      };
      const { secrets } = await openKit(copyingEngine, kit, { picture, passphrase }, options);
      openedSecrets = secrets;
      return secrets.map((secret) => (secret === null ? null : toSummary(secret)));
    },

    /** The content of a secret that is inside the kit. `decryption_failed`. */
    content: async (index: number): Promise<Bytes> => {
      const bytes = await openEmbeddedContent(requireSecret(index));
      return Comlink.transfer(bytes, [bytes.buffer]);
    },

    /**
     * The content of a secret from the file beside the kit. `digest_mismatch` for another file,
     * `decryption_failed`, `cancelled`.
     */
    detachedContent: async (index: number, file: Blob, options?: CallOptions): Promise<Blob> => {
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

function toSummary({ ticket, sealed, author }: KitSecret): KitSecretSummary {
  return {
    secretId: ticket.secret_id,
    title: ticket.title,
    tags: ticket.tags,
    name: ticket.name,
    contentKind: ticket.content_kind,
    size: ticket.size,
    createdAt: ticket.created_at,
    author,
    detachedName: sealed === null ? detachedContentName(ticket.secret_id) : null,
  };
}
