/**
 * Google Drive by its REST API, version 3, with the scope `drive.file`: the files that this portal
 * made, and those that were handed over in Google's picker.
 * (https://developers.google.com/workspace/drive/api/guides/manage-uploads,
 * https://developers.google.com/workspace/drive/picker/guides/overview-desktop)
 */
import type { Drives } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { callDrive, readFile, readJson } from "./call-drive.ts";
import { getToken, saveToken } from "./drive-memory.ts";
import { answerUrl, type DriveWindow } from "./drive-window.ts";
import { maxPictureBytes, type Drive, type DriveContentKind } from "./drive.ts";

const scope = "https://www.googleapis.com/auth/drive.file";
const pictureTypes = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/heic", "image/heif"];
const searchQueries: Readonly<Record<DriveContentKind, string>> = {
  kit: "mimeType = 'text/html' and trashed = false",
  picture: "mimeType contains 'image/' and trashed = false",
};

/**
 * One piece of a resumable upload; Google asks for multiples of 256 KiB. What fits into one goes in
 * one call.
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
  const api = `${settings.api_origin}/drive/v3/files`;
  const upload = `${settings.api_origin}/upload/drive/v3/files`;

  /**
   * Google lets a browser application redeem no code without a secret, so the token comes in the
   * fragment of the answer.
   */
  const requestToken = async (popup: DriveWindow): Promise<string> => {
    const answer = Token.safeParse(
      Object.fromEntries(await popup.requestAnswer(authorizationUrl({ response_type: "token" }))),
    );
    if (!answer.success) throw new PortalError("bad_answer");
    // People may untick what they are asked for.
    if (!answer.data.scope.split(" ").includes(scope)) throw new PortalError("consent_required");
    saveToken("google", answer.data.access_token, answer.data.expires_in);
    return answer.data.access_token;
  };
  const authorizationUrl = (parameters: Readonly<Record<string, string>>): URL => {
    const url = new URL(settings.authorize_url);
    // No other scope may be granted beside it, or there is no picker.
    url.search = new URLSearchParams({
      client_id: settings.client_id,
      redirect_uri: answerUrl(),
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
        (await readJson(await callDrive(`${api}?${query.toString()}`, { token, signal }), FilesPage)).files.length > 0
      );
    },
    save: async (file, token, { signal, onProgress }) => {
      const total = file.size;
      const type = file.type === "" ? "application/octet-stream" : file.type;
      const metadata = JSON.stringify({ name: file.name, mimeType: type });
      if (total <= googleChunkBytes) {
        const boundary = `part-${crypto.randomUUID()}`;
        const body = new Blob([
          `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${metadata}\r\n--${boundary}\r\ncontent-type: ${type}\r\n\r\n`,
          file,
          `\r\n--${boundary}--`,
        ]);
        await callDrive(`${upload}?uploadType=multipart&fields=id`, {
          method: "POST",
          headers: { "content-type": `multipart/related; boundary=${boundary}` },
          body,
          token,
          signal,
        });
        onProgress({ done: total, total });
        return;
      }
      const sessionResponse = await callDrive(`${upload}?uploadType=resumable&fields=id`, {
        method: "POST",
        headers: {
          "content-type": "application/json; charset=UTF-8",
          "x-upload-content-type": type,
          "x-upload-content-length": String(total),
        },
        body: metadata,
        token,
        signal,
      });
      const session = sessionResponse.headers.get("location");
      // The token goes with each piece: to nobody but the service that gave it.
      if (session === null || !URL.canParse(session) || new URL(session).origin !== settings.api_origin)
        throw new PortalError("bad_answer");
      for (let done = 0; done < total;) {
        const end = Math.min(done + googleChunkBytes, total);
        const headers = { "content-range": `bytes ${String(done)}-${String(end - 1)}/${String(total)}` };
        const { status } = await callDrive(session, {
          method: "PUT",
          headers,
          body: file.slice(done, end),
          token,
          signal,
          acceptedStatuses: [308],
        });
        if ((status === 308) !== end < total) throw new PortalError("bad_answer");
        done = end;
        onProgress({ done, total });
      }
    },
    pickFile: async (openWindow, language, options) => {
      const popup = openWindow();
      const pickerAnswer = await popup.requestAnswer(
        authorizationUrl({
          response_type: "code",
          access_type: "online",
          prompt: "consent",
          trigger_onepick: "true",
          allow_multiple: "false",
          mimetypes: pictureTypes.join(","),
          hl: language,
        }),
      );
      const id = (pickerAnswer.get("picked_file_ids") ?? "").split(",")[0] ?? "";
      if (id === "") throw new PortalError("cancelled");
      // The code beside it is left: without a secret nothing can be had for it.
      const token = getToken("google") ?? (await requestToken(popup));
      popup.close();
      const item = `${api}/${encodeURIComponent(id)}?supportsAllDrives=true`;
      const { name, size } = await readJson(
        await callDrive(`${item}&fields=name,size`, { token, signal: options.signal }),
        Metadata,
      );
      if (size > maxPictureBytes) throw new PortalError("payload_too_large");
      return readFile(
        await callDrive(`${item}&alt=media`, { token, signal: options.signal }),
        { name, size, maxBytes: maxPictureBytes },
        options,
      );
    },
  };
}
