import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";

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
  readonly bytes: Buffer;
  /** False when the connection ended before the answer did. */
  readonly complete: boolean;
}

/** The content of a secret over a real connection, with whatever came of it. */
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
  response.on("error", () => undefined); // a connection that was cut; `complete` says so
  await new Promise<void>((resolve) => response.once("close", resolve));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes: Buffer.concat(chunks),
    complete: response.complete,
  };
}

async function uploadContent(person: Person, large: LargeContent): Promise<string> {
  const startResponse = await service.call("POST", "/v2/secrets/secret", person.token, await large.start());
  const id = String(startResponse.body["upload_id"]);
  for (const [index] of large.parts.entries())
    await service.call("POST", uploadPath(id), person.token, await large.part(index + 1));
  return id;
}

async function storeLarge(person: Person, bytes: number): Promise<LargeContent> {
  const large = buildLargeContent({ bytes });
  const id = await uploadContent(person, large);
  const finishBody = buildFinish(person, large);
  expect((await service.call("PUT", uploadPath(id), person.token, { body: finishBody })).status).toBe(200);
  confirmChange(person, finishBody.keyring);
  return large;
}

async function findObjectFiles(person: Person, secretId: string): Promise<{ key: string; file: string }[]> {
  const rows = await service.app.services.db
    .select({ key: versionObjects.objectKey })
    .from(versionObjects)
    .where(and(eq(versionObjects.accountId, person.userId), eq(versionObjects.secretId, secretId)))
    .orderBy(asc(versionObjects.part));
  return rows.map(({ key }) => ({ key, file: join(service.objectsFolder, key) }));
}

