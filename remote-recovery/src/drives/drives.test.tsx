/** @jest-environment node */
import { createHash } from "node:crypto";

import { PortalError } from "@relicario/shared/errors";

import {
  startScriptedServer,
  type ScriptedResponse,
  type ScriptedRequest,
  type ScriptedServer,
} from "../testing/scripted-server.ts";
import type { DriveWindow } from "./drive-window.ts";
import { clearDriveMemory, getToken, hasPictureOn, markPictureOn, clearOnLock } from "./drive-memory.ts";
import type { Drive, DriveProgress } from "./drive.ts";
import { createGoogleDrive, googleChunkBytes } from "./google-drive.ts";
import { createOneDrive, onedriveChunkBytes, onedriveSimpleUploadBytes } from "./onedrive.ts";
import { saveToDrive } from "./save-to-drive.ts";

const scope = "https://www.googleapis.com/auth/drive.file";
let server: ScriptedServer;
let google: Drive;
let onedrive: Drive;
/** URLs that the popup was sent to. */
let visitedUrls: URL[];
let fakePage: EventTarget;
let online: boolean;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  clearDriveMemory();
  server.requests.length = 0;
  visitedUrls = [];
  online = true;
  Object.defineProperty(navigator, "onLine", { configurable: true, get: () => online });
  fakePage = Object.assign(new EventTarget(), { location: { origin: "https://portal.example" } });
  Object.defineProperty(globalThis, "window", { configurable: true, value: fakePage });
  google = createGoogleDrive({
    client_id: "g",
    authorize_url: "https://accounts.example/auth",
    api_origin: server.origin,
  });
  onedrive = createOneDrive({
    client_id: "m",
    authority: `${server.origin}/consumers`,
    graph_url: `${server.origin}/v1.0`,
    picker_url: "https://picker.example/picker",
    content_origins: [server.origin],
  });
});
afterEach(() => {
  Reflect.deleteProperty(globalThis, "window");
});

/** A popup that redirects with these parameters. */
function createFakeWindow(...responses: Readonly<Record<string, string>>[]): () => DriveWindow {
  return () => ({
    getPopup: () => undefined,
    requestAuthorization: (url) => {
      visitedUrls.push(url);
      const response = responses.shift();
      return response === undefined
        ? Promise.reject(new PortalError("cancelled"))
        : Promise.resolve(new URLSearchParams(response));
    },
    postForm: () => Promise.resolve(),
    close: () => undefined,
  });
}
const grantedToken = { access_token: "t", token_type: "Bearer", expires_in: "3599", scope };
const { signal } = new AbortController();
const makeFile = (size: number, name = "kit.html") =>
  new File([new Uint8Array(size).map((_, index) => index % 251)], name, { type: "text/html" });
const getContentRange = (call: ScriptedRequest) => call.headers["content-range"];

async function saveWithProgress(drive: Drive, content: File): Promise<DriveProgress[]> {
  const progressEvents: DriveProgress[] = [];
  await drive.save(content, "t", { signal, onProgress: (progress) => progressEvents.push(progress) });
  return progressEvents;
}

