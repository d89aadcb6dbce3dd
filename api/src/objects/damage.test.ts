import { createHash } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

import { maxSmallSealedBytes, minPartBytes, uploadPath } from "@relicario/shared/api";
import { and, asc, eq } from "drizzle-orm";

import { uploadParts, versionObjects } from "../db/schema.ts";
import { readMetric, metricsToken } from "../testing/metrics.ts";
import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { answerRequest, callOk, createRequest, createSharedSecret } from "../testing/sharing.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../testing/upload.ts";

let service: TestService;
let address: string;
beforeAll(async () => {
  service = await startService({ METRICS_TOKEN: metricsToken });
  address = await service.listen();
});
afterAll(() => service.stop());

interface DownloadResult {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly receivedBytes: Buffer;
  /** False when the connection ended before the response. */
  readonly isComplete: boolean;
}

/** Downloads a secret's content over a real connection, complete or not. */
async function download(person: Person, id: string, range?: string): Promise<DownloadResult> {
  const headers = {
    authorization: `Bearer ${person.token}`,
    "content-type": "application/json",
    ...(range === undefined ? {} : { range }),
  };
  const clientRequest = request(`${address}/v2/secrets/get-secret`, { method: "POST", headers });
  clientRequest.end(JSON.stringify({ secret_db_id: id }));
  const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("error", () => undefined); // the connection was cut; `complete` says so
  await new Promise<void>((resolve) => response.once("close", resolve));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    receivedBytes: Buffer.concat(chunks),
    isComplete: response.complete,
  };
}

async function uploadContent(person: Person, largeContent: LargeContent): Promise<string> {
  const startResponse = await service.call(
    "POST",
    "/v2/secrets/secret",
    person.token,
    await largeContent.buildStartForm(),
  );
  const id = String(startResponse.body["upload_id"]);
  for (const [index] of largeContent.parts.entries())
    await service.call("POST", uploadPath(id), person.token, await largeContent.buildPartForm(index + 1));
  return id;
}

async function storeLarge(person: Person, bytes: number): Promise<LargeContent> {
  const largeContent = buildLargeContent({ bytes });
  const id = await uploadContent(person, largeContent);
  const finishBody = buildFinish(person, largeContent);
  expect((await service.call("PUT", uploadPath(id), person.token, { body: finishBody })).status).toBe(200);
  confirmChange(person, finishBody.keyring);
  return largeContent;
}

async function findObjectKeys(person: Person, secretId: string): Promise<string[]> {
  const rows = await service.app.services.db
    .select({ key: versionObjects.objectKey })
    .from(versionObjects)
    .where(and(eq(versionObjects.accountId, person.userId), eq(versionObjects.secretId, secretId)))
    .orderBy(asc(versionObjects.part));
  return rows.map(({ key }) => key);
}

async function changeObject(key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  await service.replaceObject(key, change(await buffer(await service.app.services.objects.read(key))));
}

/** Flips one bit at this offset. */
const flipBit = (key: string, offset: number): Promise<void> =>
  changeObject(key, (bytes) => {
    bytes[offset] = (bytes[offset] ?? 0) ^ 1;
    return bytes;
  });

const readDamageCount = (finding: string): Promise<number> =>
  readMetric(service, "relicario_damaged_objects_total", `finding="${finding}"`);

const findLogLines = (key: string): { level?: number; finding?: string }[] =>
  service
    .readLog()
    .split("\n")
    .filter((line) => line.includes(`"object":"${key}"`))
    .map((line) => JSON.parse(line) as { finding?: string });

const twoPartsBytes = minPartBytes + 300_000;
/** Two full parts and a shorter one. */
const threePartsBytes = 2 * minPartBytes + 300_000;

