import { randomInt } from "node:crypto";

import { minPartBytes, StoreSecretResponse, uploadPath, StartUploadResponse, UploadState } from "@relicario/shared/api";

import { confirmChange, createPerson, type Person } from "./person.ts";
import { prepareServiceProcess, type ServiceProcess, type RunningService } from "./process.ts";
import { buildStorageQuery } from "./storage.ts";
import { buildFinish, buildLargeContent, sha256B64u, type LargeContent } from "./upload.ts";

let service: ServiceProcess;
let running: RunningService;

/** What has to be asked for again after each start; the device keeps all else. */
let token: string;

const callService = async (
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

const buildJsonBody = (value: unknown) => ({
  body: JSON.stringify(value),
  headers: { "content-type": "application/json" },
});

/**
 * Ends the process in the midst of `operation` and starts it again. The moment is another one each
 * time.
 */
async function killDuring(operation: Promise<unknown>, killMoment: Promise<unknown>, subject: string): Promise<void> {
  const settledOperation = operation.then(
    () => undefined,
    () => undefined, // the answer may be lost: that is the point
  );
  await Promise.race([killMoment, settledOperation]);
  running.child.kill("SIGKILL");
  await running.exited;
  await settledOperation;
  running = await service.start();
  token = await service.signIn(running.address, subject);
}

/**
 * A moment that comes after some turns of queries to the database: between nothing done and all
 * done.
 */
const waitForQueries = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await service.query("select 1");
};

/** As a device resumes: what the service has must be ours, the rest is sent. */
async function resumeUpload(uploadId: string, large: LargeContent): Promise<UploadState> {
  const state = UploadState.parse(await (await callService("GET", uploadPath(uploadId))).json());
  for (const { part, sha256 } of state.received)
    expect([part, sha256]).toEqual([part, sha256B64u(large.parts[part - 1] ?? Buffer.of())]);
  if (state.published !== null) return state;
  const receivedParts = new Set(state.received.map(({ part }) => part));
  for (const index of large.parts.keys()) {
    if (!receivedParts.has(index + 1))
      expect((await callService("POST", uploadPath(uploadId), await large.part(index + 1))).status).toBe(200);
  }
  return state;
}

const expectPublished = async (large: LargeContent): Promise<void> => {
  const response = await callService("POST", "/v2/secrets/get-secret", buildJsonBody({ secret_db_id: large.id }));
  expect(Buffer.from(await response.arrayBuffer()).equals(large.content)).toBe(true);
};

/**
 * Kills the service three times a round: while parts are sent, while the upload is published, while
 * another one is cancelled.
 */
export async function killUploads(rounds: number): Promise<void> {
  service = await prepareServiceProcess();
  try {
    running = await service.start();
    const subject = "marta";
    token = await service.signIn(running.address, subject);
    const person: Person = createPerson(subject, token);
    const publishedContents: LargeContent[] = [];

    for (let round = 0; round < rounds; round++) {
      const large = buildLargeContent({ bytes: 3 * minPartBytes + 70_000 });
      const uploadId = StartUploadResponse.parse(
        await (await callService("POST", "/v2/secrets/secret", await large.start())).json(),
      ).upload_id;

      // While several parts are on their way.
      const partForms = await Promise.all([1, 2, 3, 4].map((number) => large.part(number)));
      await killDuring(
        Promise.allSettled(partForms.map((form) => callService("POST", uploadPath(uploadId), form))),
        waitForQueries(randomInt(12)),
        subject,
      );
      expect((await resumeUpload(uploadId, large)).published).toBeNull();

      // While it is published.
      const body = buildFinish(person, large);
      await killDuring(
        callService("PUT", uploadPath(uploadId), buildJsonBody(body)),
        waitForQueries(randomInt(6)),
        subject,
      );
      await resumeUpload(uploadId, large);
      const response = await callService("PUT", uploadPath(uploadId), buildJsonBody(body));
      expect([response.status, StoreSecretResponse.parse(await response.json())]).toEqual([
        200,
        { secret_db_id: large.id, version: 1, state_rev: body.keyring.state_rev },
      ]);
      confirmChange(person, body.keyring);
      publishedContents.push(large);

      // While another one is cancelled.
      const cancelledContent = buildLargeContent();
      const cancelledUploadId = StartUploadResponse.parse(
        await (await callService("POST", "/v2/secrets/secret", await cancelledContent.start())).json(),
      ).upload_id;
      await callService("POST", uploadPath(cancelledUploadId), await cancelledContent.part(1));
      await killDuring(callService("DELETE", uploadPath(cancelledUploadId)), waitForQueries(randomInt(4)), subject);
      const repeatedCancel = await callService("DELETE", uploadPath(cancelledUploadId));
      expect([204, 404]).toContain(repeatedCancel.status);
      expect((await callService("GET", uploadPath(cancelledUploadId))).status).toBe(404);
    }

    for (const large of publishedContents) await expectPublished(large);
    expect(await service.strayFiles()).toEqual([]);
    const me = (await (await callService("GET", "/user/me")).json()) as {
      licence: { storage_used: number; secrets: number };
    };
    const [storedBytes] = await service.query(buildStorageQuery(person.userId));
    expect(storedBytes?.["contents"]).toBe(publishedContents.reduce((sum, { content }) => sum + content.length, 0));
    expect(me.licence).toMatchObject({
      storage_used: Number(storedBytes?.["contents"]) + Number(storedBytes?.["records"]),
      secrets: publishedContents.length,
    });
  } finally {
    await service.stop();
  }
}