describe("Google Drive", () => {
  it("requests a token in the fragment with only the scope drive.file, and keeps it in memory", async () => {
    await expect(google.getSaveToken(createFakeWindow(grantedToken), signal)).resolves.toBe("t");
    expect(visitedUrls[0]?.origin).toBe("https://accounts.example");
    expect(Object.fromEntries(visitedUrls[0]?.searchParams ?? [])).toEqual({
      client_id: "g",
      redirect_uri: "https://portal.example/drive-answer.html",
      response_type: "token",
      scope,
      include_granted_scopes: "false",
    });
    await expect(google.getSaveToken(createFakeWindow(), signal)).resolves.toBe("t"); // without opening a popup
  });

  it.each([
    ["without the requested scope", { ...grantedToken, scope: "openid" }, "consent_required"],
    ["without a token", { ...grantedToken, access_token: "" }, "bad_answer"],
    ["of another token type", { ...grantedToken, token_type: "MAC" }, "bad_answer"],
  ])("rejects a response %s", async (_, response, code) => {
    await expect(google.getSaveToken(createFakeWindow(response), signal)).rejects.toMatchObject({ code });
    expect(getToken("google")).toBeNull();
  });

  it("sends a small file in one call, with its name", async () => {
    server.script = () => ({ json: { id: "1" } });
    await expect(saveWithProgress(google, makeFile(10, 'a "kit".html'))).resolves.toEqual([{ done: 10, total: 10 }]);
    const [call] = server.requests;
    expect(call).toMatchObject({
      method: "POST",
      path: "/upload/drive/v3/files?uploadType=multipart&fields=id",
      headers: { authorization: "Bearer t" },
    });
    expect(call?.body.toString("latin1")).toContain(JSON.stringify({ name: 'a "kit".html', mimeType: "text/html" }));
    expect(call?.headers.cookie).toBeUndefined();
  });

  it("sends a large file in chunks, with progress", async () => {
    const size = 2 * googleChunkBytes + 5;
    const receivedChunks: Buffer[] = [];
    server.script = ({ method, path, body }): ScriptedResponse => {
      if (method === "POST") return { headers: { location: `${server.origin}${path}&upload_id=1` } };
      receivedChunks.push(body);
      return receivedChunks.length < 3 ? { status: 308 } : { json: { id: "1" } };
    };
    const progressEvents = await saveWithProgress(google, makeFile(size));
    expect(progressEvents).toEqual(
      [googleChunkBytes, 2 * googleChunkBytes, size].map((done) => ({ done, total: size })),
    );
    expect(server.requests.slice(1).map(getContentRange)).toEqual([
      `bytes 0-1048575/${String(size)}`,
      `bytes 1048576-2097151/${String(size)}`,
      `bytes 2097152-2097156/${String(size)}`,
    ]);
    expect(Buffer.concat(receivedChunks).equals(Buffer.from(await makeFile(size).arrayBuffer()))).toBe(true);
  });

  it("sends neither chunk nor token to another origin", async () => {
    server.script = () => ({ headers: { location: "https://evil.example/upload" } });
    await expect(saveWithProgress(google, makeFile(googleChunkBytes + 1))).rejects.toMatchObject({
      code: "bad_answer",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("fetches the file picked in Google's picker, and ignores the code", async () => {
    server.script = ({ path }) =>
      path.includes("alt=media")
        ? { bytes: Buffer.from("a picture"), headers: { "content-type": "image/jpeg" } }
        : { json: { name: "p.jpg", size: "9" } };
    const pickedFile = await google.pickFile(
      createFakeWindow({ code: "c", picked_file_ids: "id/1" }, grantedToken),
      "es",
      {
        signal,
        onProgress: () => undefined,
      },
    );
    expect([pickedFile.name, pickedFile.type, await pickedFile.text()]).toEqual(["p.jpg", "image/jpeg", "a picture"]);
    expect(
      visitedUrls.map(({ searchParams }) => [
        searchParams.get("response_type"),
        searchParams.get("trigger_onepick"),
        searchParams.get("scope"),
      ]),
    ).toEqual([
      ["code", "true", scope],
      ["token", null, scope],
    ]);
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/drive/v3/files/id%2F1?supportsAllDrives=true&fields=name,size",
      "/drive/v3/files/id%2F1?supportsAllDrives=true&alt=media",
    ]);
    expect(server.requests.every(({ path, body }) => !path.includes("c=") && body.length === 0)).toBe(true);
  });

  it("fetches nothing if no file was picked, or if the file is too large", async () => {
    await expect(
      google.pickFile(createFakeWindow({ code: "c", picked_file_ids: "" }), "en", {
        signal,
        onProgress: () => undefined,
      }),
    ).rejects.toMatchObject({ code: "cancelled" });
    server.script = () => ({ json: { name: "p.jpg", size: String(2 ** 40) } });
    await expect(
      google.pickFile(createFakeWindow({ picked_file_ids: "1" }, grantedToken), "en", {
        signal,
        onProgress: () => undefined,
      }),
    ).rejects.toMatchObject({ code: "payload_too_large" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("OneDrive", () => {
  /** Scripts the token endpoint, and `respond` for all other calls. */
  const scriptPlatform = (respond: (call: ScriptedRequest) => ScriptedResponse) => {
    server.script = (call) =>
      call.path === "/consumers/oauth2/v2.0/token"
        ? { json: { access_token: "t", token_type: "Bearer", expires_in: 3600 } }
        : respond(call);
  };

  it("exchanges the code with PKCE, without a client secret", async () => {
    scriptPlatform(() => ({}));
    await expect(onedrive.getSaveToken(createFakeWindow({ code: "c" }), signal)).resolves.toBe("t");
    const challenge = visitedUrls[0]?.searchParams.get("code_challenge");
    const body = Object.fromEntries(new URLSearchParams(server.requests[0]?.body.toString()));
    expect(visitedUrls[0]?.searchParams.get("code_challenge_method")).toBe("S256");
    expect(
      createHash("sha256")
        .update(body["code_verifier"] ?? "")
        .digest("base64url"),
    ).toBe(challenge);
    expect(body).toMatchObject({
      grant_type: "authorization_code",
      code: "c",
      client_id: "m",
      redirect_uri: "https://portal.example/drive-answer.html",
      scope: "https://graph.microsoft.com/Files.ReadWrite.AppFolder",
    });
    expect(body).not.toHaveProperty("client_secret");
  });

  it("saves a small file in the application's folder, without overwriting", async () => {
    server.script = () => ({ status: 201, json: {} });
    await saveWithProgress(onedrive, makeFile(5, "kit #1.html"));
    expect(server.requests[0]).toMatchObject({
      method: "PUT",
      path: "/v1.0/me/drive/special/approot:/kit%20%231.html:/content?@microsoft.graph.conflictBehavior=rename",
      headers: { authorization: "Bearer t" },
    });
  });

  it("sends a large file in chunks of an upload session, without the token", async () => {
    const size = onedriveSimpleUploadBytes + 1;
    const chunkCount = Math.ceil(size / onedriveChunkBytes);
    server.script = ({ method }) =>
      method === "POST"
        ? { json: { uploadUrl: `${server.origin}/session/1` } }
        : { status: server.requests.length - 1 < chunkCount ? 202 : 201, json: {} };
    const progressEvents = await saveWithProgress(onedrive, makeFile(size));
    expect(progressEvents).toHaveLength(chunkCount);
    expect(progressEvents.at(-1)).toEqual({ done: size, total: size });
    expect(server.requests.slice(1).every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(server.requests.slice(1, 2).map(getContentRange)).toEqual([
      `bytes 0-${String(onedriveChunkBytes - 1)}/${String(size)}`,
    ]);
  });

  it("sends nothing to an upload session outside the configured origins", async () => {
    server.script = () => ({ json: { uploadUrl: "https://evil.example/session" } });
    await expect(saveWithProgress(onedrive, makeFile(onedriveSimpleUploadBytes + 1))).rejects.toMatchObject({
      code: "bad_answer",
    });
  });

  it.each([
    ["of the application's folder", { value: [{ file: { mimeType: "image/png" } }] }, "picture", true],
    ["of another kind", { value: [{ file: { mimeType: "text/html; charset=utf-8" } }, {}] }, "picture", false],
  ] as const)("detects whether it contains a kind by the files %s", async (_, json, kind, expected) => {
    server.script = () => ({ json });
    await expect(onedrive.contains(kind, "t", signal)).resolves.toBe(expected);
  });

  it("follows the pages of a list, on the configured origin only", async () => {
    server.script = ({ path }) => ({
      json: path.includes("more")
        ? { value: [{ file: { mimeType: "image/png" } }] }
        : { value: [], "@odata.nextLink": `${server.origin}/v1.0/more` },
    });
    await expect(onedrive.contains("picture", "t", signal)).resolves.toBe(true);
    server.script = () => ({ json: { value: [], "@odata.nextLink": "https://evil.example/v1.0/more" } });
    await expect(onedrive.contains("picture", "t", signal)).rejects.toMatchObject({ code: "bad_answer" });
  });

  it("asks for another popup if the sign-in cut off the first, and keeps the token", async () => {
    scriptPlatform(() => ({}));
    await expect(
      onedrive.pickFile(createFakeWindow({ code: "c" }), "en", { signal, onProgress: () => undefined }),
    ).rejects.toMatchObject({ code: "interaction_required" });
    expect(getToken("onedrive choose")).toBe("t");
  });

  describe("the OneDrive picker", () => {
    const messageChannels: MessageChannel[] = [];
    afterEach(() => {
      for (const { port1, port2 } of messageChannels.splice(0)) {
        port1.close();
        port2.close();
      }
    });

    /** A popup that acts as Microsoft's picker and sends these commands. */
    function createFakePicker(
      messages: unknown[],
      commands: readonly unknown[],
      { channel = (requestedChannelId: string) => requestedChannelId, origin = "https://picker.example" } = {},
    ): () => DriveWindow {
      const handle = {} as Window;
      return () => ({
        ...createFakeWindow({ code: "c" })(),
        getPopup: () => handle,
        postForm: (url, fields) => {
          messages.push({ address: url.split("?")[0], fields });
          const { messaging } = JSON.parse(new URL(url).searchParams.get("filePicker") ?? "") as {
            messaging: { channelId: string };
          };
          const messageChannel = new MessageChannel();
          messageChannels.push(messageChannel);
          messageChannel.port1.onmessage = ({ data }: MessageEvent<{ type: string }>) => {
            messages.push(data);
            if (data.type === "activate")
              commands.forEach((command, index) => {
                messageChannel.port1.postMessage({ type: "command", id: String(index), data: command });
              });
          };
          const send = (channelId: string) =>
            fakePage.dispatchEvent(
              Object.assign(new Event("message"), {
                source: handle,
                origin,
                data: { type: "initialize", channelId },
                ports: [messageChannel.port2],
              }),
            );
          send(channel(messaging.channelId));
          return Promise.resolve();
        },
      });
    }
    const makeItem = (endpoint: string) => ({
      id: "i",
      name: "p.jpg",
      parentReference: { driveId: "d" },
      "@sharePoint.endpoint": endpoint,
    });

    it("receives the token and returns the picked file", async () => {
      const messages: unknown[] = [];
      scriptPlatform(({ path }) =>
        path === "/bytes"
          ? { bytes: Buffer.from("a picture") }
          : { json: { name: "p.jpg", size: 9, "@content.downloadUrl": `${server.origin}/bytes` } },
      );
      const commands = [
        { command: "authenticate" },
        { command: "dance" },
        { command: "pick", items: [makeItem(`${server.origin}/_api/v2.0`)] },
      ];
      const pickedFile = await onedrive.pickFile(createFakePicker(messages, commands), "es", {
        signal,
        onProgress: () => undefined,
      });
      expect([pickedFile.name, await pickedFile.text()]).toEqual(["p.jpg", "a picture"]);
      expect(messages[0]).toEqual({ address: "https://picker.example/picker", fields: { access_token: "t" } });
      expect(server.requests.slice(1).map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ["/_api/v2.0/drives/d/items/i", "Bearer t"],
        ["/bytes", undefined],
      ]);
    });

    it.each([
      ["was closed", [{ command: "close" }], "cancelled"],
      [
        "names two files",
        [{ command: "pick", items: [makeItem("https://a.example"), makeItem("https://a.example")] }],
        "bad_answer",
      ],
      [
        "names a server that is not configured",
        [{ command: "pick", items: [makeItem("https://evil.example/v2.0")] }],
        "bad_answer",
      ],
    ])("causes no download when it %s", async (_, commands, code) => {
      scriptPlatform(() => ({ json: {} }));
      await expect(
        onedrive.pickFile(createFakePicker([], commands), "en", { signal, onProgress: () => undefined }),
      ).rejects.toMatchObject({ code });
      expect(server.requests).toHaveLength(1);
    });

    it("may run at a content origin", async () => {
      const messages: unknown[] = [];
      scriptPlatform(() => ({ json: {} }));
      await expect(
        onedrive.pickFile(createFakePicker(messages, [{ command: "close" }], { origin: server.origin }), "en", {
          signal,
          onProgress: () => undefined,
        }),
      ).rejects.toMatchObject({ code: "cancelled" });
      expect(messages).toContainEqual({ type: "activate" });
    });

    it.each([
      ["under another channel", { channel: () => "guessed" }],
      ["at an origin that the deployment does not name", { origin: "https://evil.example" }],
    ])("is not trusted %s", async (_, pickerOptions) => {
      const messages: unknown[] = [];
      scriptPlatform(() => ({}));
      const controller = new AbortController();
      const pickPromise = onedrive.pickFile(
        createFakePicker(messages, [{ command: "authenticate" }], pickerOptions),
        "en",
        {
          signal: controller.signal,
          onProgress: () => undefined,
        },
      );
      setImmediate(() => {
        controller.abort();
      });
      await expect(pickPromise).rejects.toMatchObject({ code: "cancelled" });
      expect(messages).not.toContainEqual({ type: "activate" });
    });
  });
});

describe("a drive whose calls fail", () => {
  it.each<[string, ScriptedResponse, string]>([
    [
      "is full (Google)",
      { status: 403, json: { error: { code: 403, errors: [{ reason: "storageQuotaExceeded" }] } } },
      "quota_exceeded",
    ],
    ["is full (Graph)", { status: 507, json: { error: { code: "quotaLimitReached" } } }, "quota_exceeded"],
    ["rejects the token", { status: 401 }, "login_required"],
    ["forbids the call", { status: 403, json: {} }, "forbidden"],
    ["has no such file", { status: 404 }, "not_found"],
    ["is busy", { status: 429 }, "service_unavailable"],
    ["is broken", { status: 503, bytes: Buffer.from("<html>") }, "service_unavailable"],
    ["breaks the connection", { cutConnection: true, headers: { "content-length": "100" } }, "service_unavailable"],
    ["answers no JSON", { bytes: Buffer.from("not json") }, "bad_answer"],
  ])("%s", async (_, response, code) => {
    server.script = () => response;
    await expect(google.contains("kit", "t", signal)).rejects.toMatchObject({ code });
  });

  it("deletes a rejected token", async () => {
    await google.getSaveToken(createFakeWindow(grantedToken), signal);
    server.script = () => ({ status: 401 });
    await expect(google.contains("kit", "t", signal)).rejects.toMatchObject({ code: "login_required" });
    expect(getToken("google")).toBeNull();
  });

  it("reports the service as unavailable, or the device as offline", async () => {
    const unreachableDrive = createGoogleDrive({
      client_id: "g",
      authorize_url: "https://a.example",
      api_origin: "http://127.0.0.1:1",
    });
    await expect(unreachableDrive.contains("kit", "t", signal)).rejects.toMatchObject({ code: "service_unavailable" });
    online = false;
    await expect(unreachableDrive.contains("kit", "t", signal)).rejects.toMatchObject({ code: "offline" });
  });

  it("rejects as cancelled on abort", async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(google.contains("kit", "t", controller.signal)).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("saveToDrive", () => {
  const files = [makeFile(3), makeFile(4, "large.age")];
  function makeFakeDrive(contains: boolean): { readonly drive: Drive; readonly savedNames: string[] } {
    const savedNames: string[] = [];
    return {
      savedNames,
      drive: {
        name: "google",
        getSaveToken: () => Promise.resolve("t"),
        contains: () => Promise.resolve(contains),
        save: ({ name, size }, _token, { onProgress }) => {
          savedNames.push(name);
          onProgress({ done: size, total: size });
          return Promise.resolve();
        },
        pickFile: () => Promise.reject(new PortalError("unknown")),
      },
    };
  }
  const makeOptions = (confirm: boolean, progressEvents: DriveProgress[] = []) => {
    const confirmSameDrive = jest.fn(() => Promise.resolve(confirm));
    return {
      openWindow: createFakeWindow(),
      signal,
      onProgress: (progress: DriveProgress) => progressEvents.push(progress),
      confirmSameDrive,
    };
  };

  it("saves a kit and its attachments with one progress", async () => {
    const { drive, savedNames } = makeFakeDrive(false);
    const progressEvents: DriveProgress[] = [];
    const options = makeOptions(true, progressEvents);
    await expect(saveToDrive(drive, "kit", files, options)).resolves.toBe(true);
    expect(savedNames).toEqual(["kit.html", "large.age"]);
    expect(progressEvents).toEqual([
      { done: 0, total: 0 },
      { done: 3, total: 7 },
      { done: 7, total: 7 },
    ]);
    expect(options.confirmSameDrive).not.toHaveBeenCalled();
  });

  it.each([
    ["a kit where a picture was saved", "kit", true, false],
    ["a picture where a kit was saved", "picture", true, false],
    ["a kit where the picture was fetched from", "kit", false, true],
  ] as const)(
    "warns of %s before it saves, and saves nothing if declined",
    async (_, kind, contains, pictureFetched) => {
      const { drive, savedNames } = makeFakeDrive(contains);
      if (pictureFetched) markPictureOn("google");
      const refusingOptions = makeOptions(false);
      await expect(saveToDrive(drive, kind, files, refusingOptions)).resolves.toBe(false);
      expect(refusingOptions.confirmSameDrive).toHaveBeenCalledTimes(1);
      expect(savedNames).toEqual([]);
      await expect(saveToDrive(drive, kind, files, makeOptions(true))).resolves.toBe(true);
      expect(savedNames).toHaveLength(2);
    },
  );

  it("remembers until lock which drive has a picture", async () => {
    let lock: () => void = () => undefined;
    clearOnLock({
      onLock: (listener) => {
        lock = () => {
          void listener("lock");
        };
        return () => undefined;
      },
    });
    await saveToDrive(makeFakeDrive(false).drive, "picture", files, makeOptions(true));
    expect(hasPictureOn("google")).toBe(true);
    lock();
    expect(hasPictureOn("google")).toBe(false);
  });
});
