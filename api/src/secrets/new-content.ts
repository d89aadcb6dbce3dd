import { hash } from "node:crypto";

import type { NewSecret } from "@relicario/shared/api";

import type { AccountScope } from "../auth/actor.ts";
import { createObjectKey } from "../objects/orphaned-objects.ts";
import type { NewVersion } from "./queries.ts";

/** A content sent in one call: its object, and the row that refers to it. */
interface NewContent {
  readonly objectKey: string;
  readonly bytes: Buffer;
  readonly size: number;
  readonly sha256: Buffer;
  readonly row: NewVersion;
}

export function decodeContent(
  { accountId }: AccountScope,
  { secret_db_id: id, label, ticket, content }: NewSecret,
  version: number,
): NewContent {
  const bytes = Buffer.from(content, "base64url");
  const size = bytes.length;
  const contentSha256 = hash("sha256", bytes, "buffer");
  const objectKey = createObjectKey(accountId, id, version);
  const objects = [{ objectKey, sha256: contentSha256 }];
  return {
    objectKey,
    bytes,
    size,
    sha256: contentSha256,
    row: { id, version, label, ticket: Buffer.from(ticket, "base64url"), objects, partSize: size, contentSha256, size },
  };
}
