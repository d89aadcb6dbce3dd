/**
 * OneDrive by Microsoft Graph, in the folder that belongs to this application alone
 * (`Files.ReadWrite.AppFolder`), and Microsoft's file picker, version 8.
 * (https://learn.microsoft.com/graph/onedrive-concept-overview,
 * https://learn.microsoft.com/onedrive/developer/controls/file-pickers)
 */
import type { Drives } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { makeCodeProof } from "@relicario/vault/code-challenge";
import { z } from "zod";

import { maxPictureBytes } from "../picture/picture-draft.ts";
import { callDrive, readFile, readJson } from "./drive-calls.ts";
import { getToken, keepToken } from "./drive-memory.ts";
import { answerAddress, type DriveWindow } from "./drive-window.ts";
import type { Drive } from "./drive.ts";
import { pickInWindow } from "./onedrive-picker.ts";

const scopes = { save: "https://graph.microsoft.com/Files.ReadWrite.AppFolder", choose: "OneDrive.ReadOnly" } as const;

/** Above this an upload session is made. */
export const onedriveSimpleBytes = 4 * 1024 * 1024;
/** One piece of a session; Graph asks for multiples of 320 KiB. */
export const onedrivePieceBytes = 4 * 320 * 1024;

const Token = z.object({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive(),
});
const Children = z.object({
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

export function oneDrive(settings: NonNullable<Drives["onedrive"]>): Drive {
  const folder = `${settings.graph_url}/me/drive/special/approot`;

  const tokenIn = async (popup: DriveWindow, purpose: keyof typeof scopes, signal: AbortSignal): Promise<string> => {
    const { verifier, challenge } = await makeCodeProof();
    const own = { client_id: settings.client_id, redirect_uri: answerAddress(), scope: scopes[purpose] };
    const address = new URL(`${settings.authority}/oauth2/v2.0/authorize`);
    address.search = new URLSearchParams({
      ...own,
      response_type: "code",
      response_mode: "fragment",
      code_challenge: challenge,
      code_challenge_method: "S256",
    }).toString();
    const code = (await popup.ask(address)).get("code");
    if (code === null) throw new PortalError("bad_answer");
    const body = new URLSearchParams({ ...own, grant_type: "authorization_code", code, code_verifier: verifier });
    const token = await readJson(
      await callDrive(`${settings.authority}/oauth2/v2.0/token`, { method: "POST", body, signal }),
      Token,
    );
    keepToken(`onedrive ${purpose}`, token.access_token, token.expires_in);
    return token.access_token;
  };
  /** A token and contents go nowhere but to the configured origins. */
  const isContentAddress = (address: string): boolean =>
    settings.content_origins.some((source) => isOf(source, address));
  const requireContentAddress = (address: string): string => {
    if (!isContentAddress(address)) throw new PortalError("bad_answer");
    return address;
  };
  const isTrusted = (origin: string): boolean =>
    origin === new URL(settings.picker_url).origin || isContentAddress(origin);

  return {
    name: "onedrive",
    tokenForSaving: async (open, signal) => getToken("onedrive save") ?? tokenIn(open(), "save", signal),
    holds: async (kind, token, signal) => {
      const wanted = kind === "kit" ? /^text\/html/ : /^image\//;
      let page: string | undefined = `${folder}/children?$select=file&$top=200`;
      while (page !== undefined) {
        // nothing was ever saved there
        const response: Response = await callDrive(page, { token, signal, also: [404] });
        if (response.status === 404) return false;
        const children: z.infer<typeof Children> = await readJson(response, Children);
        if (children.value.some(({ file }) => wanted.test(file?.mimeType ?? ""))) return true;
        page = children["@odata.nextLink"];
        if (page !== undefined && new URL(page).origin !== new URL(settings.graph_url).origin)
          throw new PortalError("bad_answer");
      }
      return false;
    },
    save: async (file, token, { signal, onProgress }) => {
      const total = file.size;
      const item = `${folder}:/${encodeURIComponent(file.name)}:`;
      if (total <= onedriveSimpleBytes) {
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
      const made = await callDrive(`${item}/createUploadSession`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ item: { "@microsoft.graph.conflictBehavior": "rename", name: file.name } }),
        token,
        signal,
      });
      const session = requireContentAddress((await readJson(made, Session)).uploadUrl);
      for (let done = 0; done < total;) {
        const end = Math.min(done + onedrivePieceBytes, total);
        // The address is the permission: no token goes with the pieces.
        const headers = { "content-range": `bytes ${String(done)}-${String(end - 1)}/${String(total)}` };
        const { status } = await callDrive(session, { method: "PUT", headers, body: file.slice(done, end), signal });
        if ((status === 202) !== end < total) throw new PortalError("bad_answer");
        done = end;
        onProgress({ done, total });
      }
    },
    choose: async (open, language, options) => {
      const popup = open();
      const token = getToken("onedrive choose") ?? (await tokenIn(popup, "choose", options.signal));
      // A sign-in may cut the window off, and the picker has to speak to this page: the next click
      // opens one that it can.
      if (popup.handle() === undefined) throw new PortalError("interaction_required");
      const picked = await pickInWindow(popup, settings.picker_url, {
        token,
        language,
        signal: options.signal,
        isTrusted,
      });
      popup.close();
      const item = requireContentAddress(
        `${picked.endpoint}/drives/${encodeURIComponent(picked.driveId)}/items/${encodeURIComponent(picked.id)}`,
      );
      const found = await readJson(await callDrive(item, { token, signal: options.signal }), Item);
      if (found.size > maxPictureBytes) throw new PortalError("payload_too_large");
      const address = requireContentAddress(
        found["@content.downloadUrl"] ?? found["@microsoft.graph.downloadUrl"] ?? "",
      );
      return readFile(
        await callDrive(address, { signal: options.signal }),
        { name: found.name, size: found.size, most: maxPictureBytes },
        options,
      );
    },
  };
}

/**
 * Whether an address is of a source as the deployment document names it: an origin, or `*.` and all
 * names below a host.
 */
function isOf(source: string, address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, host } = new URL(address);
  const [scheme = "", name = ""] = source.split("//");
  if (protocol !== scheme) return false;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}
