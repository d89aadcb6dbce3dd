import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";

import { downloadPath, uploadPath } from "@relicario/shared/api";
import { Client } from "pg";

import { buildSecret, confirm, type Person } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import { buildFinish, buildLarge, type LargeContent } from "../testing/upload.ts";
import { createAccountCalls, maxCallsInFlight, maxDownloadsInFlight } from "./account-calls.ts";

let service: TestService;
let busy: { readonly person: Person; readonly id: string };
let other: Person;
/** Holds the account's row from outside, as a slow call of another process would. */
let holder: Client;

beforeAll(async () => {
  service = await startService();
  const [person, second] = [await service.signIn(), await service.signIn()];
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirm(person, body.keyring);
  busy = { person, id: body.secret_db_id };
  other = second;
  holder = new Client({ connectionString: service.database.url });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await service.stop();
});

const star = (favorite: boolean): Promise<Answer> =>
  service.call("PATCH", "/secrets/favorite", busy.person.token, { body: { secret_db_id: busy.id, favorite } });

const held = async (work: () => Promise<void>): Promise<void> => {
  await holder.query("begin");
  await holder.query("select 1 from accounts where id = $1 for update", [busy.person.userId]);
  try {
    await work();
  } finally {
    await holder.query("rollback");
  }
};

describe("calls of one account", () => {
  it("that wait for its row leave the database to everybody else", async () => {
    const writes: Promise<Answer>[] = [];
    await held(async () => {
      writes.push(...Array.from({ length: maxCallsInFlight }, (_, index) => star(index % 2 === 0)));
      expect(await service.call("GET", "/secrets/store", other.token)).toMatchObject({ status: 200 });
      expect(
        await service.call("POST", "/user/me", other.token, { body: { user_name: "somebody.else" } }),
      ).toMatchObject({ status: 200 });
    });
    expect(new Set((await Promise.all(writes)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("beyond so many at a time are answered too_many_requests with Retry-After, and only those", async () => {
    const writes: Promise<Answer>[] = [];
    await held(async () => {
      writes.push(...Array.from({ length: maxCallsInFlight + 5 }, () => star(true)));
      expect(await Promise.race(writes)).toMatchObject({
        status: 429,
        headers: { "retry-after": "1" },
        body: { code: "too_many_requests" },
      });
    });
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    expect(statuses.filter((status) => status === 200)).toHaveLength(maxCallsInFlight);
    expect(await star(false)).toMatchObject({ status: 200 });
  });

  it("give their place back when the caller goes away", async () => {
    const address = await service.listen();
    const leaving = new AbortController();
    await held(async () => {
      const calls = Array.from({ length: 2 * maxCallsInFlight }, () =>
        fetch(`${address}/secrets/favorite`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${busy.person.token}`, "content-type": "application/json" },
          body: JSON.stringify({ secret_db_id: busy.id, favorite: true }),
          signal: leaving.signal,
        }).catch(() => null),
      );
      // More than fit: whoever asks below takes a place for a moment.
      const me = async () => {
        await turn(); // a refusal asks nobody: whoever asks again at once would keep the others' sockets waiting
        return service.call("GET", "/user/me", busy.person.token);
      };
      while ((await me()).status === 200);
      leaving.abort();
      await Promise.all(calls);
      while ((await me()).status !== 200);
    });
    expect(await star(false)).toMatchObject({ status: 200 });
  });
});

describe("downloads of one account", () => {
  let address: string;
  let large: LargeContent;
  beforeAll(async () => {
    address = await service.listen();
    const { person } = busy;
    large = buildLarge({ bytes: 20 * 1024 ** 2 }); // more than the buffers of a connection take
    const { body: started } = await service.call("POST", "/v2/secrets/secret", person.token, await large.start());
    for (const index of large.parts.keys())
      await service.call("POST", uploadPath(String(started["upload_id"])), person.token, await large.part(index + 1));
    const finish = buildFinish(person, large);
    expect(
      await service.call("PUT", uploadPath(String(started["upload_id"])), person.token, { body: finish }),
    ).toMatchObject({ status: 200 });
    confirm(person, finish.keyring);
  });
  afterEach(() => jest.restoreAllMocks());

  const download = (signal?: AbortSignal) =>
    fetch(`${address}${downloadPath}`, {
      method: "POST",
      headers: { authorization: `Bearer ${busy.person.token}`, "content-type": "application/json" },
      body: JSON.stringify({ secret_db_id: large.id }),
      ...(signal === undefined ? {} : { signal }),
    });

  it("are so many at a time, one that is run again being one, and the next is answered too_many_requests until one has ended", async () => {
    const leaving = new AbortController();
    jest
      .spyOn(service.app.services.objects, "read")
      .mockRejectedValueOnce(Object.assign(new Error("lost"), { code: "ECONNRESET" }));
    const unread = await Promise.all(Array.from({ length: maxDownloadsInFlight }, () => download(leaving.signal)));
    expect(new Set(unread.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await download()).status).toBe(429);
    leaving.abort();
    let last = await download();
    while (last.status === 429) last = await download();
    expect(Buffer.from(await last.arrayBuffer()).equals(large.content)).toBe(true);
  });

  it("close what they read, though their caller left before it was opened", async () => {
    const leaving = new AbortController();
    const { objects } = service.app.services;
    const read = objects.read.bind(objects);
    const ended = new Promise<void>((resolve) => {
      jest.spyOn(objects, "read").mockImplementationOnce(async (key) => {
        leaving.abort();
        const left = once(service.app.http.server, "left");
        await left;
        const stream = await read(key);
        stream.once("close", resolve);
        return stream;
      });
    });
    service.app.http.server.once("request", (_call, answer: ServerResponse) =>
      answer.once("close", () => service.app.http.server.emit("left")),
    );
    await expect(download(leaving.signal)).rejects.toThrow("aborted");
    await ended;
  });
});

describe("inTurn", () => {
  it("lets one go after the other, also after one that failed, and accounts beside each other", async () => {
    const { inTurn } = createAccountCalls();
    const told: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((opened) => {
      open = opened;
    });
    const first = inTurn("one", async () => {
      await gate;
      told.push("first");
      throw new Error("it failed");
    });
    const second = inTurn("one", async () => {
      told.push("second");
      return 2;
    });
    await inTurn("two", async () => {
      told.push("other");
    });
    open();
    await expect(first).rejects.toThrow("it failed");
    expect(await second).toBe(2);
    expect(told).toEqual(["other", "first", "second"]);
  });
});