/** One bit, at this place. */
async function flipBit(file: string, offset: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

const readDamageCount = (finding: string): Promise<number> =>
  readMetric(service, "relicario_damaged_objects_total", `finding="${finding}"`);

const findLogLines = (key: string): { level?: number; finding?: string }[] =>
  service
    .log()
    .split("\n")
    .filter((line) => line.includes(`"object":"${key}"`))
    .map((line) => JSON.parse(line) as { finding?: string });

const twoPartsBytes = minPartBytes + 300_000;
/** Two whole parts and a rest. */
const threePartsBytes = 2 * minPartBytes + 300_000;

describe("a stored object", () => {
  it("keeps its digest in its row, from an upload as from one call", async () => {
    const person = await service.signIn();
    const large = await storeLarge(person, minPartBytes + 1_000);
    const smallSecret = buildSecret(person);
    expect((await service.call("POST", "/secrets/store", person.token, { body: smallSecret.body })).status).toBe(200);
    const storedObjects = await service.app.services.db
      .select()
      .from(versionObjects)
      .where(eq(versionObjects.accountId, person.userId));
    const digests = [...large.parts, smallSecret.content].map((bytes) =>
      createHash("sha256").update(bytes).digest("hex"),
    );
    expect(storedObjects.map(({ sha256 }) => sha256?.toString("hex")).sort()).toEqual(digests.sort());
  });

  it.each<[string, "changed" | "missing", (file: string) => Promise<void>]>([
    ["a flipped byte", "changed", (file) => flipBit(file, 100)],
    ["a byte too few", "changed", (file) => truncate(file, 299_999)],
    ["a byte too many", "changed", (file) => truncate(file, 300_001)],
    ["no bytes at all", "missing", (file) => rm(file)],
  ])("with %s ends the answer before it is whole, and is counted and named", async (_, finding, damageFile) => {
    const person = await service.signIn();
    const large = await storeLarge(person, twoPartsBytes);
    const lastObject = (await findObjectFiles(person, large.id)).at(-1) ?? { key: "", file: "" };
    const countBefore = await readDamageCount(finding);
    await damageFile(lastObject.file);
    const { status, bytes, complete } = await download(person, large.id);
    expect({ status, complete }).toEqual({ status: 200, complete: false });
    expect(bytes.length).toBeLessThan(twoPartsBytes);
    expect(await readDamageCount(finding)).toBe(countBefore + 1);
    expect(findLogLines(lastObject.key)).toMatchObject([{ level: 50, finding }]);
  });

  it("of an answer is counted and named like any other, also when it is missing", async () => {
    const { owner } = await createSharedSecret(service);
    const request = await createRequest(service, owner);
    const answer = await answerRequest(service, request);
    const [row] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, answer.id));
    const key = String(row?.objectKey);
    await rm(join(service.objectsFolder, key));
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

  it("is a problem of its own where nothing was sent yet, small content or large", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    confirmChange(person, body.keyring);
    const large = await storeLarge(person, maxSmallSealedBytes);
    for (const id of [body.secret_db_id, large.id])
      for (const { file } of await findObjectFiles(person, id)) await flipBit(file, 7);
    const countBefore = await readDamageCount("changed");
    for (const id of [body.secret_db_id, large.id]) {
      const { status, headers, bytes } = await download(person, id);
      expect({ status, type: headers["content-type"] }).toEqual({ status: 500, type: "application/problem+json" });
      expect(headers).not.toHaveProperty("etag");
      expect(JSON.parse(bytes.toString())).toMatchObject({ code: "internal_error" });
    }
    expect(
      await service.call("POST", "/secrets/store/get-secret", person.token, {
        body: { secret_db_id: body.secret_db_id },
      }),
    ).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(await readDamageCount("changed")).toBe(countBefore + 3);
  });

  it("is read whole for a range inside it, so that a change outside the range is found too", async () => {
    const person = await service.signIn();
    const large = await storeLarge(person, threePartsBytes);
    const range = `bytes=${String(minPartBytes + 10)}-${String(minPartBytes + 19)}`;
    expect(await download(person, large.id, range)).toMatchObject({
      status: 206,
      complete: true,
      bytes: large.content.subarray(minPartBytes + 10, minPartBytes + 20),
    });
    const [, secondObject] = await findObjectFiles(person, large.id);
    await flipBit(secondObject?.file ?? "", minPartBytes - 1);
    expect((await download(person, large.id, range)).status).toBe(500);
    expect(await download(person, large.id, "bytes=5-9")).toMatchObject({
      status: 206,
      complete: true,
      bytes: large.content.subarray(5, 10),
    });
  });

  it("that is whole gives exactly the bytes that were asked for", async () => {
    const person = await service.signIn();
    const large = await storeLarge(person, threePartsBytes);
    for (const [start, end] of [
      [0, 0],
      [minPartBytes - 1, minPartBytes],
      [1, 2 * minPartBytes + 1],
      [minPartBytes + 262_143, minPartBytes + 262_144],
      [2 * minPartBytes, threePartsBytes - 1],
    ] as const) {
      const { status, bytes, complete } = await download(person, large.id, `bytes=${String(start)}-${String(end)}`);
      expect({ status, complete }).toEqual({ status: 206, complete: true });
      expect(bytes.equals(large.content.subarray(start, end + 1))).toBe(true);
    }
  });

  it("that went with its row while it was read is not damaged", async () => {
    const person = await service.signIn();
    const large = await storeLarge(person, 300_000);
    const [{ key } = { key: "" }] = await findObjectFiles(person, large.id);
    const countBefore = await readDamageCount("missing");
    await service.app.services.db
      .delete(versionObjects)
      .where(and(eq(versionObjects.accountId, person.userId), eq(versionObjects.objectKey, key)));
    await service.app.services.reportDamage(key, "missing");
    expect(findLogLines(key)).toEqual([]);
    expect(await readDamageCount("missing")).toBe(countBefore);
  });

  it("that is a damaged part of an upload is never published, nor blamed on the sender", async () => {
    const person = await service.signIn();
    const large = buildLargeContent({ bytes: 3_000 });
    const id = await uploadContent(person, large);
    const [row] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, id));
    await flipBit(join(service.objectsFolder, String(row?.objectKey)), 5);
    expect(await service.call("PUT", uploadPath(id), person.token, { body: buildFinish(person, large) })).toMatchObject(
      { status: 500, body: { code: "internal_error" } },
    );
    expect(findLogLines(String(row?.objectKey))).toMatchObject([{ finding: "changed" }]);
  });
});
