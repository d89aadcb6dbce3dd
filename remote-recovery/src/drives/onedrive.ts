/**
 * OneDrive through Microsoft Graph, in this application's own folder (`Files.ReadWrite.AppFolder`),
 * and Microsoft's file picker v8.
 * (https://learn.microsoft.com/graph/onedrive-concept-overview,
 * https://learn.microsoft.com/onedrive/developer/controls/file-pickers)
 */
import type { Drives } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createPkcePair } from "@relicario/vault/pkce";
import { z } from "zod";

import { callDrive, readFile, readJson } from "./call-drive.ts";
import { getToken, saveToken } from "./drive-memory.ts";
import { getRedirectUrl, type DriveWindow } from "./drive-window.ts";
import { maxPictureBytes, type Drive } from "./drive.ts";
import { pickItem } from "./onedrive-picker.ts";

const scopes = { save: "https://graph.microsoft.com/Files.ReadWrite.AppFolder", choose: "OneDrive.ReadOnly" } as const;

/** Larger files use an upload session. */
export const onedriveSimpleUploadBytes = 4 * 1024 * 1024;
/** Chunk of an upload session; Graph requires multiples of 320 KiB. */
export const onedriveChunkBytes = 4 * 320 * 1024;

const Token = z.object({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive(),
});
const FolderPage = z.object({
  value: z.array(z.object({ file: z.object({ mimeType: z.string().optional() }).optional() })),
  "@odata.nextLink": z.string().optional(),
});
const Session = z.object({ uploadUrl: z.url() });
const Item = z.object({
  name: z.string().min(1),
  size: z.number().int().nonnegative(),
  "@content.downloadUrl": z.url().optional(),
  "@microsoft.graph.downloadUrl": z.url().optional(),
});

export function createOneDrive(settings: NonNullable<Drives["onedrive"]>): Drive {
  const folderUrl = `${settings.graph_url}/me/drive/special/approot`;

  const requestToken = async (
    driveWindow: DriveWindow,
    purpose: keyof typeof scopes,
    signal: AbortSignal,
  ): Promise<string> => {
    const { verifier, challenge } = await createPkcePair();
    const clientParameters = { client_id: settings.client_id, redirect_uri: getRedirectUrl(), scope: scopes[purpose] };
    const authorizeUrl = new URL(`${settings.authority}/oauth2/v2.0/authorize`);
    authorizeUrl.search = new URLSearchParams({
      ...clientParameters,
      response_type: "code",
      response_mode: "fragment",
      code_challenge: challenge,
      code_challenge_method: "S256",
    }).toString();
    const code = (await driveWindow.requestAuthorization(authorizeUrl)).get("code");
    if (code === null) throw new PortalError("bad_answer");
    const body = new URLSearchParams({
      ...clientParameters,
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
    });
    const token = await readJson(
      await callDrive(`${settings.authority}/oauth2/v2.0/token`, { method: "POST", body, signal }),
      Token,
    );
    saveToken(`onedrive ${purpose}`, token.access_token, token.expires_in);
    return token.access_token;
  };
  /** Tokens and contents go to configured origins only. */
  const isContentUrl = (url: string): boolean => settings.content_origins.some((source) => matchesSource(source, url));
  const requireContentUrl = (url: string): string => {
    if (!isContentUrl(url)) throw new PortalError("bad_answer");
    return url;
  };
  const isTrusted = (origin: string): boolean => origin === new URL(settings.picker_url).origin || isContentUrl(origin);

  return {
    name: "onedrive",
    getSaveToken: async (openWindow, signal) => getToken("onedrive save") ?? requestToken(openWindow(), "save", signal),
    contains: async (kind, token, signal) => {
      const mimePattern = kind === "kit" ? /^text\/html/ : /^image\//;
      let pageUrl: string | undefined = `${folderUrl}/children?$select=file&$top=200`;
      while (pageUrl !== undefined) {
        // 404: nothing was saved there yet
        const response: Response = await callDrive(pageUrl, { token, signal, acceptedStatuses: [404] });
        if (response.status === 404) return false;
        const children: z.infer<typeof FolderPage> = await readJson(response, FolderPage);
        if (children.value.some(({ file }) => mimePattern.test(file?.mimeType ?? ""))) return true;
        pageUrl = children["@odata.nextLink"];
        if (pageUrl !== undefined && new URL(pageUrl).origin !== new URL(settings.graph_url).origin)
          throw new PortalError("bad_answer");
      }
      return false;
    },
    save: async (file, token, { signal, onProgress }) => {
      const totalBytes = file.size;
      const itemUrl = `${folderUrl}:/${encodeURIComponent(file.name)}:`;
      if (totalBytes <= onedriveSimpleUploadBytes) {
        const headers = { "content-type": file.type === "" ? "application/octet-stream" : file.type };
        await callDrive(`${itemUrl}/content?@microsoft.graph.conflictBehavior=rename`, {
          method: "PUT",
          headers,
          body: file,
          token,
          signal,
        });
        onProgress({ done: totalBytes, total: totalBytes });
        return;
      }
      const sessionResponse = await callDrive(`${itemUrl}/createUploadSession`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ item: { "@microsoft.graph.conflictBehavior": "rename", name: file.name } }),
        token,
        signal,
      });
      const sessionUrl = requireContentUrl((await readJson(sessionResponse, Session)).uploadUrl);
      for (let sentBytes = 0; sentBytes < totalBytes;) {
        const end = Math.min(sentBytes + onedriveChunkBytes, totalBytes);
        // The URL grants access: chunks carry no token.
        const headers = { "content-range": `bytes ${String(sentBytes)}-${String(end - 1)}/${String(totalBytes)}` };
        const { status } = await callDrive(sessionUrl, {
          method: "PUT",
          headers,
          body: file.slice(sentBytes, end),
          signal,
        });
        if ((status === 202) !== end < totalBytes) throw new PortalError("bad_answer");
        sentBytes = end;
        onProgress({ done: sentBytes, total: totalBytes });
      }
    },
    pickFile: async (openWindow, language, options) => {
      const driveWindow = openWindow();
      const token = getToken("onedrive choose") ?? (await requestToken(driveWindow, "choose", options.signal));
      // A sign-in may cut off the popup, but the picker must message this page. The next click
      // opens a connected popup.
      if (driveWindow.getPopup() === undefined) throw new PortalError("interaction_required");
      const pickedItem = await pickItem(driveWindow, settings.picker_url, {
        token,
        language,
        signal: options.signal,
        isTrusted,
      });
      driveWindow.close();
      const itemUrl = requireContentUrl(
        `${pickedItem.endpoint}/drives/${encodeURIComponent(pickedItem.driveId)}/items/${encodeURIComponent(pickedItem.id)}`,
      );
      const metadata = await readJson(await callDrive(itemUrl, { token, signal: options.signal }), Item);
      if (metadata.size > maxPictureBytes) throw new PortalError("payload_too_large");
      const downloadUrl = requireContentUrl(
        metadata["@content.downloadUrl"] ?? metadata["@microsoft.graph.downloadUrl"] ?? "",
      );
      return readFile(
        await callDrive(downloadUrl, { signal: options.signal }),
        { name: metadata.name, size: metadata.size, maxBytes: maxPictureBytes },
        options,
      );
    },
  };
}

/**
 * Whether a URL matches a source of the deployment document: an origin, or `*.host` for all
 * subdomains of a host.
 */
function matchesSource(source: string, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  const [scheme = "", name = ""] = source.split("//");
  if (protocol !== scheme) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}
