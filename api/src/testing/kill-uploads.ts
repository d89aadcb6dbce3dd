import { randomInt } from "node:crypto";

import { minPartBytes, StoreSecretResponse, uploadPath, StartUploadResponse, UploadState } from "@relicario/shared/api";

import { confirmChange, createPerson, type Person } from "./person.ts";
import { prepareProcess, type ServiceProcess, type RunningService } from "./process.ts";
import { storageQuery } from "./storage.ts";
import { buildFinish, buildLargeContent, sha256B64u, type LargeContent } from "./upload.ts";

let service: ServiceProcess;
let running: RunningService;

/** What has to be asked for again after each start; the device keeps all else. */
let token: string;

const call = async (
  method: string,
  path: string,
  options: { body?: Buffer | string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> =>
  fetch(`${running.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...options.headers },
    ...(options.body === undefined
      ? {}
      : { body: typeof options.body === "string" ? options.body : Uint8Array.from(options.body) }),
  });

const json = (value: unknown) => ({ body: JSON.stringify(value), headers: { "content-type": "application/json" } });

/**
 * Ends the process in the midst of `operation` and starts it again. The moment is another one each
 * time.
 */
async function killDuring(operation: Promise<unknown>, killMoment: Promise<unknown>, subject: string): Promise<void> {
  const settled = operation.then(
    () => undefined,
    () => undefined, // the answer may be lost: that is the point
  );
  await Promise.race([killMoment, settled]);
  running.child.kill("SIGKILL");
  await running.exited;
  await settled;
  running = await service.start();
  token = await service.signIn(running.address, subject);
}

/**
 * A moment that comes after some turns of queries to the database: between nothing done and all
 * done.
 */
const afterQueries = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await service.query("select 1");
};

/** As a device resumes: what the service has must be ours, the rest is sent. */
async function resumeUpload(upload: string, large: LargeContent): Promise<UploadState> {
  const state = UploadState.parse(await (await call("GET", uploadPath(upload))).json());
  for (const { part, sha256 } of state.received)
    expect([part, sha256]).toEqual([part, sha256B64u(large.parts[part - 1] ?? Buffer.of())]);
  if (state.published !== null) return state;
  const receivedParts = new Set(state.received.map(({ part }) => part));
  for (const index of large.parts.keys()) {
    if (!receivedParts.has(index + 1))
      expect((await call("POST", uploadPath(upload), await large.part(index + 1))).status).toBe(200);
  }
  return state;
}

const expectPublished = async (large: LargeContent): Promise<void> => {
  const answer = await call("POST", "/v2/secrets/get-secret", json({ secret_db_id: large.id }));
  expect(Buffer.from(await answer.arrayBuffer()).equals(large.content)).toBe(true);
};

/**
 * Kills the service three times a round: while parts are sent, while the upload is published, while
 * another one is cancelled.
 */
export async function killUploads(rounds: number): Promise<void> {
  service = await prepareProcess();
  try {
    running = await service.start();
    const subject = "marta";
    token = await service.signIn(running.address, subject);
    const person: Person = createPerson(subject, token);
    const published: LargeContent[] = [];

    for (let round = 0; round < rounds; round++) {
      const large = buildLargeContent({ bytes: 3 * minPartBytes + 70_000 });
      const upload = StartUploadResponse.parse(
        await (await call("POST", "/v2/secrets/secret", await large.start())).json(),
      ).upload_id;

      // While several parts are on their way.
      const forms = await Promise.all([1, 2, 3, 4].map((number) => large.part(number)));
      await killDuring(
        Promise.allSettled(forms.map((form) => call("POST", uploadPath(upload), form))),
        afterQueries(randomInt(12)),
        subject,
      );
      expect((await resumeUpload(upload, large)).published).toBeNull();

      // While it is published.
      const body = buildFinish(person, large);
      await killDuring(call("PUT", uploadPath(upload), json(body)), afterQueries(randomInt(6)), subject);
      await resumeUpload(upload, large);
      const answer = await call("PUT", uploadPath(upload), json(body));
      expect([answer.status, StoreSecretResponse.parse(await answer.json())]).toEqual([
        200,
        { secret_db_id: large.id, version: 1, state_rev: body.keyring.state_rev },
      ]);
      confirmChange(person, body.keyring);
      published.push(large);

      // While another one is cancelled.
      const cancelled = buildLargeContent();
      const second = StartUploadResponse.parse(
        await (await call("POST", "/v2/secrets/secret", await cancelled.start())).json(),
      ).upload_id;
      await call("POST", uploadPath(second), await cancelled.part(1));
      await killDuring(call("DELETE", uploadPath(second)), afterQueries(randomInt(4)), subject);
      const repeatedCancel = await call("DELETE", uploadPath(second));
      expect([204, 404]).toContain(repeatedCancel.status);
      expect((await call("GET", uploadPath(second))).status).toBe(404);
    }

    for (const large of published) await expectPublished(large);
    expect(await service.strayFiles()).toEqual([]);
    const me = (await (await call("GET", "/user/me")).json()) as { licence: { storage_used: number; secrets: number } };
    const [stored] = await service.query(storageQuery(person.userId));
    expect(stored?.["contents"]).toBe(published.reduce((sum, { content }) => sum + content.length, 0));
    expect(me.licence).toMatchObject({
      storage_used: Number(stored?.["contents"]) + Number(stored?.["records"]),
      secrets: published.length,
    });
  } finally {
    await service.stop();
  }
}
