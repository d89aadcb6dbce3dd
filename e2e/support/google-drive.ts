import { randomUUID } from "node:crypto";

import {
  createJsonResponse,
  createHtmlPage,
  startDriveServer,
  type DriveResponse,
  type DriveRequest,
  type DriveServer,
} from "./drive-server.ts";

export interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface GoogleDriveServer extends DriveServer {
  /** Files of the user that the application may see. */
  readonly files: DriveFile[];
  /** Other files of the user; the picker grants the first. */
  readonly otherFiles: DriveFile[];
}

const scope = "https://www.googleapis.com/auth/drive.file";

/**
 * Starts a server that acts as Google's documentation describes: OAuth 2.0 for client-side web
 * applications, the picker by redirect (`trigger_onepick`), and the parts of Drive v3 that an
 * application with `drive.file` uses.
 */
export async function startGoogleDrive(clientId: string): Promise<GoogleDriveServer> {
  const files: DriveFile[] = [];
  const otherFiles: DriveFile[] = [];
  const tokens = new Set<string>();
  const sessions = new Map<
    string,
    { readonly name: string; readonly type: string; readonly total: number; received: Buffer }
  >();

  const authorize = ({ url }: DriveRequest): DriveResponse => {
    const parameters = url.searchParams;
    const redirectUrl = new URL(parameters.get("redirect_uri") ?? "");
    if (parameters.get("client_id") !== clientId || parameters.get("scope") !== scope)
      return createHtmlPage("Error 400: invalid_request", {});
    const state = parameters.get("state") ?? "";
    if (parameters.get("trigger_onepick") === "true") {
      const pickedFile = otherFiles[0];
      const approval = new URLSearchParams({ state, code: randomUUID(), scope, picked_file_ids: pickedFile?.id ?? "" });
      return createHtmlPage("Select files", {
        [pickedFile?.name ?? "nothing"]:
          `/picked?${new URLSearchParams({ to: `${redirectUrl.href}?${approval.toString()}` }).toString()}`,
      });
    }
    if (parameters.get("response_type") !== "token") return createHtmlPage("Error 400: unsupported_response_type", {});
    const token = randomUUID();
    tokens.add(token);
    const approval = new URLSearchParams({
      state,
      access_token: token,
      token_type: "Bearer",
      expires_in: "3599",
      scope,
    });
    return createHtmlPage("Sign in with Google", {
      Allow: `${redirectUrl.href}#${approval.toString()}`,
      Cancel: `${redirectUrl.href}#${new URLSearchParams({ state, error: "access_denied" }).toString()}`,
    });
  };

  const drive = (request: DriveRequest): DriveResponse => {
    const { method, url, headers, body } = request;
    if (!tokens.has((headers.authorization ?? "").replace("Bearer ", "")))
      return createJsonResponse({ error: { code: 401, errors: [{ reason: "authError" }] } }, 401);
    if (method === "GET" && url.pathname === "/drive/v3/files") {
      const mimeTypeFilter = /mimeType (=|contains) '([^']+)'/.exec(url.searchParams.get("q") ?? "");
      return createJsonResponse({
        files: files
          .filter(({ type }) =>
            mimeTypeFilter?.[1] === "=" ? type === mimeTypeFilter[2] : type.startsWith(mimeTypeFilter?.[2] ?? " "),
          )
          .map(({ id }) => ({ id })),
      });
    }
    if (method === "GET" && url.pathname.startsWith("/drive/v3/files/")) {
      const file = files.find(({ id }) => url.pathname.endsWith(`/${id}`));
      if (file === undefined)
        return createJsonResponse({ error: { code: 404, errors: [{ reason: "notFound" }] } }, 404);
      return url.searchParams.get("alt") === "media"
        ? { headers: { "content-type": file.type }, body: file.bytes }
        : createJsonResponse({ name: file.name, size: String(file.bytes.length) });
    }
    if (method === "POST" && url.searchParams.get("uploadType") === "multipart") {
      const boundary = /boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1] ?? "";
      const [, metadataPart = Buffer.alloc(0), contentPart = Buffer.alloc(0)] = splitBuffer(body, `--${boundary}`);
      const { name, mimeType } = JSON.parse(stripPartHeaders(metadataPart).toString()) as {
        name: string;
        mimeType: string;
      };
      files.push({ id: randomUUID(), name, type: mimeType, bytes: stripPartHeaders(contentPart).subarray(0, -2) });
      return createJsonResponse({ id: files.at(-1)?.id });
    }
    if (method === "POST" && url.searchParams.get("uploadType") === "resumable") {
      const { name, mimeType } = JSON.parse(body.toString()) as { name: string; mimeType: string };
      const id = randomUUID();
      sessions.set(id, {
        name,
        type: mimeType,
        total: Number(headers["x-upload-content-length"]),
        received: Buffer.alloc(0),
      });
      return { headers: { location: `${url.origin}/upload/drive/v3/files?uploadType=resumable&upload_id=${id}` } };
    }
    const session = sessions.get(url.searchParams.get("upload_id") ?? "");
    if (method !== "PUT" || session === undefined) return createJsonResponse({}, 404);
    if (!(headers["content-range"] ?? "").startsWith(`bytes ${String(session.received.length)}-`))
      return createJsonResponse({}, 400);
    session.received = Buffer.concat([session.received, body]);
    if (session.received.length < session.total)
      return { status: 308, headers: { range: `bytes=0-${String(session.received.length - 1)}` } };
    files.push({ id: randomUUID(), name: session.name, type: session.type, bytes: session.received });
    return createJsonResponse({ id: files.at(-1)?.id });
  };

  const server = await startDriveServer((request) => {
    const { url } = request;
    if (url.pathname === "/o/oauth2/v2/auth") return authorize(request);
    if (url.pathname === "/picked") {
      files.push(...otherFiles.splice(0, 1));
      return { status: 302, headers: { location: url.searchParams.get("to") ?? "/" } };
    }
    return drive(request);
  });
  return { ...server, files, otherFiles };
}

function splitBuffer(buffer: Buffer, delimiter: string): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let position = 0; ;) {
    const nextPosition = buffer.indexOf(delimiter, position);
    if (nextPosition < 0) return [...parts, buffer.subarray(position)];
    parts.push(buffer.subarray(position, nextPosition));
    position = nextPosition + delimiter.length;
  }
}

function stripPartHeaders(part: Buffer): Buffer {
  return part.subarray(part.indexOf("\r\n\r\n") + 4);
}
