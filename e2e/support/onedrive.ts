import { createHash, randomUUID } from "node:crypto";

import {
  json,
  pageOf,
  startDriveServer,
  type DriveAnswer,
  type DriveRequest,
  type DriveServer,
} from "./drive-server.ts";
import type { KeptFile } from "./google-drive.ts";

export interface OneDriveServer extends DriveServer {
  /** The folder of the application. */
  readonly folder: KeptFile[];
  /** The person's own files, which only the picker shows. */
  readonly others: KeptFile[];
}

/**
 * Microsoft as its documentation describes it: the identity platform's code flow with PKCE for
 * single-page applications, of Graph the application's own folder, the file picker in version 8
 * with its messages, and the item that it names.
 */
export async function startOneDrive(clientId: string): Promise<OneDriveServer> {
  const folder: KeptFile[] = [];
  const others: KeptFile[] = [];
  const codes = new Map<string, { readonly challenge: string; readonly scope: string; readonly redirect: string }>();
  const tokens = new Map<string, string>();
  const sessions = new Map<string, { readonly name: string; got: Buffer }>();
  const scopeOf = (request: DriveRequest) => tokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));

  const authorize = ({ url }: DriveRequest): DriveAnswer => {
    const asked = Object.fromEntries(url.searchParams);
    if (
      asked["client_id"] !== clientId ||
      asked["response_type"] !== "code" ||
      asked["code_challenge_method"] !== "S256"
    )
      return pageOf("invalid_request", {});
    const { redirect_uri: redirect = "", state = "", scope = "", code_challenge: challenge = "" } = asked;
    const code = randomUUID();
    codes.set(code, { challenge, scope, redirect });
    return pageOf("Sign in to Microsoft", {
      Accept: `${redirect}#${new URLSearchParams({ code, state }).toString()}`,
      Cancel: `${redirect}#${new URLSearchParams({ error: "access_denied", state }).toString()}`,
    });
  };
  const redeem = ({ body }: DriveRequest): DriveAnswer => {
    const asked = new URLSearchParams(body.toString());
    const code = codes.get(asked.get("code") ?? "");
    codes.delete(asked.get("code") ?? "");
    const proven = createHash("sha256")
      .update(asked.get("code_verifier") ?? "")
      .digest("base64url");
    if (code?.challenge !== proven || code.redirect !== asked.get("redirect_uri") || asked.has("client_secret"))
      return json({ error: "invalid_grant" }, 400);
    const token = randomUUID();
    tokens.set(token, code.scope);
    return json({ access_token: token, token_type: "Bearer", expires_in: 3600, scope: code.scope });
  };
  const keep = (name: string, type: string, bytes: Buffer): DriveAnswer => {
    folder.push({ id: randomUUID(), name, type, bytes });
    return json({ id: folder.at(-1)?.id, name }, 201);
  };

  const graph = (request: DriveRequest, origin: string): DriveAnswer => {
    const { method, url, headers, body } = request;
    if (scopeOf(request) !== "https://graph.microsoft.com/Files.ReadWrite.AppFolder")
      return json({ error: { code: "InvalidAuthenticationToken" } }, 401);
    const path = decodeURIComponent(url.pathname.replace("/v1.0/me/drive/special/approot", ""));
    if (method === "GET" && path === "/children")
      return json({ value: folder.map(({ type }) => ({ file: { mimeType: type } })) });
    const [, name = "", act = ""] = /^:\/(.+):\/(content|createUploadSession)$/.exec(path) ?? [];
    if (act === "content" && method === "PUT") return keep(name, headers["content-type"] ?? "", body);
    if (act === "createUploadSession" && method === "POST") {
      const id = randomUUID();
      sessions.set(id, { name, got: Buffer.alloc(0) });
      return json({ uploadUrl: `${origin}/session/${id}` });
    }
    return json({ error: { code: "itemNotFound" } }, 404);
  };
  const piece = ({ url, headers, body }: DriveRequest): DriveAnswer => {
    const session = sessions.get(url.pathname.replace("/session/", ""));
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers["content-range"] ?? "");
    if (session === undefined || headers.authorization !== undefined || Number(range?.[1]) !== session.got.length)
      return json({ error: { code: "invalidRange" } }, 416);
    session.got = Buffer.concat([session.got, body]);
    return session.got.length < Number(range?.[2])
      ? json({ nextExpectedRanges: [`${String(session.got.length)}-`] }, 202)
      : keep(session.name, "text/html", session.got);
  };

  /** The picker's page: it speaks to whoever opened its window. */
  const picker = ({ url, body }: DriveRequest, origin: string): DriveAnswer => {
    const token = new URLSearchParams(body.toString()).get("access_token") ?? "";
    if (tokens.get(token) !== "OneDrive.ReadOnly") return pageOf("401", {});
    const { messaging } = JSON.parse(url.searchParams.get("filePicker") ?? "{}") as {
      messaging: { origin: string; channelId: string };
    };
    const items = others.slice(0, 1).map(({ id, name }) => ({
      id,
      name,
      parentReference: { driveId: "drive" },
      "@sharePoint.endpoint": `${origin}/_api/v2.0`,
    }));
    const script = `<p><button id="pick">${others[0]?.name ?? ""}</button></p><p><button id="close">Cancel</button></p><script>
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
    return pageOf("Loading", {}, script);
  };
  const item = (request: DriveRequest, origin: string): DriveAnswer => {
    const found = others.find(({ id }) => request.url.pathname.endsWith(`/drives/drive/items/${id}`));
    if (scopeOf(request) !== "OneDrive.ReadOnly" || found === undefined)
      return json({ error: { code: "itemNotFound" } }, 404);
    return json({
      name: found.name,
      size: found.bytes.length,
      "@content.downloadUrl": `${origin}/download/${found.id}`,
    });
  };
  const download = ({ url }: DriveRequest): DriveAnswer => {
    const found = others.find(({ id }) => url.pathname === `/download/${id}`);
    return found === undefined ? { status: 404 } : { headers: { "content-type": found.type }, body: found.bytes };
  };

  const server = await startDriveServer((request, origin) => {
    const { pathname } = request.url;
    if (pathname === "/consumers/oauth2/v2.0/authorize") return authorize(request);
    if (pathname === "/consumers/oauth2/v2.0/token") return redeem(request);
    if (pathname.startsWith("/v1.0/")) return graph(request, origin);
    if (pathname.startsWith("/session/")) return piece(request);
    if (pathname === "/picker") return picker(request, origin);
    if (pathname.startsWith("/_api/v2.0/")) return item(request, origin);
    return download(request);
  });
  return { ...server, folder, others };
}
