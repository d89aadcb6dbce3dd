import type { ReleaseRecord } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { allowFiles, getReleaseUrl } from "../deployment/integrity.ts";

interface ScriptPage {
  readonly document: Document;
  readonly location: Pick<Location, "origin">;
}

/**
 * Runs a script of a verified release. Allows the release's other files as scripts and workers.
 *
 * @throws PortalError `remote_incompatible` for a release without the file, `remote_unreachable`
 */
export async function loadReleaseScript(
  { document, location }: ScriptPage,
  record: ReleaseRecord,
  file: string,
): Promise<void> {
  const integrity = record.files[file];
  if (integrity === undefined) throw new PortalError("remote_incompatible");
  const baseUrl = getReleaseUrl(location.origin, record);
  allowFiles(baseUrl, record.files);
  const script = document.createElement("script");
  script.src = baseUrl + file;
  script.integrity = integrity;
  script.crossOrigin = "anonymous"; // without CORS the browser could not check the hash
  await new Promise<void>((resolve, reject) => {
    script.addEventListener("load", () => {
      resolve();
    });
    script.addEventListener("error", () => {
      reject(new PortalError("remote_unreachable"));
    });
    document.head.append(script);
  });
}
