import { randomBytes } from "node:crypto";

import { minPartBytes, StartUploadResponse, uploadPath } from "@relicario/shared/api";
import { startS3Server, type TestS3Server } from "@relicario/tooling/objects/testing";

import { metricsToken, readMetric } from "../testing/metrics.ts";
import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { buildFinish, buildLargeContent, sha256B64u } from "../testing/upload.ts";

let server: TestS3Server;
let service: TestService;
beforeAll(async () => {
  server = await startS3Server();
  service = await startService({ OBJECTS_URL: server.createAddress(), METRICS_TOKEN: metricsToken });
});
afterAll(async () => {
  await service.stop();
  await server.stop();
});
afterEach(() => server.faults.clear());

const isReady = async (): Promise<boolean> => (await service.call("GET", "/readyz", null)).status === 200;
const readContent = (person: Person, id: string) =>
  service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } });

describe("the service with a bucket of objects", () => {
  it("publishes an upload, serves ranges of it, and deletes its objects", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: minPartBytes + 300_000 });
    const { upload_id: id } = StartUploadResponse.parse(
      (await service.call("POST", "/v2/secrets/secret", person.token, await largeContent.buildStartForm())).body,
    );
    const sendPart = async (part: number, overrides: Parameters<typeof largeContent.buildPartForm>[1] = {}) =>
      service.call("POST", uploadPath(id), person.token, await largeContent.buildPartForm(part, overrides));
    const sha256 = sha256B64u(largeContent.parts[0] ?? Buffer.of());
    const otherBytes = Uint8Array.from(randomBytes(minPartBytes));
    expect((await sendPart(1, { sha256, data: otherBytes })).body.code).toBe("digest_mismatch");
    expect((await sendPart(1, { sha256, data: otherBytes.subarray(1) })).body.code).toBe("validation_error");
    expect(await service.listObjects(person.userId)).toEqual([]);
    for (const part of [1, 2, 1]) expect((await sendPart(part)).status).toBe(200);
    const finishBody = buildFinish(person, largeContent);
    expect((await service.call("PUT", uploadPath(id), person.token, { body: finishBody })).status).toBe(200);
    confirmChange(person, finishBody.keyring);

    const { status, rawPayload } = await service.app.http
      .inject({
        method: "POST",
        url: "/v2/secrets/get-secret",
        headers: { authorization: `Bearer ${person.token}`, range: "bytes=5242000-5243000" },
        payload: { secret_db_id: largeContent.id },
      })
      .then((response) => ({ status: response.statusCode, rawPayload: response.rawPayload }));
    expect(status).toBe(206);
    expect(rawPayload.equals(largeContent.content.subarray(5_242_000, 5_243_001))).toBe(true);
    expect(await service.listObjects(person.userId)).toHaveLength(2);
  });

  it.each([
    [{ status: 503, code: "SlowDown" }, "1", "the object store has too many calls"],
    [{ status: 507, code: "XMinioStorageFull" }, "60", "the object store is full"],
    [{ status: 403, code: "AccessDenied" }, "5", "the object store does not answer"],
  ])("answers 503 when the bucket answers %j, is not ready, and recovers", async (fault, retryAfter, detail) => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    const damagedCount = await readMetric(service, "relicario_damaged_objects_total", `finding="unreadable"`);
    for (const method of ["PUT", "GET"]) server.faults.set(method, fault);
    const problem = {
      status: 503,
      headers: { "retry-after": retryAfter },
      body: { code: "service_unavailable", detail },
    };
    expect(await service.call("POST", "/secrets/store", person.token, { body })).toMatchObject(problem);
    expect(await isReady()).toBe(false);
    server.faults.delete("PUT");
    expect((await service.call("POST", "/secrets/store", person.token, { body })).status).toBe(200);
    expect(await readContent(person, body.secret_db_id)).toMatchObject(problem);
    server.faults.clear();
    expect(await readContent(person, body.secret_db_id)).toMatchObject({
      status: 200,
      body: { content: body.content },
    });
    expect(await isReady()).toBe(true);
    expect(await readMetric(service, "relicario_damaged_objects_total", `finding="unreadable"`)).toBe(damagedCount);
    expect(await service.listObjects(person.userId)).toHaveLength(1);
  });
});
