import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { minPartBytes, StoreSecretResponse, uploadPath, StartUploadResponse, UploadState } from "@relicario/shared/api";

import { confirmChange, createPerson, type Person } from "./person.ts";
import { prepareServiceProcess, type ServiceProcess, type RunningService } from "./process.ts";
import { buildStorageQuery } from "./storage.ts";
import { buildFinish, buildLargeContent, sha256B64u, type LargeContent } from "./upload.ts";

let service: ServiceProcess;
let runningService: RunningService;

/** Of a real S3 server, which is restarted when it is killed. */
const storePidFile = process.env["RELICARIO_TEST_S3_PID"];

/** Requested again after each start; the device keeps everything else. */
let token: string;

const callService = async (
  method: string,
  path: string,
  options: { body?: Buffer | string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> =>
  fetch(`${runningService.url}${path}`, {
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
 * Kills the process, and a real S3 server, during `operation`, at a different moment each time, and
 * starts them again.
 */
async function killDuring(operation: Promise<unknown>, killMoment: Promise<unknown>, subject: string): Promise<void> {
  const settledOperation = operation.then(
    () => undefined,
    () => undefined, // the response may be lost
  );
  await Promise.race([killMoment, settledOperation]);
  if (storePidFile !== undefined) process.kill(Number(await readFile(storePidFile, "utf8")), "SIGKILL");
  runningService.child.kill("SIGKILL");
  await runningService.exited;
  await settledOperation;
  runningService = await service.start();
  while ((await fetch(`${runningService.url}/readyz`)).status !== 200) await pause(100);
  token = await service.signIn(runningService.url, subject);
}

/** Resolves after this many database queries, so that only a part of the operation is done. */
const waitForQueries = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index++) await service.query("select 1");
};

/** Resumes as a device does: verifies the stored parts and sends the others. */
async function resumeUpload(uploadId: string, largeContent: LargeContent): Promise<UploadState> {
  const state = UploadState.parse(await (await callService("GET", uploadPath(uploadId))).json());
  for (const { part, sha256 } of state.received)
    expect([part, sha256]).toEqual([part, sha256B64u(largeContent.parts[part - 1] ?? Buffer.of())]);
  if (state.published !== null) return state;
  const receivedParts = new Set(state.received.map(({ part }) => part));
  for (const index of largeContent.parts.keys()) {
    if (!receivedParts.has(index + 1))
      expect(
        (await callService("POST", uploadPath(uploadId), await largeContent.buildPartForm(index + 1))).status,
      ).toBe(200);
  }
  return state;
}

const expectPublished = async (largeContent: LargeContent): Promise<void> => {
  const response = await callService(
    "POST",
    "/v2/secrets/get-secret",
    buildJsonBody({ secret_db_id: largeContent.id }),
  );
  expect(Buffer.from(await response.arrayBuffer()).equals(largeContent.content)).toBe(true);
};

/**
 * Kills the service three times a round: while parts are sent, an upload is published, and another
 * one cancelled.
 */
export async function killUploads(rounds: number): Promise<void> {
  service = await prepareServiceProcess();
  try {
    runningService = await service.start();
    const subject = "marta";
    token = await service.signIn(runningService.url, subject);
    const person: Person = createPerson(subject, token);
    const publishedContents: LargeContent[] = [];

    for (let round = 0; round < rounds; round++) {
      const largeContent = buildLargeContent({ bytes: 3 * minPartBytes + 70_000 });
      const uploadId = StartUploadResponse.parse(
        await (await callService("POST", "/v2/secrets/secret", await largeContent.buildStartForm())).json(),
      ).upload_id;

      // While several parts are sent.
      const partForms = await Promise.all([1, 2, 3, 4].map((number) => largeContent.buildPartForm(number)));
      await killDuring(
        Promise.allSettled(partForms.map((form) => callService("POST", uploadPath(uploadId), form))),
        waitForQueries(randomInt(12)),
        subject,
      );
      expect((await resumeUpload(uploadId, largeContent)).published).toBeNull();

      // While it is published.
      const body = buildFinish(person, largeContent);
      await killDuring(
        callService("PUT", uploadPath(uploadId), buildJsonBody(body)),
        waitForQueries(randomInt(6)),
        subject,
      );
      await resumeUpload(uploadId, largeContent);
      const response = await callService("PUT", uploadPath(uploadId), buildJsonBody(body));
      expect([response.status, StoreSecretResponse.parse(await response.json())]).toEqual([
        200,
        { secret_db_id: largeContent.id, version: 1, state_rev: body.keyring.state_rev },
      ]);
      confirmChange(person, body.keyring);
      publishedContents.push(largeContent);

      // While another one is cancelled.
      const cancelledContent = buildLargeContent();
      const cancelledUploadId = StartUploadResponse.parse(
        await (await callService("POST", "/v2/secrets/secret", await cancelledContent.buildStartForm())).json(),
      ).upload_id;
      await callService("POST", uploadPath(cancelledUploadId), await cancelledContent.buildPartForm(1));
      await killDuring(callService("DELETE", uploadPath(cancelledUploadId)), waitForQueries(randomInt(4)), subject);
      const repeatedCancel = await callService("DELETE", uploadPath(cancelledUploadId));
      expect([204, 404]).toContain(repeatedCancel.status);
      expect((await callService("GET", uploadPath(cancelledUploadId))).status).toBe(404);
    }

    for (const largeContent of publishedContents) await expectPublished(largeContent);
    expect(await service.findStrayObjects()).toEqual([]);
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
