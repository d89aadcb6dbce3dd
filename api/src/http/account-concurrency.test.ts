import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { downloadPath, uploadPath } from "@relicario/shared/api";
import { Client } from "pg";

import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../testing/upload.ts";
import { createAccountConcurrency, maxCallsInFlight, maxDownloadsInFlight } from "./account-concurrency.ts";

let service: TestService;
let busyAccount: { readonly person: Person; readonly secretId: string };
let otherPerson: Person;
/** Locks the account's row from outside, as a slow call of another process would. */
let lockHolder: Client;

beforeAll(async () => {
  service = await startService();
  const [person, secondPerson] = [await service.signIn(), await service.signIn()];
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  busyAccount = { person, secretId: body.secret_db_id };
  otherPerson = secondPerson;
  lockHolder = new Client({ connectionString: service.database.url });
  await lockHolder.connect();
});
afterAll(async () => {
  await lockHolder.end();
  await service.stop();
});

const setFavorite = (favorite: boolean): Promise<TestResponse> =>
  service.call("PATCH", "/secrets/favorite", busyAccount.person.token, {
    body: { secret_db_id: busyAccount.secretId, favorite },
  });

const withHeldRow = async (task: () => Promise<void>): Promise<void> => {
  await lockHolder.query("begin");
  await lockHolder.query("select 1 from accounts where id = $1 for update", [busyAccount.person.userId]);
  try {
    await task();
  } finally {
    await lockHolder.query("rollback");
  }
};

