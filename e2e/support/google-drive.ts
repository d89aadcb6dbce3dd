import { randomUUID } from "node:crypto";

import {
  json,
  pageOf,
  startDriveServer,
  type DriveAnswer,
  type DriveRequest,
  type DriveServer,
} from "./drive-server.ts";

export interface KeptFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface GoogleDriveServer extends DriveServer {
  /** What the application may see of the person's drive. */
  readonly files: KeptFile[];
  /** Of the person, not handed over yet: the picker hands over the first. */
  readonly others: KeptFile[];
}

const scope = "https://www.googleapis.com/auth/drive.file";

/**
 * Google as its documentation describes it: OAuth 2.0 for client-side web applications, the picker
 * by redirect (`trigger_onepick`), and of Drive v3 what an application with `drive.file` uses.
 */
export async function startGoogleDrive(clientId: string): Promise<GoogleDriveServer> {
  const files: KeptFile[] = [];
  const others: KeptFile[] = [];
  const tokens = new Set<string>();
  const sessions = new Map<
    string,
    { readonly name: string; readonly type: string; readonly total: number; got: Buffer }
  >();

  const authorize = ({ url }: DriveRequest): DriveAnswer => {
    const asked = url.searchParams;
    const back = new URL(asked.get("redirect_uri") ?? "");
    if (asked.get("client_id") !== clientId || asked.get("scope") !== scope)
      return pageOf("Error 400: invalid_request", {});
    const state = asked.get("state") ?? "";
    if (asked.get("trigger_onepick") === "true") {
      const picked = others[0];
      const yes = new URLSearchParams({ state, code: randomUUID(), scope, picked_file_ids: picked?.id ?? "" });
      return pageOf("Select files", {
        [picked?.name ?? "nothing"]:
          `/picked?${new URLSearchParams({ to: `${back.href}?${yes.toString()}` }).toString()}`,
      });
    }
    if (asked.get("response_type") !== "token") return pageOf("Error 400: unsupported_response_type", {});
    const token = randomUUID();
    tokens.add(token);
    const yes = new URLSearchParams({ state, access_token: token, token_type: "Bearer", expires_in: "3599", scope });
    return pageOf("Sign in with Google", {
      Allow: `${back.href}#${yes.toString()}`,
      Cancel: `${back.href}#${new URLSearchParams({ state, error: "access_denied" }).toString()}`,
    });
  };

  const drive = (request: DriveRequest): DriveAnswer => {
    const { method, url, headers, body } = request;
    if (!tokens.has((headers.authorization ?? "").replace("Bearer ", "")))
      return json({ error: { code: 401, errors: [{ reason: "authError" }] } }, 401);
    if (method === "GET" && url.pathname === "/drive/v3/files") {
      const wanted = /mimeType (=|contains) '([^']+)'/.exec(url.searchParams.get("q") ?? "");
      return json({
        files: files
          .filter(({ type }) => (wanted?.[1] === "=" ? type === wanted[2] : type.startsWith(wanted?.[2] ?? " ")))
          .map(({ id }) => ({ id })),
      });
    }
    if (method === "GET" && url.pathname.startsWith("/drive/v3/files/")) {
      const file = files.find(({ id }) => url.pathname.endsWith(`/${id}`));
      if (file === undefined) return json({ error: { code: 404, errors: [{ reason: "notFound" }] } }, 404);
      return url.searchParams.get("alt") === "media"
        ? { headers: { "content-type": file.type }, body: file.bytes }
        : json({ name: file.name, size: String(file.bytes.length) });
    }
    if (method === "POST" && url.searchParams.get("uploadType") === "multipart") {
      const boundary = /boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1] ?? "";
      const [, about = Buffer.alloc(0), content = Buffer.alloc(0)] = split(body, `--${boundary}`);
      const { name, mimeType } = JSON.parse(afterHeaders(about).toString()) as { name: string; mimeType: string };
      files.push({ id: randomUUID(), name, type: mimeType, bytes: afterHeaders(content).subarray(0, -2) });
      return json({ id: files.at(-1)?.id });
    }
    if (method === "POST" && url.searchParams.get("uploadType") === "resumable") {
      const { name, mimeType } = JSON.parse(body.toString()) as { name: string; mimeType: string };
      const id = randomUUID();
      sessions.set(id, {
        name,
        type: mimeType,
        total: Number(headers["x-upload-content-length"]),
        got: Buffer.alloc(0),
      });
      return { headers: { location: `${url.origin}/upload/drive/v3/files?uploadType=resumable&upload_id=${id}` } };
    }
    const session = sessions.get(url.searchParams.get("upload_id") ?? "");
    if (method !== "PUT" || session === undefined) return json({}, 404);
    if (!(headers["content-range"] ?? "").startsWith(`bytes ${String(session.got.length)}-`)) return json({}, 400);
    session.got = Buffer.concat([session.got, body]);
    if (session.got.length < session.total)
      return { status: 308, headers: { range: `bytes=0-${String(session.got.length - 1)}` } };
    files.push({ id: randomUUID(), name: session.name, type: session.type, bytes: session.got });
    return json({ id: files.at(-1)?.id });
  };

  const server = await startDriveServer((request) => {
    const { url } = request;
    if (url.pathname === "/o/oauth2/v2/auth") return authorize(request);
    if (url.pathname === "/picked") {
      files.push(...others.splice(0, 1));
      return { status: 302, headers: { location: url.searchParams.get("to") ?? "/" } };
    }
    return drive(request);
  });
  return { ...server, files, others };
}

function split(whole: Buffer, mark: string): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const next = whole.indexOf(mark, at);
    if (next < 0) return [...parts, whole.subarray(at)];
    parts.push(whole.subarray(at, next));
    at = next + mark.length;
  }
}

function afterHeaders(part: Buffer): Buffer {
  return part.subarray(part.indexOf("\r\n\r\n") + 4);
}
