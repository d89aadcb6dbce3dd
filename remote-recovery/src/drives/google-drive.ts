/**
 * Google Drive REST API v3 with the scope `drive.file`: only files that this portal created or that
 * were picked in Google's picker.
 * (https://developers.google.com/workspace/drive/api/guides/manage-uploads,
 * https://developers.google.com/workspace/drive/picker/guides/overview-desktop)
 */
import type { Drives } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { callDrive, readFile, readJson } from "./call-drive.ts";
import { getToken, saveToken } from "./drive-memory.ts";
import { getRedirectUrl, type DriveWindow } from "./drive-window.ts";
import { maxPictureBytes, type Drive, type DriveContentKind } from "./drive.ts";

const scope = "https://www.googleapis.com/auth/drive.file";
const pictureTypes = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/heic", "image/heif"];
const searchQueries: Readonly<Record<DriveContentKind, string>> = {
  kit: "mimeType = 'text/html' and trashed = false",
  picture: "mimeType contains 'image/' and trashed = false",
};

/**
 * Chunk of a resumable upload; Google requires multiples of 256 KiB. A file of one chunk is sent in
 * a single call.
 */
export const googleChunkBytes = 1024 * 1024;

const Token = z.object({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive(),
  scope: z.string(),
});
const FilesPage = z.object({ files: z.array(z.object({ id: z.string() })) });
const Metadata = z.object({ name: z.string().min(1), size: z.coerce.number().int().nonnegative() });

export function createGoogleDrive(settings: NonNullable<Drives["google"]>): Drive {
  const filesUrl = `${settings.api_origin}/drive/v3/files`;
  const uploadUrl = `${settings.api_origin}/upload/drive/v3/files`;

  /**
   * Implicit flow: Google exchanges a code only for a client secret, which a browser application
   * cannot keep.
   */
  const requestToken = async (driveWindow: DriveWindow): Promise<string> => {
    const tokenResponse = Token.safeParse(
      Object.fromEntries(await driveWindow.requestAuthorization(buildAuthorizationUrl({ response_type: "token" }))),
    );
    if (!tokenResponse.success) throw new PortalError("bad_answer");
    // People can deselect scopes.
    if (!tokenResponse.data.scope.split(" ").includes(scope)) throw new PortalError("consent_required");
    saveToken("google", tokenResponse.data.access_token, tokenResponse.data.expires_in);
    return tokenResponse.data.access_token;
  };
  const buildAuthorizationUrl = (parameters: Readonly<Record<string, string>>): URL => {
    const url = new URL(settings.authorize_url);
    // Google shows no picker if further scopes are included.
    url.search = new URLSearchParams({
      client_id: settings.client_id,
      redirect_uri: getRedirectUrl(),
      scope,
      include_granted_scopes: "false",
      ...parameters,
    }).toString();
    return url;
  };

  return {
    name: "google",
    getSaveToken: async (openWindow) => getToken("google") ?? requestToken(openWindow()),
    contains: async (kind, token, signal) => {
      const query = new URLSearchParams({ q: searchQueries[kind], fields: "files(id)", pageSize: "1" });
      return (
        (await readJson(await callDrive(`${filesUrl}?${query.toString()}`, { token, signal }), FilesPage)).files
          .length > 0
      );
    },
    save: async (file, token, { signal, onProgress }) => {
      const totalBytes = file.size;
      const type = file.type === "" ? "application/octet-stream" : file.type;
      const metadata = JSON.stringify({ name: file.name, mimeType: type });
      if (totalBytes <= googleChunkBytes) {
        const boundary = `part-${crypto.randomUUID()}`;
        const body = new Blob([
          `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${metadata}\r\n--${boundary}\r\ncontent-type: ${type}\r\n\r\n`,
          file,
          `\r\n--${boundary}--`,
        ]);
        await callDrive(`${uploadUrl}?uploadType=multipart&fields=id`, {
          method: "POST",
          headers: { "content-type": `multipart/related; boundary=${boundary}` },
          body,
          token,
          signal,
        });
        onProgress({ done: totalBytes, total: totalBytes });
        return;
      }
      const sessionResponse = await callDrive(`${uploadUrl}?uploadType=resumable&fields=id`, {
        method: "POST",
        headers: {
          "content-type": "application/json; charset=UTF-8",
          "x-upload-content-type": type,
          "x-upload-content-length": String(totalBytes),
        },
        body: metadata,
        token,
        signal,
      });
      const sessionUrl = sessionResponse.headers.get("location");
      // Each chunk carries the token, so the session must be at the configured origin.
      if (sessionUrl === null || !URL.canParse(sessionUrl) || new URL(sessionUrl).origin !== settings.api_origin)
        throw new PortalError("bad_answer");
      for (let sentBytes = 0; sentBytes < totalBytes;) {
        const end = Math.min(sentBytes + googleChunkBytes, totalBytes);
        const headers = { "content-range": `bytes ${String(sentBytes)}-${String(end - 1)}/${String(totalBytes)}` };
        const { status } = await callDrive(sessionUrl, {
          method: "PUT",
          headers,
          body: file.slice(sentBytes, end),
          token,
          signal,
          acceptedStatuses: [308],
        });
        if ((status === 308) !== end < totalBytes) throw new PortalError("bad_answer");
        sentBytes = end;
        onProgress({ done: sentBytes, total: totalBytes });
      }
    },
    pickFile: async (openWindow, language, options) => {
      const driveWindow = openWindow();
      const pickerResponse = await driveWindow.requestAuthorization(
        buildAuthorizationUrl({
          response_type: "code",
          access_type: "online",
          prompt: "consent",
          trigger_onepick: "true",
          allow_multiple: "false",
          mimetypes: pictureTypes.join(","),
          hl: language,
        }),
      );
      const id = (pickerResponse.get("picked_file_ids") ?? "").split(",")[0] ?? "";
      if (id === "") throw new PortalError("cancelled");
      // The response's code is unused: exchanging it needs a client secret.
      const token = getToken("google") ?? (await requestToken(driveWindow));
      driveWindow.close();
      const itemUrl = `${filesUrl}/${encodeURIComponent(id)}?supportsAllDrives=true`;
      const { name, size } = await readJson(
        await callDrive(`${itemUrl}&fields=name,size`, { token, signal: options.signal }),
        Metadata,
      );
      if (size > maxPictureBytes) throw new PortalError("payload_too_large");
      return readFile(
        await callDrive(`${itemUrl}&alt=media`, { token, signal: options.signal }),
        { name, size, maxBytes: maxPictureBytes },
        options,
      );
    },
  };
}
