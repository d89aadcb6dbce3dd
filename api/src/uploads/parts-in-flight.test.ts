import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { readdir } from "node:fs/promises";
import { once } from "node:events";

import { minPartBytes, uploadPath, UploadStarted } from "@relicario/shared/api";

import { startService, type TestService } from "../testing/service.ts";
import { buildLarge } from "../testing/upload.ts";
import { createPartsInFlight } from "./parts-in-flight.ts";

describe("copies of one part", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it("never lie on the disk beside each other, and are all answered", async () => {
    const person = await service.signIn();
    const large = buildLarge({ bytes: minPartBytes });
    const { upload_id: id } = UploadStarted.parse(
      (await service.call("POST", "/v2/secrets/secret", person.token, await large.start())).body,
    );
    const { body, headers } = await large.part(1);
    const address = `${await service.listen()}${uploadPath(id)}`;
    const files = async (): Promise<string[]> =>
      (await readdir(service.objectsFolder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ name }) => name);

    const half = body.subarray(0, body.length / 2);
    const sent: ClientRequest[] = [];
    const answers: Promise<IncomingMessage>[] = [];
    for (let copy = 0; copy < 6; copy++) {
      const sending = request(address, {
        method: "POST",
        headers: { ...headers, authorization: `Bearer ${person.token}`, "content-length": body.length },
      });
      sent.push(sending);
      answers.push(once(sending, "response").then(([answer]: unknown[]) => (answer as IncomingMessage).resume()));
      await new Promise<void>((on) => {
        sending.write(half.subarray(0, 300_000), () => {
          on();
        });
      });
    }
    while ((await files()).length === 0);
    // as far as those that were sent before
    for (let call = 0; call < 6; call++) await service.call("GET", uploadPath(id), person.token);
    expect(await files()).toHaveLength(1);
    for (const sending of sent) sending.end(body.subarray(300_000));
    expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await files()).toHaveLength(1);
  });
});

describe("alone", () => {
  const callOf = (bytesRead: () => number, destroy: () => void) =>
    ({
      socket: {
        get bytesRead() {
          return bytesRead();
        },
      },
      destroy,
    }) as unknown as Parameters<ReturnType<typeof createPartsInFlight>["alone"]>[1];

  it("gives a copy up that stands still while another one waits", async () => {
    const { alone } = createPartsInFlight(5);
    let giveUp = (): void => undefined;
    const first = alone(
      "part",
      callOf(
        () => 7,
        () => {
          giveUp();
        },
      ),
      () =>
        new Promise<never>((_, failed) => {
          giveUp = () => {
            failed(new Error("given up"));
          };
        }),
    );
    const second = alone(
      "part",
      callOf(
        () => 0,
        () => undefined,
      ),
      async () => "second",
    );
    await expect(first).rejects.toThrow("given up");
    expect(await second).toBe("second");
  });

  it("waits for one that goes on", async () => {
    const { alone } = createPartsInFlight(5);
    let asked = 0;
    let end = (): void => undefined;
    const destroy = jest.fn();
    const first = alone(
      "part",
      callOf(() => {
        asked++;
        if (asked > 6) end();
        return asked;
      }, destroy),
      () =>
        new Promise<string>((ended) => {
          end = () => {
            ended("first");
          };
        }),
    );
    const second = alone(
      "part",
      callOf(
        () => 0,
        () => undefined,
      ),
      async () => "second",
    );
    expect(await Promise.all([first, second])).toEqual(["first", "second"]);
    expect(destroy).not.toHaveBeenCalled();
  });

  it("goes on after one that failed, and lets other parts go beside it", async () => {
    const { alone } = createPartsInFlight();
    const still = callOf(
      () => 0,
      () => undefined,
    );
    await expect(alone("one", still, () => Promise.reject(new Error("it failed")))).rejects.toThrow("it failed");
    const { promise, end } = (() => {
      let end = (): void => undefined;
      return {
        promise: new Promise<void>((ended) => {
          end = ended;
        }),
        end: () => {
          end();
        },
      };
    })();
    const one = alone("one", still, () => promise);
    expect(await alone("two", still, async () => 2)).toBe(2);
    end();
    await one;
  });
});