describe("a stored object", () => {
  it("has its digest in its row, whether uploaded in parts or sent in one call", async () => {
    const person = await service.signIn();
    const largeContent = await storeLarge(person, minPartBytes + 1_000);
    const smallSecret = buildSecret(person);
    expect((await service.call("POST", "/secrets/store", person.token, { body: smallSecret.body })).status).toBe(200);
    const storedObjects = await service.app.services.db
      .select()
      .from(versionObjects)
      .where(eq(versionObjects.accountId, person.userId));
    const digests = [...largeContent.parts, smallSecret.content].map((bytes) =>
      createHash("sha256").update(bytes).digest("hex"),
    );
    expect(storedObjects.map(({ sha256 }) => sha256?.toString("hex")).sort()).toEqual(digests.sort());
  });

  it.each<[string, "changed" | "missing", (key: string) => Promise<void>]>([
    ["a flipped byte", "changed", (key) => flipBit(key, 100)],
    ["a byte too few", "changed", (key) => changeObject(key, (bytes) => bytes.subarray(0, -1))],
    ["a byte too many", "changed", (key) => changeObject(key, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]))],
    ["no bytes at all", "missing", (key) => service.app.services.objects.delete(key)],
  ])("with %s ends the response early, and is counted and logged", async (_, finding, damageObject) => {
    const person = await service.signIn();
    const largeContent = await storeLarge(person, twoPartsBytes);
    const lastKey = (await findObjectKeys(person, largeContent.id)).at(-1) ?? "";
    const countBefore = await readDamageCount(finding);
    await damageObject(lastKey);
    const { status, receivedBytes, isComplete } = await download(person, largeContent.id);
    expect({ status, isComplete }).toEqual({ status: 200, isComplete: false });
    expect(receivedBytes.length).toBeLessThan(twoPartsBytes);
    expect(await readDamageCount(finding)).toBe(countBefore + 1);
    expect(findLogLines(lastKey)).toMatchObject([{ level: 50, finding }]);
  });

  it("of an answer to a request is also counted and logged, when damaged or missing", async () => {
    const { owner } = await createSharedSecret(service);
    const request = await createRequest(service, owner);
    const answer = await answerRequest(service, request);
    const [row] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, answer.id));
    const key = String(row?.objectKey);
    await service.app.services.objects.delete(key);
    const countBefore = await readDamageCount("missing");
    const { body } = await callOk(service, "POST", "/requests/collect", owner.token, {
      body: { request_id: request.requestId },
    });
    const { token } = body["download"] as { token: string };
    expect(await service.call("POST", "/share/content", owner.token, { body: { token } })).toMatchObject({
      status: 500,
      body: { code: "internal_error" },
    });
    expect(await readDamageCount("missing")).toBe(countBefore + 1);
    expect(findLogLines(key)).toMatchObject([{ level: 50, finding: "missing" }]);
  });

  it("gives an error response if nothing was sent yet, for small and large contents", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    confirmChange(person, body.keyring);
    const largeContent = await storeLarge(person, maxSmallSealedBytes);
    for (const id of [body.secret_db_id, largeContent.id])
      for (const key of await findObjectKeys(person, id)) await flipBit(key, 7);
    const countBefore = await readDamageCount("changed");
    for (const id of [body.secret_db_id, largeContent.id]) {
      const { status, headers, receivedBytes } = await download(person, id);
      expect({ status, type: headers["content-type"] }).toEqual({ status: 500, type: "application/problem+json" });
      expect(headers).not.toHaveProperty("etag");
      expect(JSON.parse(receivedBytes.toString())).toMatchObject({ code: "internal_error" });
    }
    expect(
      await service.call("POST", "/secrets/store/get-secret", person.token, {
        body: { secret_db_id: body.secret_db_id },
      }),
    ).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(await readDamageCount("changed")).toBe(countBefore + 3);
  });

  it("is read whole for a range, so that a change outside the range is found", async () => {
    const person = await service.signIn();
    const largeContent = await storeLarge(person, threePartsBytes);
    const range = `bytes=${String(minPartBytes + 10)}-${String(minPartBytes + 19)}`;
    expect(await download(person, largeContent.id, range)).toMatchObject({
      status: 206,
      isComplete: true,
      receivedBytes: largeContent.content.subarray(minPartBytes + 10, minPartBytes + 20),
    });
    const [, secondKey] = await findObjectKeys(person, largeContent.id);
    await flipBit(secondKey ?? "", minPartBytes - 1);
    expect((await download(person, largeContent.id, range)).status).toBe(500);
    expect(await download(person, largeContent.id, "bytes=5-9")).toMatchObject({
      status: 206,
      isComplete: true,
      receivedBytes: largeContent.content.subarray(5, 10),
    });
  });

  it("gives exactly the requested bytes when undamaged", async () => {
    const person = await service.signIn();
    const largeContent = await storeLarge(person, threePartsBytes);
    for (const [start, end] of [
      [0, 0],
      [minPartBytes - 1, minPartBytes],
      [1, 2 * minPartBytes + 1],
      [minPartBytes + 262_143, minPartBytes + 262_144],
      [2 * minPartBytes, threePartsBytes - 1],
    ] as const) {
      const { status, receivedBytes, isComplete } = await download(
        person,
        largeContent.id,
        `bytes=${String(start)}-${String(end)}`,
      );
      expect({ status, isComplete }).toEqual({ status: 206, isComplete: true });
      expect(receivedBytes.equals(largeContent.content.subarray(start, end + 1))).toBe(true);
    }
  });

  it("is not reported when its row was deleted during the read", async () => {
    const person = await service.signIn();
    const largeContent = await storeLarge(person, 300_000);
    const [key = ""] = await findObjectKeys(person, largeContent.id);
    const countBefore = await readDamageCount("missing");
    await service.app.services.db
      .delete(versionObjects)
      .where(and(eq(versionObjects.accountId, person.userId), eq(versionObjects.objectKey, key)));
    await service.app.services.reportDamage(key, "missing");
    expect(findLogLines(key)).toEqual([]);
    expect(await readDamageCount("missing")).toBe(countBefore);
  });

  it("of an upload is never published, and reported as the service's fault", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: 3_000 });
    const id = await uploadContent(person, largeContent);
    const [row] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, id));
    await flipBit(String(row?.objectKey), 5);
    expect(
      await service.call("PUT", uploadPath(id), person.token, { body: buildFinish(person, largeContent) }),
    ).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(findLogLines(String(row?.objectKey))).toMatchObject([{ finding: "changed" }]);
  });
});
