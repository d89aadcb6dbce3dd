import type { StartUploadResponse, UploadState } from "@relicario/shared/api";

import { countParts, getPartSize, type PartRow, type UploadRow } from "./queries.ts";

export function presentStartedUpload(upload: UploadRow): StartUploadResponse {
  return {
    upload_id: upload.id,
    secret_db_id: upload.secretId,
    part_size: upload.partSize,
    parts: countParts(upload),
    expires_at: upload.expiresAt.toISOString(),
  };
}

export function presentUploadState(upload: UploadRow, parts: readonly PartRow[]): UploadState {
  const { baseVersion, size, publishedVersion: version, publishedStateRev: stateRev } = upload;
  return {
    ...presentStartedUpload(upload),
    base_version: baseVersion,
    size,
    received: parts.map(({ part, sha256 }) => ({
      part,
      size: getPartSize(upload, part),
      sha256: sha256.toString("base64url"),
    })),
    published: version === null || stateRev === null ? null : { version, state_rev: stateRev },
  };
}
