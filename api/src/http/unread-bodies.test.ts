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
 * The agent keeps one connection alive. After a refused call the next one succeeds only if the
 * service drained the refused body, or closed the connection and the agent opened another.
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
  /** Without content-length, in chunks. */
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
  const responsePromise = once(clientRequest, "response") as Promise<[IncomingMessage]>;
  if (chunked)
    for (let offset = 0; offset < body.length; offset += 65_536)
      clientRequest.write(body.subarray(offset, offset + 65_536));
  clientRequest.end(chunked ? undefined : body);
  const [response] = await responsePromise;
  const text = (await buffer(response)).toString();
  return {
    status: response.statusCode ?? 0,
    code: text === "" ? undefined : (JSON.parse(text) as { code?: unknown }).code,
  };
};

const getUserMeStatus = async (): Promise<number> =>
  (await call("/user/me", { method: "GET", body: Buffer.alloc(0) })).status;

const startUpload = async (): Promise<{ path: string; largeContent: ReturnType<typeof buildLargeContent> }> => {
  const largeContent = buildLargeContent();
  const { upload_id: id } = StartUploadResponse.parse(
    (await service.call("POST", "/v2/secrets/secret", person.token, await largeContent.buildStartForm())).body,
  );
  return { path: uploadPath(id), largeContent };
};

/**
 * Builds a part that exceeds the size of part 2 of {@link startUpload}, but not the limit of a
 * call.
 */
const build4MiBPartForm = (partNumber: number): Promise<EncodedForm> => {
  const form = new FormData();
  form.set("part", String(partNumber));
  form.set("sha256", sha256B64u(Buffer.alloc(32)));
  form.set("data", new Blob([Buffer.alloc(4 * 1024 ** 2)]), "part");
  return encodeForm(form);
};

describe("the next call succeeds after a call is refused", () => {
  it("because a part is larger than the upload says", async () => {
    const { path } = await startUpload();
    expect(await call(path, await build4MiBPartForm(2))).toMatchObject({ status: 422 });
    expect(await getUserMeStatus()).toBe(200);
  });

  it("because the part number, a field before the data, is out of range", async () => {
    const { path } = await startUpload();
    expect(await call(path, await build4MiBPartForm(9))).toMatchObject({ status: 422 });
    expect(await getUserMeStatus()).toBe(200);
  });

  it("because there is no session, no such upload, or no such route", async () => {
    const form = await build4MiBPartForm(1);
    expect(await call((await startUpload()).path, { ...form, token: null })).toMatchObject({ status: 401 });
    expect(await getUserMeStatus()).toBe(200);
    expect(await call(uploadPath("01900000-0000-7000-8000-000000000000"), form)).toMatchObject({ status: 404 });
    expect(await getUserMeStatus()).toBe(200);
    expect(await call("/nowhere", form)).toMatchObject({ status: 404 });
    expect(await getUserMeStatus()).toBe(200);
  });

  it("because a file replaces the objects folder", async () => {
    const unwritableService = await startService({}, undefined, { inFolder: true });
    const originalService = service;
    const originalPerson = person;
    try {
      service = unwritableService;
      person = await unwritableService.signIn();
      const { path, largeContent } = await startUpload();
      await rm(unwritableService.objectsFolder, { recursive: true });
      await writeFile(unwritableService.objectsFolder, "no folder");
      expect((await call(path, await largeContent.buildPartForm(1))).status).toBeGreaterThanOrEqual(500);
      expect(await getUserMeStatus()).toBe(200);
    } finally {
      service = originalService;
      person = originalPerson;
      await unwritableService.stop();
    }
  });

  it.each([false, true])("because a JSON body exceeds the limit, chunked: %s", async (chunked) => {
    const jsonOptions = {
      headers: { "content-type": "application/json" },
      body: Buffer.alloc(maxJsonBodyBytes + 1_000_000, " "),
      chunked,
    };
    expect(await call("/secrets/store", jsonOptions)).toMatchObject({ status: 413, code: "payload_too_large" });
    expect(await getUserMeStatus()).toBe(200);
  });

  it("because of an unsupported media type", async () => {
    expect(
      await call("/user/me", { headers: { "content-type": "text/csv" }, body: Buffer.alloc(2 * 1024 ** 2) }),
    ).toMatchObject({ status: 415 });
    expect(await getUserMeStatus()).toBe(200);
  });
});

describe("an unread body", () => {
  it("is read up to the size of the largest call, and no further", async () => {
    const socket = connect(Number(new URL(await service.listen()).port), "127.0.0.1");
    const closePromise = new Promise<void>((resolve) => {
      socket.once("close", () => {
        resolve();
      });
    });
    socket.on("error", () => undefined); // the service closes the connection while chunks are written
    socket.resume();
    socket.write("POST /nowhere HTTP/1.1\r\nhost: service\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1024 ** 2), Buffer.from("\r\n")]);
    let sentBytes = 0;
    while (!socket.destroyed && sentBytes < 2 * maxUnreadBytes) {
      sentBytes += chunk.length;
      if (!socket.write(chunk))
        await new Promise<void>((resolve) => {
          socket.once("drain", resolve);
          void closePromise.then(resolve);
        });
    }
    expect(socket.destroyed).toBe(true);
    expect(sentBytes).toBeGreaterThan(maxUnreadBytes);
  });

  it("is not read when its declared length exceeds the limit", async () => {
    const clientRequest = request(`${await service.listen()}/nowhere`, {
      method: "POST",
      agent,
      headers: { "content-type": "text/csv", "content-length": maxUnreadBytes + 1 },
    });
    clientRequest.on("error", () => undefined);
    clientRequest.flushHeaders();
    const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
    expect(response.headers.connection).toBe("close");
    response.resume();
    clientRequest.destroy();
    expect(await getUserMeStatus()).toBe(200);
  });
});
