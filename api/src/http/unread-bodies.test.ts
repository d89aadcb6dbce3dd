import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";

import { maxJsonBodyBytes, uploadPath, StartUploadResponse } from "@relicario/shared/api";

import type { Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { buildLargeContent, encodeForm, sha256B64u, type EncodedForm } from "../testing/upload.ts";
import { maxUnreadBytes } from "./unread-bodies.ts";

/*
 * One connection, kept alive: the call behind a refused one comes through only when the refused
 * body was taken off it, or the connection was closed and a new one made.
 */

let service: TestService;
let person: Person;
let agent: Agent;
beforeAll(async () => {
  service = await startService();
  person = await service.signIn();
});
afterAll(() => service.stop());
beforeEach(() => {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(() => {
  agent.destroy();
});

interface CallOptions {
  readonly method?: string;
  readonly token?: string | null;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** Without a length, piece by piece. */
  readonly chunked?: boolean;
}

const call = async (
  path: string,
  { method = "POST", token = person.token, headers = {}, body, chunked = false }: CallOptions,
): Promise<{ status: number; code: unknown }> => {
  const clientRequest = request(`${await service.listen()}${path}`, {
    method,
    agent,
    headers: {
      ...headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(chunked ? {} : { "content-length": body.length }),
    },
  });
  const responseReceived = once(clientRequest, "response") as Promise<[IncomingMessage]>;
  if (chunked)
    for (let offset = 0; offset < body.length; offset += 65_536)
      clientRequest.write(body.subarray(offset, offset + 65_536));
  clientRequest.end(chunked ? undefined : body);
  const [response] = await responseReceived;
  const text = (await buffer(response)).toString();
  return {
    status: response.statusCode ?? 0,
    code: text === "" ? undefined : (JSON.parse(text) as { code?: unknown }).code,
  };
};

const callAgain = async (): Promise<number> =>
  (await call("/user/me", { method: "GET", body: Buffer.alloc(0) })).status;

const startUpload = async (bytes?: number): Promise<{ path: string; large: ReturnType<typeof buildLargeContent> }> => {
  const large = buildLargeContent(bytes === undefined ? {} : { bytes });
  const { upload_id: id } = StartUploadResponse.parse(
    (await service.call("POST", "/v2/secrets/secret", person.token, await large.start())).body,
  );
  return { path: uploadPath(id), large };
};

/** A part whose data is longer than the part may be, but whose call is not. */
const buildOversizedPart = (part: number): Promise<EncodedForm> => {
  const form = new FormData();
  form.set("part", String(part));
  form.set("sha256", sha256B64u(Buffer.alloc(32)));
  form.set("data", new Blob([Buffer.alloc(4 * 1024 ** 2)]), "part");
  return encodeForm(form);
};

describe("a refused call leaves the connection to the next one", () => {
  it("when a part is longer than the upload says", async () => {
    const { path } = await startUpload();
    expect(await call(path, await buildOversizedPart(2))).toMatchObject({ status: 422 });
    expect(await callAgain()).toBe(200);
  });

  it("when the fields in front of a part are wrong", async () => {
    const { path } = await startUpload();
    expect(await call(path, await buildOversizedPart(9))).toMatchObject({ status: 422 });
    expect(await callAgain()).toBe(200);
  });

  it("when there is no session, no such upload, or no such route", async () => {
    const form = await buildOversizedPart(1);
    expect(await call((await startUpload()).path, { ...form, token: null })).toMatchObject({ status: 401 });
    expect(await callAgain()).toBe(200);
    expect(await call(uploadPath("01900000-0000-7000-8000-000000000000"), form)).toMatchObject({ status: 404 });
    expect(await callAgain()).toBe(200);
    expect(await call("/nowhere", form)).toMatchObject({ status: 404 });
    expect(await callAgain()).toBe(200);
  });

  it("when the disk does not take a part", async () => {
    const brokenService = await startService();
    const originalService = service;
    const originalPerson = person;
    try {
      service = brokenService;
      person = await brokenService.signIn();
      const { path, large } = await startUpload();
      await rm(brokenService.objectsFolder, { recursive: true });
      await writeFile(brokenService.objectsFolder, "no folder");
      expect((await call(path, await large.part(1))).status).toBeGreaterThanOrEqual(500);
      expect(await callAgain()).toBe(200);
    } finally {
      service = originalService;
      person = originalPerson;
      await brokenService.stop();
    }
  });

  it.each([false, true])("when a JSON body is over the limit, chunked: %s", async (chunked) => {
    const jsonOptions = {
      headers: { "content-type": "application/json" },
      body: Buffer.alloc(maxJsonBodyBytes + 1_000_000, " "),
      chunked,
    };
    expect(await call("/secrets/store", jsonOptions)).toMatchObject({ status: 413, code: "payload_too_large" });
    expect(await callAgain()).toBe(200);
  });

  it("when a body is of a type that nobody reads", async () => {
    expect(
      await call("/user/me", { headers: { "content-type": "text/csv" }, body: Buffer.alloc(2 * 1024 ** 2) }),
    ).toMatchObject({ status: 415 });
    expect(await callAgain()).toBe(200);
  });
});

describe("a body that nobody reads", () => {
  it("is taken in up to the largest that a call may have, and no further", async () => {
    const socket = connect(Number(new URL(await service.listen()).port), "127.0.0.1");
    const connectionClosed = new Promise<void>((resolve) => {
      socket.once("close", () => {
        resolve();
      });
    });
    socket.on("error", () => undefined); // the connection is closed while this is written
    socket.resume();
    socket.write("POST /nowhere HTTP/1.1\r\nhost: service\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1024 ** 2), Buffer.from("\r\n")]);
    let sentBytes = 0;
    while (!socket.destroyed && sentBytes < 2 * maxUnreadBytes) {
      sentBytes += chunk.length;
      if (!socket.write(chunk))
        await new Promise<void>((resolve) => {
          socket.once("drain", resolve);
          void connectionClosed.then(resolve);
        });
    }
    expect(socket.destroyed).toBe(true);
    expect(sentBytes).toBeGreaterThan(maxUnreadBytes);
  });

  it("is not begun with when its length is beyond that", async () => {
    const clientRequest = request(`${await service.listen()}/nowhere`, {
      method: "POST",
      agent,
      headers: { "content-type": "text/csv", "content-length": maxUnreadBytes + 1 },
    });
    clientRequest.on("error", () => undefined);
    clientRequest.flushHeaders();
    const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
    expect(answer.headers.connection).toBe("close");
    answer.resume();
    clientRequest.destroy();
    expect(await callAgain()).toBe(200);
  });
});
