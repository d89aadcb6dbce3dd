/** @jest-environment node */
import { createHash } from "node:crypto";

import { PortalError } from "@relicario/shared/errors";

import {
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedServer,
} from "../testing/scripted-server.ts";
import type { DriveWindow } from "./drive-window.ts";
import { forgetDrives, getToken, hasPictureOn, notePictureOn, rememberUntilLock } from "./drive-memory.ts";
import type { Drive, DriveProgress } from "./drive.ts";
import { googleDrive, googlePieceBytes } from "./google-drive.ts";
import { oneDrive, onedrivePieceBytes, onedriveSimpleBytes } from "./onedrive.ts";
import { saveToDrive } from "./save-to-drive.ts";

const scope = "https://www.googleapis.com/auth/drive.file";
let server: ScriptedServer;
let google: Drive;
let onedrive: Drive;
/** Addresses that the window was sent to. */
let asked: URL[];
let page: EventTarget;
let online: boolean;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  forgetDrives();
  server.calls.length = 0;
  asked = [];
  online = true;
  Object.defineProperty(navigator, "onLine", { configurable: true, get: () => online });
  page = Object.assign(new EventTarget(), { location: { origin: "https://portal.example" } });
  Object.defineProperty(globalThis, "window", { configurable: true, value: page });
  google = googleDrive({ client_id: "g", authorize_url: "https://accounts.example/auth", api_origin: server.origin });
  onedrive = oneDrive({
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

/** A window in which the person answers so. */
function windowThat(...answers: Readonly<Record<string, string>>[]): () => DriveWindow {
  return () => ({
    handle: () => undefined,
    ask: (address) => {
      asked.push(address);
      const answer = answers.shift();
      return answer === undefined
        ? Promise.reject(new PortalError("cancelled"))
        : Promise.resolve(new URLSearchParams(answer));
    },
    post: () => Promise.resolve(),
    close: () => undefined,
  });
}
const allowed = { access_token: "t", token_type: "Bearer", expires_in: "3599", scope };
const { signal } = new AbortController();
const file = (size: number, name = "kit.html") =>
  new File([new Uint8Array(size).map((_, at) => at % 251)], name, { type: "text/html" });
const range = (call: ScriptedCall) => call.headers["content-range"];

async function save(drive: Drive, content: File): Promise<DriveProgress[]> {
  const told: DriveProgress[] = [];
  await drive.save(content, "t", { signal, onProgress: (progress) => told.push(progress) });
  return told;
}

describe("Google Drive", () => {
  it("asks for a token in the fragment, for its own files and no more, and keeps it in memory", async () => {
    await expect(google.tokenForSaving(windowThat(allowed), signal)).resolves.toBe("t");
    expect(asked[0]?.origin).toBe("https://accounts.example");
    expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({
      client_id: "g",
      redirect_uri: "https://portal.example/drive-answer.html",
      response_type: "token",
      scope,
      include_granted_scopes: "false",
    });
    await expect(google.tokenForSaving(windowThat(), signal)).resolves.toBe("t"); // no window
  });

  it.each([
    ["without what was asked for", { ...allowed, scope: "openid" }, "consent_required"],
    ["without a token", { ...allowed, access_token: "" }, "bad_answer"],
    ["of another kind", { ...allowed, token_type: "MAC" }, "bad_answer"],
  ])("takes no answer %s", async (_, answer, code) => {
    await expect(google.tokenForSaving(windowThat(answer), signal)).rejects.toMatchObject({ code });
    expect(getToken("google")).toBeNull();
  });

  it("sends a small file in one call, with its name", async () => {
    server.script = () => ({ json: { id: "1" } });
    await expect(save(google, file(10, 'a "kit".html'))).resolves.toEqual([{ done: 10, total: 10 }]);
    const [call] = server.calls;
    expect(call).toMatchObject({
      method: "POST",
      path: "/upload/drive/v3/files?uploadType=multipart&fields=id",
      headers: { authorization: "Bearer t" },
    });
    expect(call?.body.toString("latin1")).toContain(JSON.stringify({ name: 'a "kit".html', mimeType: "text/html" }));
    expect(call?.headers.cookie).toBeUndefined();
  });

  it("sends a large one in pieces, and tells how far it is", async () => {
    const size = 2 * googlePieceBytes + 5;
    const got: Buffer[] = [];
    server.script = ({ method, path, body }): ScriptedAnswer => {
      if (method === "POST") return { headers: { location: `${server.origin}${path}&upload_id=1` } };
      got.push(body);
      return got.length < 3 ? { status: 308 } : { json: { id: "1" } };
    };
    const told = await save(google, file(size));
    expect(told).toEqual([googlePieceBytes, 2 * googlePieceBytes, size].map((done) => ({ done, total: size })));
    expect(server.calls.slice(1).map(range)).toEqual([
      `bytes 0-1048575/${String(size)}`,
      `bytes 1048576-2097151/${String(size)}`,
      `bytes 2097152-2097156/${String(size)}`,
    ]);
    expect(Buffer.concat(got).equals(Buffer.from(await file(size).arrayBuffer()))).toBe(true);
  });

  it("gives no piece and no token to an address of somebody else", async () => {
    server.script = () => ({ headers: { location: "https://evil.example/upload" } });
    await expect(save(google, file(googlePieceBytes + 1))).rejects.toMatchObject({ code: "bad_answer" });
    expect(server.calls).toHaveLength(1);
  });

  it("takes the file that was chosen in Google's picker, and leaves the code", async () => {
    server.script = ({ path }) =>
      path.includes("alt=media")
        ? { bytes: Buffer.from("a picture"), headers: { "content-type": "image/jpeg" } }
        : { json: { name: "p.jpg", size: "9" } };
    const picked = await google.choose(windowThat({ code: "c", picked_file_ids: "id/1" }, allowed), "es", {
      signal,
      onProgress: () => undefined,
    });
    expect([picked.name, picked.type, await picked.text()]).toEqual(["p.jpg", "image/jpeg", "a picture"]);
    expect(
      asked.map(({ searchParams }) => [
        searchParams.get("response_type"),
        searchParams.get("trigger_onepick"),
        searchParams.get("scope"),
      ]),
    ).toEqual([
      ["code", "true", scope],
      ["token", null, scope],
    ]);
    expect(server.calls.map(({ path }) => path)).toEqual([
      "/drive/v3/files/id%2F1?supportsAllDrives=true&fields=name,size",
      "/drive/v3/files/id%2F1?supportsAllDrives=true&alt=media",
    ]);
    expect(server.calls.every(({ path, body }) => !path.includes("c=") && body.length === 0)).toBe(true);
  });

  it("fetches nothing when nothing was chosen, or when it is too large", async () => {
    await expect(
      google.choose(windowThat({ code: "c", picked_file_ids: "" }), "en", { signal, onProgress: () => undefined }),
    ).rejects.toMatchObject({ code: "cancelled" });
    server.script = () => ({ json: { name: "p.jpg", size: String(2 ** 40) } });
    await expect(
      google.choose(windowThat({ picked_file_ids: "1" }, allowed), "en", { signal, onProgress: () => undefined }),
    ).rejects.toMatchObject({ code: "payload_too_large" });
    expect(server.calls).toHaveLength(1);
  });
});

describe("OneDrive", () => {
  /** Answers of the identity platform, and what follows. */
  const platform = (then: (call: ScriptedCall) => ScriptedAnswer) => {
    server.script = (call) =>
      call.path === "/consumers/oauth2/v2.0/token"
        ? { json: { access_token: "t", token_type: "Bearer", expires_in: 3600 } }
        : then(call);
  };

  it("redeems the code with its proof, and no secret", async () => {
    platform(() => ({}));
    await expect(onedrive.tokenForSaving(windowThat({ code: "c" }), signal)).resolves.toBe("t");
    const challenge = asked[0]?.searchParams.get("code_challenge");
    const body = Object.fromEntries(new URLSearchParams(server.calls[0]?.body.toString()));
    expect(asked[0]?.searchParams.get("code_challenge_method")).toBe("S256");
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

  it("puts a small file into the folder of the application, beside one of the same name", async () => {
    server.script = () => ({ status: 201, json: {} });
    await save(onedrive, file(5, "kit #1.html"));
    expect(server.calls[0]).toMatchObject({
      method: "PUT",
      path: "/v1.0/me/drive/special/approot:/kit%20%231.html:/content?@microsoft.graph.conflictBehavior=rename",
      headers: { authorization: "Bearer t" },
    });
  });

  it("sends a large one in pieces of a session, without the token", async () => {
    const size = onedriveSimpleBytes + 1;
    const pieces = Math.ceil(size / onedrivePieceBytes);
    server.script = ({ method }) =>
      method === "POST"
        ? { json: { uploadUrl: `${server.origin}/session/1` } }
        : { status: server.calls.length - 1 < pieces ? 202 : 201, json: {} };
    const told = await save(onedrive, file(size));
    expect(told).toHaveLength(pieces);
    expect(told.at(-1)).toEqual({ done: size, total: size });
    expect(server.calls.slice(1).every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(server.calls.slice(1, 2).map(range)).toEqual([`bytes 0-${String(onedrivePieceBytes - 1)}/${String(size)}`]);
  });

  it("sends nothing to a session outside of the configured origins", async () => {
    server.script = () => ({ json: { uploadUrl: "https://evil.example/session" } });
    await expect(save(onedrive, file(onedriveSimpleBytes + 1))).rejects.toMatchObject({ code: "bad_answer" });
  });

  it.each([
    ["of the application's folder", { value: [{ file: { mimeType: "image/png" } }] }, "picture", true],
    ["of another kind", { value: [{ file: { mimeType: "text/html; charset=utf-8" } }, {}] }, "picture", false],
  ] as const)("tells by the files %s what lies there", async (_, json, kind, there) => {
    server.script = () => ({ json });
    await expect(onedrive.holds(kind, "t", signal)).resolves.toBe(there);
  });

  it("follows the list to its end, on its own server alone", async () => {
    server.script = ({ path }) => ({
      json: path.includes("more")
        ? { value: [{ file: { mimeType: "image/png" } }] }
        : { value: [], "@odata.nextLink": `${server.origin}/v1.0/more` },
    });
    await expect(onedrive.holds("picture", "t", signal)).resolves.toBe(true);
    server.script = () => ({ json: { value: [], "@odata.nextLink": "https://evil.example/v1.0/more" } });
    await expect(onedrive.holds("picture", "t", signal)).rejects.toMatchObject({ code: "bad_answer" });
  });

  it("asks for the window once more when the sign-in cut it off, and has the token by then", async () => {
    platform(() => ({}));
    await expect(
      onedrive.choose(windowThat({ code: "c" }), "en", { signal, onProgress: () => undefined }),
    ).rejects.toMatchObject({ code: "interaction_required" });
    expect(getToken("onedrive choose")).toBe("t");
  });

  describe("its picker", () => {
    const pickers: MessageChannel[] = [];
    afterEach(() => {
      for (const { port1, port2 } of pickers.splice(0)) {
        port1.close();
        port2.close();
      }
    });

    /** A window whose page behaves as Microsoft's picker, and then sends these commands. */
    function pickerThat(
      told: unknown[],
      commands: readonly unknown[],
      { channel = (own: string) => own, origin = "https://picker.example" } = {},
    ): () => DriveWindow {
      const handle = {} as Window;
      return () => ({
        ...windowThat({ code: "c" })(),
        handle: () => handle,
        post: (address, fields) => {
          told.push({ address: address.split("?")[0], fields });
          const { messaging } = JSON.parse(new URL(address).searchParams.get("filePicker") ?? "") as {
            messaging: { channelId: string };
          };
          const ports = new MessageChannel();
          pickers.push(ports);
          ports.port1.onmessage = ({ data }: MessageEvent<{ type: string }>) => {
            told.push(data);
            if (data.type === "activate")
              commands.forEach((command, at) => {
                ports.port1.postMessage({ type: "command", id: String(at), data: command });
              });
          };
          const send = (channelId: string) =>
            page.dispatchEvent(
              Object.assign(new Event("message"), {
                source: handle,
                origin,
                data: { type: "initialize", channelId },
                ports: [ports.port2],
              }),
            );
          send(channel(messaging.channelId));
          return Promise.resolve();
        },
      });
    }
    const item = (endpoint: string) => ({
      id: "i",
      name: "p.jpg",
      parentReference: { driveId: "d" },
      "@sharePoint.endpoint": endpoint,
    });

    it("gets the token, and the file that was chosen is fetched", async () => {
      const told: unknown[] = [];
      platform(({ path }) =>
        path === "/bytes"
          ? { bytes: Buffer.from("a picture") }
          : { json: { name: "p.jpg", size: 9, "@content.downloadUrl": `${server.origin}/bytes` } },
      );
      const commands = [
        { command: "authenticate" },
        { command: "dance" },
        { command: "pick", items: [item(`${server.origin}/_api/v2.0`)] },
      ];
      const picked = await onedrive.choose(pickerThat(told, commands), "es", { signal, onProgress: () => undefined });
      expect([picked.name, await picked.text()]).toEqual(["p.jpg", "a picture"]);
      expect(told[0]).toEqual({ address: "https://picker.example/picker", fields: { access_token: "t" } });
      expect(server.calls.slice(1).map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ["/_api/v2.0/drives/d/items/i", "Bearer t"],
        ["/bytes", undefined],
      ]);
    });

    it.each([
      ["was closed", [{ command: "close" }], "cancelled"],
      [
        "names two files",
        [{ command: "pick", items: [item("https://a.example"), item("https://a.example")] }],
        "bad_answer",
      ],
      [
        "names a server that is not configured",
        [{ command: "pick", items: [item("https://evil.example/v2.0")] }],
        "bad_answer",
      ],
    ])("fetches nothing when it %s", async (_, commands, code) => {
      platform(() => ({ json: {} }));
      await expect(
        onedrive.choose(pickerThat([], commands), "en", { signal, onProgress: () => undefined }),
      ).rejects.toMatchObject({ code });
      expect(server.calls).toHaveLength(1);
    });

    it("may stand where contents are, since it moves with the account", async () => {
      const told: unknown[] = [];
      platform(() => ({ json: {} }));
      await expect(
        onedrive.choose(pickerThat(told, [{ command: "close" }], { origin: server.origin }), "en", {
          signal,
          onProgress: () => undefined,
        }),
      ).rejects.toMatchObject({ code: "cancelled" });
      expect(told).toContainEqual({ type: "activate" });
    });

    it.each([
      ["under another channel", { channel: () => "guessed" }],
      ["at an origin that the deployment does not name", { origin: "https://evil.example" }],
    ])("is not believed %s", async (_, other) => {
      const told: unknown[] = [];
      platform(() => ({}));
      const own = new AbortController();
      const choosing = onedrive.choose(pickerThat(told, [{ command: "authenticate" }], other), "en", {
        signal: own.signal,
        onProgress: () => undefined,
      });
      setImmediate(() => {
        own.abort();
      });
      await expect(choosing).rejects.toMatchObject({ code: "cancelled" });
      expect(told).not.toContainEqual({ type: "activate" });
    });
  });
});

describe("a drive that does not do it", () => {
  it.each<[string, ScriptedAnswer, string]>([
    [
      "is full (Google)",
      { status: 403, json: { error: { code: 403, errors: [{ reason: "storageQuotaExceeded" }] } } },
      "quota_exceeded",
    ],
    ["is full (Graph)", { status: 507, json: { error: { code: "quotaLimitReached" } } }, "quota_exceeded"],
    ["takes the token no more", { status: 401 }, "login_required"],
    ["forbids it", { status: 403, json: {} }, "forbidden"],
    ["has no such file", { status: 404 }, "not_found"],
    ["is busy", { status: 429 }, "service_unavailable"],
    ["is broken", { status: 503, bytes: Buffer.from("<html>") }, "service_unavailable"],
    ["breaks the connection", { cut: true, headers: { "content-length": "100" } }, "service_unavailable"],
    ["says something else", { bytes: Buffer.from("not json") }, "bad_answer"],
  ])("%s", async (_, answer, code) => {
    server.script = () => answer;
    await expect(google.holds("kit", "t", signal)).rejects.toMatchObject({ code });
  });

  it("is asked with a new token after it refused one", async () => {
    await google.tokenForSaving(windowThat(allowed), signal);
    server.script = () => ({ status: 401 });
    await expect(google.holds("kit", "t", signal)).rejects.toMatchObject({ code: "login_required" });
    expect(getToken("google")).toBeNull();
  });

  it("is told apart from a device without network", async () => {
    const nowhere = googleDrive({
      client_id: "g",
      authorize_url: "https://a.example",
      api_origin: "http://127.0.0.1:1",
    });
    await expect(nowhere.holds("kit", "t", signal)).rejects.toMatchObject({ code: "service_unavailable" });
    online = false;
    await expect(nowhere.holds("kit", "t", signal)).rejects.toMatchObject({ code: "offline" });
  });

  it("is left when the person gives up", async () => {
    const own = new AbortController();
    own.abort();
    await expect(google.holds("kit", "t", own.signal)).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("saveToDrive", () => {
  const files = [file(3), file(4, "large.age")];
  function drive(holds: boolean): { readonly drive: Drive; readonly saved: string[] } {
    const saved: string[] = [];
    return {
      saved,
      drive: {
        name: "google",
        tokenForSaving: () => Promise.resolve("t"),
        holds: () => Promise.resolve(holds),
        save: ({ name, size }, _token, { onProgress }) => {
          saved.push(name);
          onProgress({ done: size, total: size });
          return Promise.resolve();
        },
        choose: () => Promise.reject(new PortalError("unknown")),
      },
    };
  }
  const tools = (confirm: boolean, told: DriveProgress[] = []) => {
    const confirmBeside = jest.fn(() => Promise.resolve(confirm));
    return { open: windowThat(), signal, onProgress: (progress: DriveProgress) => told.push(progress), confirmBeside };
  };

  it("saves a kit and what belongs beside it, with one progress", async () => {
    const { drive: one, saved } = drive(false);
    const told: DriveProgress[] = [];
    const asking = tools(true, told);
    await expect(saveToDrive(one, "kit", files, asking)).resolves.toBe(true);
    expect(saved).toEqual(["kit.html", "large.age"]);
    expect(told).toEqual([
      { done: 0, total: 0 },
      { done: 3, total: 7 },
      { done: 7, total: 7 },
    ]);
    expect(asking.confirmBeside).not.toHaveBeenCalled();
  });

  it.each([
    ["a kit where a picture was saved", "kit", true, false],
    ["a picture where a kit was saved", "picture", true, false],
    ["a kit where the picture was fetched from", "kit", false, true],
  ] as const)("warns first of %s, and saves nothing against a no", async (_, kind, holds, fetched) => {
    const { drive: one, saved } = drive(holds);
    if (fetched) notePictureOn("google");
    const no = tools(false);
    await expect(saveToDrive(one, kind, files, no)).resolves.toBe(false);
    expect(no.confirmBeside).toHaveBeenCalledTimes(1);
    expect(saved).toEqual([]);
    await expect(saveToDrive(one, kind, files, tools(true))).resolves.toBe(true);
    expect(saved).toHaveLength(2);
  });

  it("remembers where a picture was put, until the portal locks", async () => {
    let lock: () => void = () => undefined;
    rememberUntilLock({
      onLock: (listener) => {
        lock = () => {
          void listener("lock");
        };
        return () => undefined;
      },
    });
    await saveToDrive(drive(false).drive, "picture", files, tools(true));
    expect(hasPictureOn("google")).toBe(true);
    lock();
    expect(hasPictureOn("google")).toBe(false);
  });
});
