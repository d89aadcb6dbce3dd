import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { downloadPath, uploadPath } from "@relicario/shared/api";
import { Client } from "pg";

import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../testing/upload.ts";
import { createAccountConcurrency, maxCallsInFlight, maxDownloadsInFlight } from "./account-concurrency.ts";

let service: TestService;
let busyAccount: { readonly person: Person; readonly id: string };
let otherPerson: Person;
/** Holds the account's row from outside, as a slow call of another process would. */
let lockHolder: Client;

beforeAll(async () => {
  service = await startService();
  const [person, secondPerson] = [await service.signIn(), await service.signIn()];
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  busyAccount = { person, id: body.secret_db_id };
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
    body: { secret_db_id: busyAccount.id, favorite },
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

describe("calls of one account", () => {
  it("that wait for its row leave the database to everybody else", async () => {
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

  it("beyond so many at a time are answered too_many_requests with Retry-After, and only those", async () => {
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

  it("give their place back when the caller goes away", async () => {
    const address = await service.listen();
    const abortController = new AbortController();
    await withHeldRow(async () => {
      const calls = Array.from({ length: 2 * maxCallsInFlight }, () =>
        fetch(`${address}/secrets/favorite`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${busyAccount.person.token}`, "content-type": "application/json" },
          body: JSON.stringify({ secret_db_id: busyAccount.id, favorite: true }),
          signal: abortController.signal,
        }).catch(() => null),
      );
      // More than fit: whoever asks below takes a place for a moment.
      const getMe = async () => {
        // a refusal asks nobody: whoever asks again at once would keep the others' sockets waiting
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

describe("downloads of one account", () => {
  let address: string;
  let large: LargeContent;
  beforeAll(async () => {
    address = await service.listen();
    const { person } = busyAccount;
    large = buildLargeContent({ bytes: 20 * 1024 ** 2 }); // more than the buffers of a connection take
    const { body: startedUpload } = await service.call("POST", "/v2/secrets/secret", person.token, await large.start());
    for (const index of large.parts.keys())
      await service.call(
        "POST",
        uploadPath(String(startedUpload["upload_id"])),
        person.token,
        await large.part(index + 1),
      );
    const finishBody = buildFinish(person, large);
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
      body: JSON.stringify({ secret_db_id: large.id }),
      ...(signal === undefined ? {} : { signal }),
    });

  it("are so many at a time, one that is run again being one, and the next is answered too_many_requests until one has ended", async () => {
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
    expect(Buffer.from(await lastDownload.arrayBuffer()).equals(large.content)).toBe(true);
  });

  it("close what they read, though their caller left before it was opened", async () => {
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
    service.app.http.server.once("request", (_call, answer: ServerResponse) =>
      answer.once("close", () => service.app.http.server.emit("left")),
    );
    await expect(download(abortController.signal)).rejects.toThrow("aborted");
    await streamClosed;
  });
});

describe("inTurn", () => {
  it("lets one go after the other, also after one that failed, and accounts beside each other", async () => {
    const { runExclusive } = createAccountConcurrency();
    const completedTasks: string[] = [];
    let openGate = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const firstTask = runExclusive("one", async () => {
      await gate;
      completedTasks.push("first");
      throw new Error("it failed");
    });
    const secondTask = runExclusive("one", async () => {
      completedTasks.push("second");
      return 2;
    });
    await runExclusive("two", async () => {
      completedTasks.push("other");
    });
    openGate();
    await expect(firstTask).rejects.toThrow("it failed");
    expect(await secondTask).toBe(2);
    expect(completedTasks).toEqual(["other", "first", "second"]);
  });
});
