import { createHash, randomUUID } from "node:crypto";

import {
  createJsonResponse,
  createHtmlPage,
  startDriveServer,
  type DriveResponse,
  type DriveRequest,
  type DriveServer,
} from "./drive-server.ts";
import type { DriveFile } from "./google-drive.ts";

export interface OneDriveServer extends DriveServer {
  readonly folder: DriveFile[];
  /** The person's own files, which only the picker shows. */
  readonly otherFiles: DriveFile[];
}

/**
 * Starts a server that acts as Microsoft's documentation describes: the identity platform's code
 * flow with PKCE for single-page applications; of Graph, the application's own folder; and the file
 * picker in version 8 with its messages, and the item that it names.
 */
export async function startOneDrive(clientId: string): Promise<OneDriveServer> {
  const folder: DriveFile[] = [];
  const otherFiles: DriveFile[] = [];
  const codes = new Map<string, { readonly challenge: string; readonly scope: string; readonly redirect: string }>();
  const tokens = new Map<string, string>();
  const sessions = new Map<string, { readonly name: string; received: Buffer }>();
  const findScope = (request: DriveRequest) => tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));

  const authorize = ({ url }: DriveRequest): DriveResponse => {
    const parameters = Object.fromEntries(url.searchParams);
    if (
      parameters["client_id"] !== clientId ||
      parameters["response_type"] !== "code" ||
      parameters["code_challenge_method"] !== "S256"
    )
      return createHtmlPage("invalid_request", {});
    const { redirect_uri: redirect = "", state = "", scope = "", code_challenge: challenge = "" } = parameters;
    const code = randomUUID();
    codes.set(code, { challenge, scope, redirect });
    return createHtmlPage("Sign in to Microsoft", {
      Accept: `${redirect}#${new URLSearchParams({ code, state }).toString()}`,
      Cancel: `${redirect}#${new URLSearchParams({ error: "access_denied", state }).toString()}`,
    });
  };
  const redeem = ({ body }: DriveRequest): DriveResponse => {
    const parameters = new URLSearchParams(body.toString());
    const code = codes.get(parameters.get("code") ?? "");
    codes.delete(parameters.get("code") ?? "");
    const computedChallenge = createHash("sha256")
      .update(parameters.get("code_verifier") ?? "")
      .digest("base64url");
    if (
      code?.challenge !== computedChallenge ||
      code.redirect !== parameters.get("redirect_uri") ||
      parameters.has("client_secret")
    )
      return createJsonResponse({ error: "invalid_grant" }, 400);
    const token = randomUUID();
    tokens.set(token, code.scope);
    return createJsonResponse({ access_token: token, token_type: "Bearer", expires_in: 3600, scope: code.scope });
  };
  const storeFile = (name: string, type: string, bytes: Buffer): DriveResponse => {
    folder.push({ id: randomUUID(), name, type, bytes });
    return createJsonResponse({ id: folder.at(-1)?.id, name }, 201);
  };

  const handleGraph = (request: DriveRequest, origin: string): DriveResponse => {
    const { method, url, headers, body } = request;
    if (findScope(request) !== "https://graph.microsoft.com/Files.ReadWrite.AppFolder")
      return createJsonResponse({ error: { code: "InvalidAuthenticationToken" } }, 401);
    const path = decodeURIComponent(url.pathname.replace("/v1.0/me/drive/special/approot", ""));
    if (method === "GET" && path === "/children")
      return createJsonResponse({ value: folder.map(({ type }) => ({ file: { mimeType: type } })) });
    const [, name = "", operation = ""] = /^:\/(.+):\/(content|createUploadSession)$/.exec(path) ?? [];
    if (operation === "content" && method === "PUT") return storeFile(name, headers["content-type"] ?? "", body);
    if (operation === "createUploadSession" && method === "POST") {
      const id = randomUUID();
      sessions.set(id, { name, received: Buffer.alloc(0) });
      return createJsonResponse({ uploadUrl: `${origin}/session/${id}` });
    }
    return createJsonResponse({ error: { code: "itemNotFound" } }, 404);
  };
  const uploadPiece = ({ url, headers, body }: DriveRequest): DriveResponse => {
    const session = sessions.get(url.pathname.replace("/session/", ""));
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers["content-range"] ?? "");
    if (session === undefined || headers.authorization !== undefined || Number(range?.[1]) !== session.received.length)
      return createJsonResponse({ error: { code: "invalidRange" } }, 416);
    session.received = Buffer.concat([session.received, body]);
    return session.received.length < Number(range?.[2])
      ? createJsonResponse({ nextExpectedRanges: [`${String(session.received.length)}-`] }, 202)
      : storeFile(session.name, "text/html", session.received);
  };

  /** The picker's page, which sends messages to the window that opened it. */
  const renderPicker = ({ url, body }: DriveRequest, origin: string): DriveResponse => {
    const token = new URLSearchParams(body.toString()).get("access_token") ?? "";
    if (tokens.get(token) !== "OneDrive.ReadOnly") return createHtmlPage("401", {});
    const { messaging } = JSON.parse(url.searchParams.get("filePicker") ?? "{}") as {
      messaging: { origin: string; channelId: string };
    };
    const items = otherFiles.slice(0, 1).map(({ id, name }) => ({
      id,
      name,
      parentReference: { driveId: "drive" },
      "@sharePoint.endpoint": `${origin}/_api/v2.0`,
    }));
    const script = `<p><button id="pick">${otherFiles[0]?.name ?? ""}</button></p><p><button id="close">Cancel</button></p><script>
      const { port1, port2 } = new MessageChannel();
      let commands = 0;
      const send = (data) => port1.postMessage({ type: "command", id: String(++commands), data });
      port1.onmessage = ({ data }) => {
        if (data.type === "activate") { port1.postMessage({ type: "notification", data: { notification: "page-loaded" } }); send({ command: "authenticate", type: "SharePoint", resource: location.origin }); }
        if (data.type === "result" && data.data.result === "token") document.title = "OneDrive";
      };
      pick.onclick = () => send({ command: "pick", items: ${JSON.stringify(items)} });
      document.getElementById("close").onclick = () => send({ command: "close" });
      opener.postMessage({ type: "initialize", channelId: ${JSON.stringify(messaging.channelId)} }, ${JSON.stringify(messaging.origin)}, [port2]);
    </script>`;
    return createHtmlPage("Loading", {}, script);
  };
  const describeItem = (request: DriveRequest, origin: string): DriveResponse => {
    const file = otherFiles.find(({ id }) => request.url.pathname.endsWith(`/drives/drive/items/${id}`));
    if (findScope(request) !== "OneDrive.ReadOnly" || file === undefined)
      return createJsonResponse({ error: { code: "itemNotFound" } }, 404);
    return createJsonResponse({
      name: file.name,
      size: file.bytes.length,
      "@content.downloadUrl": `${origin}/download/${file.id}`,
    });
  };
  const downloadFile = ({ url }: DriveRequest): DriveResponse => {
    const file = otherFiles.find(({ id }) => url.pathname === `/download/${id}`);
    return file === undefined ? { status: 404 } : { headers: { "content-type": file.type }, body: file.bytes };
  };

  const server = await startDriveServer((request, origin) => {
    const { pathname } = request.url;
    if (pathname === "/consumers/oauth2/v2.0/authorize") return authorize(request);
    if (pathname === "/consumers/oauth2/v2.0/token") return redeem(request);
    if (pathname.startsWith("/v1.0/")) return handleGraph(request, origin);
    if (pathname.startsWith("/session/")) return uploadPiece(request);
    if (pathname === "/picker") return renderPicker(request, origin);
    if (pathname.startsWith("/_api/v2.0/")) return describeItem(request, origin);
    return downloadFile(request);
  });
  return { ...server, folder, otherFiles };
}
