import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { readdir } from "node:fs/promises";
import { once } from "node:events";

import { minPartBytes, uploadPath, StartUploadResponse } from "@relicario/shared/api";

import { startService, type TestService } from "../testing/service.ts";
import { buildLargeContent } from "../testing/upload.ts";
import { createPartLock } from "./part-lock.ts";

describe("concurrent copies of a part", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({}, undefined, { inFolder: true });
  });
  afterAll(() => service.stop());

  it("are never on disk at the same time, and are all answered", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: minPartBytes });
    const { upload_id: id } = StartUploadResponse.parse(
      (await service.call("POST", "/v2/secrets/secret", person.token, await largeContent.buildStartForm())).body,
    );
    const { body, headers } = await largeContent.buildPartForm(1);
    const address = `${await service.listen()}${uploadPath(id)}`;
    const listFiles = async (): Promise<string[]> =>
      (await readdir(service.objectsFolder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ name }) => name);

    const firstHalf = body.subarray(0, body.length / 2);
    const clientRequests: ClientRequest[] = [];
    const responses: Promise<IncomingMessage>[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const clientRequest = request(address, {
        method: "POST",
        headers: { ...headers, authorization: `Bearer ${person.token}`, "content-length": body.length },
      });
      clientRequests.push(clientRequest);
      responses.push(
        once(clientRequest, "response").then(([response]: unknown[]) => (response as IncomingMessage).resume()),
      );
      await new Promise<void>((resolve) => {
        clientRequest.write(firstHalf.subarray(0, 300_000), () => {
          resolve();
        });
      });
    }
    while ((await listFiles()).length === 0);
    // lets the earlier copies reach the same point
    for (let call = 0; call < 6; call++) await service.call("GET", uploadPath(id), person.token);
    expect(await listFiles()).toHaveLength(1);
    for (const clientRequest of clientRequests) clientRequest.end(body.subarray(300_000));
    expect((await Promise.all(responses)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await listFiles()).toHaveLength(1);
  });
});

describe("runExclusively", () => {
  const buildConnection = (bytesRead: () => number, destroy: () => void) =>
    ({
      socket: {
        get bytesRead() {
          return bytesRead();
        },
      },
      destroy,
    }) as unknown as Parameters<ReturnType<typeof createPartLock>["runExclusively"]>[1];

  it("aborts a stalled copy while another one waits", async () => {
    const { runExclusively } = createPartLock(5);
    let abortFirstRun = (): void => undefined;
    const firstRun = runExclusively(
      "part",
      buildConnection(
        () => 7,
        () => {
          abortFirstRun();
        },
      ),
      () =>
        new Promise<never>((_, reject) => {
          abortFirstRun = () => {
            reject(new Error("given up"));
          };
        }),
    );
    const secondRun = runExclusively(
      "part",
      buildConnection(
        () => 0,
        () => undefined,
      ),
      async () => "second",
    );
    await expect(firstRun).rejects.toThrow("given up");
    expect(await secondRun).toBe("second");
  });

  it("waits for a copy that makes progress", async () => {
    const { runExclusively } = createPartLock(5);
    let reads = 0;
    let release = (): void => undefined;
    const destroy = jest.fn();
    const firstRun = runExclusively(
      "part",
      buildConnection(() => {
        reads++;
        if (reads > 6) release();
        return reads;
      }, destroy),
      () =>
        new Promise<string>((resolve) => {
          release = () => {
            resolve("first");
          };
        }),
    );
    const secondRun = runExclusively(
      "part",
      buildConnection(
        () => 0,
        () => undefined,
      ),
      async () => "second",
    );
    expect(await Promise.all([firstRun, secondRun])).toEqual(["first", "second"]);
    expect(destroy).not.toHaveBeenCalled();
  });

  it("continues after a failure, and runs other parts concurrently", async () => {
    const { runExclusively } = createPartLock();
    const idleConnection = buildConnection(
      () => 0,
      () => undefined,
    );
    await expect(runExclusively("one", idleConnection, () => Promise.reject(new Error("it failed")))).rejects.toThrow(
      "it failed",
    );
    const { promise, end } = (() => {
      let release = (): void => undefined;
      return {
        promise: new Promise<void>((resolve) => {
          release = resolve;
        }),
        end: () => {
          release();
        },
      };
    })();
    const firstRun = runExclusively("one", idleConnection, () => promise);
    expect(await runExclusively("two", idleConnection, async () => 2)).toBe(2);
    end();
    await firstRun;
  });
});