describe("concurrent calls of one account", () => {
  it("leave the database to others while they wait for the account's row", async () => {
    const writes: Promise<TestResponse>[] = [];
    await withHeldRow(async () => {
      writes.push(...Array.from({ length: maxCallsInFlight }, (_, index) => setFavorite(index % 2 === 0)));
      expect(await service.call("GET", "/secrets/store", otherPerson.token)).toMatchObject({ status: 200 });
      expect(
        await service.call("POST", "/user/me", otherPerson.token, { body: { user_name: "somebody.else" } }),
      ).toMatchObject({ status: 200 });
    });
    expect(new Set((await Promise.all(writes)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("are answered too_many_requests with Retry-After beyond the limit", async () => {
    const writes: Promise<TestResponse>[] = [];
    await withHeldRow(async () => {
      writes.push(...Array.from({ length: maxCallsInFlight + 5 }, () => setFavorite(true)));
      expect(await Promise.race(writes)).toMatchObject({
        status: 429,
        headers: { "retry-after": "1" },
        body: { code: "too_many_requests" },
      });
    });
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    expect(statuses.filter((status) => status === 200)).toHaveLength(maxCallsInFlight);
    expect(await setFavorite(false)).toMatchObject({ status: 200 });
  });

  it("free their place when the caller disconnects", async () => {
    const address = await service.listen();
    const abortController = new AbortController();
    await withHeldRow(async () => {
      const calls = Array.from({ length: 2 * maxCallsInFlight }, () =>
        fetch(`${address}/secrets/favorite`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${busyAccount.person.token}`, "content-type": "application/json" },
          body: JSON.stringify({ secret_db_id: busyAccount.secretId, favorite: true }),
          signal: abortController.signal,
        }).catch(() => null),
      );
      // Twice the limit, since each call below takes a place for a moment.
      const getMe = async () => {
        // a refusal is instant: repeating at once would block the other sockets
        await yieldToEventLoop();
        return service.call("GET", "/user/me", busyAccount.person.token);
      };
      while ((await getMe()).status === 200);
      abortController.abort();
      await Promise.all(calls);
      while ((await getMe()).status !== 200);
    });
    expect(await setFavorite(false)).toMatchObject({ status: 200 });
  });
});

describe("concurrent downloads of one account", () => {
  let address: string;
  let largeContent: LargeContent;
  beforeAll(async () => {
    address = await service.listen();
    const { person } = busyAccount;
    largeContent = buildLargeContent({ bytes: 20 * 1024 ** 2 }); // more than the buffers of a connection hold
    const { body: startedUpload } = await service.call(
      "POST",
      "/v2/secrets/secret",
      person.token,
      await largeContent.buildStartForm(),
    );
    for (const index of largeContent.parts.keys())
      await service.call(
        "POST",
        uploadPath(String(startedUpload["upload_id"])),
        person.token,
        await largeContent.buildPartForm(index + 1),
      );
    const finishBody = buildFinish(person, largeContent);
    expect(
      await service.call("PUT", uploadPath(String(startedUpload["upload_id"])), person.token, { body: finishBody }),
    ).toMatchObject({ status: 200 });
    confirmChange(person, finishBody.keyring);
  });
  afterEach(() => jest.restoreAllMocks());

  const download = (signal?: AbortSignal) =>
    fetch(`${address}${downloadPath}`, {
      method: "POST",
      headers: { authorization: `Bearer ${busyAccount.person.token}`, "content-type": "application/json" },
      body: JSON.stringify({ secret_db_id: largeContent.id }),
      ...(signal === undefined ? {} : { signal }),
    });

  it("are limited, count once when run again, and are answered too_many_requests until one has ended", async () => {
    const abortController = new AbortController();
    jest
      .spyOn(service.app.services.objects, "read")
      .mockRejectedValueOnce(Object.assign(new Error("lost"), { code: "ECONNRESET" }));
    const unreadDownloads = await Promise.all(
      Array.from({ length: maxDownloadsInFlight }, () => download(abortController.signal)),
    );
    expect(new Set(unreadDownloads.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await download()).status).toBe(429);
    abortController.abort();
    let lastDownload = await download();
    while (lastDownload.status === 429) lastDownload = await download();
    expect(Buffer.from(await lastDownload.arrayBuffer()).equals(largeContent.content)).toBe(true);
  });

  it("close the stored object when the caller disconnected before it was opened", async () => {
    const abortController = new AbortController();
    const { objects } = service.app.services;
    const originalRead = objects.read.bind(objects);
    const streamClosed = new Promise<void>((resolve) => {
      jest.spyOn(objects, "read").mockImplementationOnce(async (key) => {
        abortController.abort();
        const callerLeft = once(service.app.http.server, "left");
        await callerLeft;
        const stream = await originalRead(key);
        stream.once("close", resolve);
        return stream;
      });
    });
    service.app.http.server.once("request", (_call, response: ServerResponse) =>
      response.once("close", () => service.app.http.server.emit("left")),
    );
    await expect(download(abortController.signal)).rejects.toThrow("aborted");
    await streamClosed;
  });
});

describe("admitCall", () => {
  it("adds one listener to a response, and counts no call whose caller has left", () => {
    const { admitCall, admitDownload } = createAccountConcurrency();
    const createResponse = () => new ServerResponse(new IncomingMessage(new Socket()));
    const response = createResponse();
    const listenersBefore = response.listenerCount("close");
    admitCall("account", response);
    admitDownload("account", response);
    expect(response.listenerCount("close") - listenersBefore).toBe(2);
    for (let call = 0; call <= maxCallsInFlight; call += 1) {
      const leftResponse = createResponse();
      const socket = new Socket();
      leftResponse.assignSocket(socket);
      socket.emit("close");
      admitCall("account", leftResponse);
    }
  });
});

describe("runWriteExclusive", () => {
  it("runs tasks of a key one after another, also after a failure, and those of other keys concurrently", async () => {
    const { runWriteExclusive } = createAccountConcurrency();
    const completedTasks: string[] = [];
    let openGate = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const firstTask = runWriteExclusive("one", async () => {
      await gate;
      completedTasks.push("first");
      throw new Error("it failed");
    });
    const secondTask = runWriteExclusive("one", async () => {
      completedTasks.push("second");
      return 2;
    });
    await runWriteExclusive("two", async () => {
      completedTasks.push("other");
    });
    openGate();
    await expect(firstTask).rejects.toThrow("it failed");
    expect(await secondTask).toBe(2);
    expect(completedTasks).toEqual(["other", "first", "second"]);
  });
});
