/**
 * OneDrive by Microsoft Graph, in the folder that belongs to this application alone
 * (`Files.ReadWrite.AppFolder`), and Microsoft's file picker, version 8.
 * (https://learn.microsoft.com/graph/onedrive-concept-overview,
 * https://learn.microsoft.com/onedrive/developer/controls/file-pickers)
 */
import type { Drives } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createPkcePair } from "@relicario/vault/pkce";
import { z } from "zod";

import { callDrive, readFile, readJson } from "./call-drive.ts";
import { getToken, saveToken } from "./drive-memory.ts";
import { answerUrl, type DriveWindow } from "./drive-window.ts";
import { maxPictureBytes, type Drive } from "./drive.ts";
import { pickItem } from "./onedrive-picker.ts";

const scopes = { save: "https://graph.microsoft.com/Files.ReadWrite.AppFolder", choose: "OneDrive.ReadOnly" } as const;

/** Above this an upload session is made. */
export const onedriveSimpleUploadBytes = 4 * 1024 * 1024;
/** One piece of a session; Graph asks for multiples of 320 KiB. */
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
  const folder = `${settings.graph_url}/me/drive/special/approot`;

  const requestToken = async (
    popup: DriveWindow,
    purpose: keyof typeof scopes,
    signal: AbortSignal,
  ): Promise<string> => {
    const { verifier, challenge } = await createPkcePair();
    const clientParameters = { client_id: settings.client_id, redirect_uri: answerUrl(), scope: scopes[purpose] };
    const authorizeUrl = new URL(`${settings.authority}/oauth2/v2.0/authorize`);
    authorizeUrl.search = new URLSearchParams({
      ...clientParameters,
      response_type: "code",
      response_mode: "fragment",
      code_challenge: challenge,
      code_challenge_method: "S256",
    }).toString();
    const code = (await popup.requestAnswer(authorizeUrl)).get("code");
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
  /** A token and contents go nowhere but to the configured origins. */
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
      let page: string | undefined = `${folder}/children?$select=file&$top=200`;
      while (page !== undefined) {
        // nothing was ever saved there
        const response: Response = await callDrive(page, { token, signal, acceptedStatuses: [404] });
        if (response.status === 404) return false;
        const children: z.infer<typeof FolderPage> = await readJson(response, FolderPage);
        if (children.value.some(({ file }) => mimePattern.test(file?.mimeType ?? ""))) return true;
        page = children["@odata.nextLink"];
        if (page !== undefined && new URL(page).origin !== new URL(settings.graph_url).origin)
          throw new PortalError("bad_answer");
      }
      return false;
    },
    save: async (file, token, { signal, onProgress }) => {
      const total = file.size;
      const item = `${folder}:/${encodeURIComponent(file.name)}:`;
      if (total <= onedriveSimpleUploadBytes) {
        const headers = { "content-type": file.type === "" ? "application/octet-stream" : file.type };
        await callDrive(`${item}/content?@microsoft.graph.conflictBehavior=rename`, {
          method: "PUT",
          headers,
          body: file,
          token,
          signal,
        });
        onProgress({ done: total, total });
        return;
      }
      const sessionResponse = await callDrive(`${item}/createUploadSession`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ item: { "@microsoft.graph.conflictBehavior": "rename", name: file.name } }),
        token,
        signal,
      });
      const session = requireContentUrl((await readJson(sessionResponse, Session)).uploadUrl);
      for (let done = 0; done < total;) {
        const end = Math.min(done + onedriveChunkBytes, total);
        // The address is the permission: no token goes with the pieces.
        const headers = { "content-range": `bytes ${String(done)}-${String(end - 1)}/${String(total)}` };
        const { status } = await callDrive(session, { method: "PUT", headers, body: file.slice(done, end), signal });
        if ((status === 202) !== end < total) throw new PortalError("bad_answer");
        done = end;
        onProgress({ done, total });
      }
    },
    pickFile: async (openWindow, language, options) => {
      const popup = openWindow();
      const token = getToken("onedrive choose") ?? (await requestToken(popup, "choose", options.signal));
      // A sign-in may cut the window off, and the picker has to speak to this page: the next click
      // opens one that it can.
      if (popup.getPopup() === undefined) throw new PortalError("interaction_required");
      const pickedItem = await pickItem(popup, settings.picker_url, {
        token,
        language,
        signal: options.signal,
        isTrusted,
      });
      popup.close();
      const item = requireContentUrl(
        `${pickedItem.endpoint}/drives/${encodeURIComponent(pickedItem.driveId)}/items/${encodeURIComponent(pickedItem.id)}`,
      );
      const metadata = await readJson(await callDrive(item, { token, signal: options.signal }), Item);
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
 * Whether an address is of a source as the deployment document names it: an origin, or `*.` and all
 * names below a host.
 */
function matchesSource(source: string, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  const [scheme = "", name = ""] = source.split("//");
  if (protocol !== scheme) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}
