import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";

import {
  maxOpenUploads,
  maxSealedBytes,
  minPartBytes,
  SecretContent,
  SecretPage,
  uploadPath,
  StartUploadResponse,
  UploadState,
} from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { orphanedObjects } from "../db/schema.ts";
import { buildChange, buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { checkStoredContents } from "../testing/storage.ts";
import {
  buildFinish,
  buildLargeContent,
  encodeForm,
  sha256B64u,
  type LargeContent,
  type EncodedForm,
} from "../testing/upload.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const sendForm = (person: Person, path: string, form: EncodedForm): Promise<TestResponse> =>
  service.call("POST", path, person.token, form);

const startUpload = async (
  person: Person,
  largeContent: LargeContent,
  fields: Parameters<LargeContent["buildStartForm"]>[0] = {},
): Promise<string> => {
  const response = await sendForm(person, "/v2/secrets/secret", await largeContent.buildStartForm(fields));
  if (response.status !== 200) throw new Error(response.text);
  return StartUploadResponse.parse(response.body).upload_id;
};

const sendPart = async (
  person: Person,
  uploadId: string,
  largeContent: LargeContent,
  partNumber: number,
  overrides: Parameters<LargeContent["buildPartForm"]>[1] = {},
): Promise<TestResponse> =>
  sendForm(person, uploadPath(uploadId), await largeContent.buildPartForm(partNumber, overrides));

const finishUpload = (person: Person, uploadId: string, body: unknown): Promise<TestResponse> =>
  service.call("PUT", uploadPath(uploadId), person.token, { body });

const readUploadState = async (person: Person, uploadId: string): Promise<UploadState> =>
  UploadState.parse((await service.call("GET", uploadPath(uploadId), person.token)).body);

/** Uploads and publishes a content, and applies the response to `person`. */
const uploadLarge = async (person: Person, largeContent: LargeContent, base = 0): Promise<void> => {
  const upload = await startUpload(person, largeContent, base === 0 ? {} : { base_version: String(base) });
  for (const index of largeContent.parts.keys()) await sendPart(person, upload, largeContent, index + 1);
  const body = buildFinish(person, largeContent, { base });
  const response = await finishUpload(person, upload, body);
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, body.keyring);
};

const download = async (person: Person, body: unknown, headers: Record<string, string> = {}) =>
  service.app.http.inject({
    method: "POST",
    url: "/v2/secrets/get-secret",
    headers: { authorization: `Bearer ${person.token}`, ...headers },
    payload: body as object,
  });

const listObjects = (person: Person): Promise<string[]> => service.listObjects(person.userId);

const readContentBytes = (person: Person): Promise<number> => checkStoredContents(service, person);

describe("an upload", () => {
  it("stores the first secret together with the first keyring, from parts in any order and concurrently", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: 2 * minPartBytes + 1_000 });
    const upload = await startUpload(person, largeContent);
    expect(await readUploadState(person, upload)).toMatchObject({
      secret_db_id: largeContent.id,
      base_version: null,
      size: largeContent.content.length,
      part_size: minPartBytes,
      parts: 3,
      received: [],
      published: null,
    });

    const responses = await Promise.all([3, 1, 2].map((number) => sendPart(person, upload, largeContent, number)));
    expect(responses.map(({ status, body }) => [status, body["part"], body["size"]])).toEqual([
      [200, 3, 1_000],
      [200, 1, minPartBytes],
      [200, 2, minPartBytes],
    ]);
    expect((await readUploadState(person, upload)).received).toEqual(
      largeContent.parts.map((part, index) => ({ part: index + 1, size: part.length, sha256: sha256B64u(part) })),
    );
    expect(await service.call("GET", "/secrets/store", person.token)).toMatchObject({
      body: { total: 0, state_rev: 0 },
    });

    const body = buildFinish(person, largeContent);
    expect(await finishUpload(person, upload, body)).toMatchObject({
      status: 200,
      body: { secret_db_id: largeContent.id, version: 1, state_rev: 1 },
    });
    const page = SecretPage.parse((await service.call("GET", "/secrets/store", person.token)).body);
    expect(page).toMatchObject({
      total: 1,
      state_rev: 1,
      secrets: [{ secret_db_id: largeContent.id, version: 1, label: body.label, size: largeContent.content.length }],
    });
    const storedContent = SecretContent.parse(
      (
        await service.call("POST", "/secrets/store/get-secret", person.token, {
          body: { secret_db_id: largeContent.id },
        })
      ).body,
    );
    expect(storedContent).toMatchObject({
      content: null,
      ticket: body.ticket,
      versions: [{ version: 1, size: largeContent.content.length }],
    });
    expect((await download(person, { secret_db_id: largeContent.id })).rawPayload.equals(largeContent.content)).toBe(
      true,
    );
    expect(await readUploadState(person, upload)).toMatchObject({
      received: [],
      published: { version: 1, state_rev: 1 },
    });
    expect(await listObjects(person)).toHaveLength(3);
  });

  it("may be one small part", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: 100 });
    await uploadLarge(person, largeContent);
    const storedContent = SecretContent.parse(
      (
        await service.call("POST", "/secrets/store/get-secret", person.token, {
          body: { secret_db_id: largeContent.id },
        })
      ).body,
    );
    expect(storedContent.content).toBe(largeContent.content.toString("base64url"));
  });

  it("has parts of 8 MiB by default", async () => {
    const person = await service.signIn();
    const form = new FormData();
    for (const [name, value] of Object.entries({ size: String(20 * 1024 ** 2), secret_db_id: uuidv7() }))
      form.set(name, value);
    expect(await sendForm(person, "/v2/secrets/secret", await encodeForm(form))).toMatchObject({
      status: 200,
      body: { part_size: 8 * 1024 ** 2, parts: 3 },
    });
  });

  it("becomes a new version; the former version, large or small, stays readable by its number", async () => {
    const person = await service.signIn();
    const smallSecret = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body: smallSecret.body });
    confirmChange(person, smallSecret.body.keyring);
    const id = smallSecret.body.secret_db_id;
    const secondContent = buildLargeContent({ id });
    await uploadLarge(person, secondContent, 1);
    const thirdContent = buildLargeContent({ id, bytes: 900_000 });
    await uploadLarge(person, thirdContent, 2);
    for (const [version, content] of [smallSecret.content, secondContent.content, thirdContent.content].entries()) {
      expect((await download(person, { secret_db_id: id, version: version + 1 })).rawPayload.equals(content)).toBe(
        true,
      );
    }
    expect((await download(person, { secret_db_id: id })).rawPayload.equals(thirdContent.content)).toBe(true);
    expect(await readContentBytes(person)).toBe(
      smallSecret.content.length + secondContent.content.length + thirdContent.content.length,
    );
  });

  it("uses the vendor's sizes", async () => {
    const limitedService = await startService({
      VENDORS: JSON.stringify([{ vendor_id: "relicario", name: "Relicario", content_bytes: 5_000 }]),
    });
    try {
      const person = await limitedService.signIn();
      expect(
        await limitedService.call(
          "POST",
          "/v2/secrets/secret",
          person.token,
          await buildLargeContent({ bytes: 5_001 }).buildStartForm(),
        ),
      ).toMatchObject({ status: 413, body: { code: "payload_too_large", limit: 5_000 } });
      expect(
        (
          await limitedService.call(
            "POST",
            "/v2/secrets/secret",
            person.token,
            await buildLargeContent({ bytes: 5_000 }).buildStartForm(),
          )
        ).status,
      ).toBe(200);
    } finally {
      await limitedService.stop();
    }
  });
});

describe("a part", () => {
  it("sent again is stored once", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const responses = await Promise.all([1, 1, 1].map((number) => sendPart(person, upload, largeContent, number)));
    responses.push(await sendPart(person, upload, largeContent, 1));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await listObjects(person)).toHaveLength(1);
  });

  it("with a wrong digest is refused and not stored", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const wrongDigest = { sha256: sha256B64u(Buffer.from("other")) };
    expect(await sendPart(person, upload, largeContent, 1, wrongDigest)).toMatchObject({
      status: 422,
      body: { code: "digest_mismatch" },
    });
    expect((await readUploadState(person, upload)).received).toEqual([]);
    expect(await listObjects(person)).toEqual([]);
    expect((await sendPart(person, upload, largeContent, 1)).status).toBe(200);
  });

  it("never replaces another part", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    await sendPart(person, upload, largeContent, 2);
    expect(await sendPart(person, upload, largeContent, 2, { data: new Uint8Array(1_000) })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect((await readUploadState(person, upload)).received).toMatchObject([
      { part: 2, sha256: sha256B64u(largeContent.parts[1] ?? Buffer.of()) },
    ]);
  });

  it.each<[string, number, Uint8Array<ArrayBuffer>, string, string]>([
    ["too long", 2, new Uint8Array(1_001), "/data", "too_long"],
    ["too short", 2, new Uint8Array(999), "/data", "too_short"],
    ["of a whole part, at the end", 2, new Uint8Array(minPartBytes), "/data", "too_long"],
    ["beyond the last", 3, new Uint8Array(10), "/part", "too_big"],
    ["with the number 0", 0, new Uint8Array(10), "/part", "too_small"],
  ])("that is %s is refused and not stored", async (_, number, data, path, reason) => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const response = await sendPart(person, upload, largeContent, number, { data });
    expect(response).toMatchObject({ status: 422, body: { code: "validation_error", errors: [{ path, reason }] } });
    expect(await listObjects(person)).toEqual([]);
  });

  it("larger than any part is refused before it is read", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    expect(
      await sendPart(person, upload, largeContent, 1, { data: new Uint8Array(minPartBytes + 100_000) }),
    ).toMatchObject({
      status: 413,
      body: { code: "payload_too_large" },
    });
  });

  it("longer than declared is refused while its data are still being sent", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const { headers, body } = await largeContent.buildPartForm(2, { data: new Uint8Array(1_000_000) });
    const address = new URL(await service.listen());
    const clientRequest = httpRequest({
      host: address.hostname,
      port: address.port,
      path: uploadPath(upload),
      method: "POST",
      headers: { ...headers, "content-length": body.length, authorization: `Bearer ${person.token}` },
    });
    clientRequest.write(body.subarray(0, 900)); // fields, and the first bytes of its data
    const [response] = (await once(clientRequest, "response")) as [IncomingMessage];
    expect([response.statusCode, await json(response)]).toMatchObject([
      422,
      { errors: [{ path: "/data", reason: "too_long" }] },
    ]);
    expect(await listObjects(person)).toEqual([]);
    clientRequest.end(body.subarray(900));
  });

  it("must declare its number and digest before its data, and be a form", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const lateFields = new FormData();
    lateFields.set("data", new Blob(["x"]), "part");
    lateFields.set("part", "1");
    lateFields.set("sha256", sha256B64u(Buffer.from("x")));
    expect(await sendForm(person, uploadPath(upload), await encodeForm(lateFields))).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
    const formWithoutData = new FormData();
    formWithoutData.set("part", "1");
    formWithoutData.set("sha256", sha256B64u(Buffer.from("x")));
    expect(await sendForm(person, uploadPath(upload), await encodeForm(formWithoutData))).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/data", reason: "missing" }] },
    });
    const { headers, body } = await largeContent.buildPartForm(2);
    expect(await sendForm(person, uploadPath(upload), { headers, body: body.subarray(0, 500) })).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(
      await sendForm(person, uploadPath(upload), { headers: { "content-type": "multipart/form-data" }, body }),
    ).toMatchObject({ status: 400 });
    expect(await service.call("POST", uploadPath(upload), person.token, { body: { part: 1 } })).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
    const startForm = await largeContent.buildStartForm();
    expect(
      await sendForm(person, "/v2/secrets/secret", { ...startForm, body: startForm.body.subarray(0, 200) }),
    ).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await service.call("POST", "/v2/secrets/secret", person.token, { body: { size: 1 } })).toMatchObject({
      status: 415,
    });
    expect(
      await service.call("POST", "/v2/secrets/secret/upload/x", person.token, await largeContent.buildPartForm(1)),
    ).toMatchObject({
      status: 422,
    });
    expect(await listObjects(person)).toEqual([]);
  });

  it("whose connection is lost leaves nothing, and the upload continues", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    const { headers, body } = await largeContent.buildPartForm(1);
    const address = new URL(await service.listen());
    const clientRequest = httpRequest({
      host: address.hostname,
      port: address.port,
      path: uploadPath(upload),
      method: "POST",
      headers: { ...headers, "content-length": body.length, authorization: `Bearer ${person.token}` },
    });
    const connectionClosed = new Promise((resolve) => clientRequest.once("close", resolve));
    clientRequest.on("error", () => undefined); // it is aborted on purpose
    clientRequest.write(body.subarray(0, 3_000_000));
    const { db } = service.app.services;
    const countReserved = () => db.$count(orphanedObjects, eq(orphanedObjects.accountId, person.userId));
    while ((await countReserved()) === 0); // its object is being written
    clientRequest.destroy();
    await connectionClosed;
    while ((await countReserved()) > 0); // and was deleted
    expect(await listObjects(person)).toEqual([]);
    expect((await readUploadState(person, upload)).received).toEqual([]);
    expect((await sendPart(person, upload, largeContent, 1)).status).toBe(200);
  });
});

describe("starting", () => {
  it.each<[string, Record<string, string>]>([
    ["no size", { size: "" }],
    ["a size of 0", { size: "0" }],
    ["a size beyond the limit", { size: String(maxSealedBytes + 1) }],
    ["parts that are too small", { part_size: String(minPartBytes - 1) }],
    ["parts that are too large", { part_size: String(64 * 1024 ** 2 + 1) }],
    ["an id that is none", { secret_db_id: "x" }],
    ["an unknown field", { extra: "1" }],
  ])("with %s is refused", async (_, fields) => {
    const person = await service.signIn();
    expect(
      await sendForm(person, "/v2/secrets/secret", await buildLargeContent().buildStartForm(fields)),
    ).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
  });

  it("reports conflicts at once, before anything is sent", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    const largeContent = buildLargeContent({ id: body.secret_db_id });
    expect(await sendForm(person, "/v2/secrets/secret", await largeContent.buildStartForm())).toMatchObject({
      status: 409,
      body: { code: "id_taken" },
    });
    expect(
      await sendForm(person, "/v2/secrets/secret", await largeContent.buildStartForm({ base_version: "2" })),
    ).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 1 },
    });
    expect(
      await sendForm(person, "/v2/secrets/secret", await buildLargeContent().buildStartForm({ base_version: "1" })),
    ).toMatchObject({
      status: 404,
    });
  });

  it("charges the quota, and cancelling refunds it", async () => {
    const person = await service.signIn(undefined, "second"); // 100,000 bytes
    const firstUpload = await startUpload(person, buildLargeContent({ bytes: 60_000 }));
    expect(
      await sendForm(person, "/v2/secrets/secret", await buildLargeContent({ bytes: 40_001 }).buildStartForm()),
    ).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded" },
    });
    expect(
      await service.call("POST", "/secrets/store", person.token, { body: buildSecret(person, { bytes: 40_001 }).body }),
    ).toMatchObject({ status: 413, body: { code: "quota_exceeded" } });
    expect((await service.call("DELETE", uploadPath(firstUpload), person.token)).status).toBe(204);
    expect(await readContentBytes(person)).toBe(0);
    expect(
      (await sendForm(person, "/v2/secrets/secret", await buildLargeContent({ bytes: 100_000 }).buildStartForm()))
        .status,
    ).toBe(200);
  });

  it("is limited in number", async () => {
    const person = await service.signIn();
    for (let count = 0; count < maxOpenUploads; count++) await startUpload(person, buildLargeContent({ bytes: 10 }));
    expect(
      await sendForm(person, "/v2/secrets/secret", await buildLargeContent({ bytes: 10 }).buildStartForm()),
    ).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded" },
    });
  });
});

describe("finishing", () => {
  const createCompleteUpload = async (
    largeContent = buildLargeContent(),
  ): Promise<{ person: Person; largeContent: LargeContent; upload: string }> => {
    const person = await service.signIn();
    const upload = await startUpload(person, largeContent);
    for (const index of largeContent.parts.keys()) await sendPart(person, upload, largeContent, index + 1);
    return { person, largeContent, upload };
  };

  it("lists missing parts", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent({ bytes: 2 * minPartBytes + 1_000 });
    const upload = await startUpload(person, largeContent);
    await sendPart(person, upload, largeContent, 2);
    expect(await finishUpload(person, upload, buildFinish(person, largeContent))).toMatchObject({
      status: 409,
      body: { code: "upload_incomplete", missing: [1, 3] },
    });
  });

  it("verifies the digest of the whole, and can be retried", async () => {
    const { person, largeContent, upload } = await createCompleteUpload();
    const wrongFinish = buildFinish(person, largeContent, { content_sha256: sha256B64u(Buffer.from("other")) });
    expect(await finishUpload(person, upload, wrongFinish)).toMatchObject({
      status: 422,
      body: { code: "digest_mismatch" },
    });
    expect((await finishUpload(person, upload, buildFinish(person, largeContent))).status).toBe(200);
  });

  it("many times at once reads the content once, and gives all callers the same response", async () => {
    const { person, largeContent, upload } = await createCompleteUpload();
    const readSpy = jest.spyOn(service.app.services.objects, "read");
    try {
      const body = buildFinish(person, largeContent);
      const responses = await Promise.all(Array.from({ length: 10 }, () => finishUpload(person, upload, body)));
      expect(new Set(responses.map(({ status, text }) => `${String(status)} ${text}`)).size).toBe(1);
      expect(responses[0]).toMatchObject({ status: 200 });
      expect(readSpy).toHaveBeenCalledTimes(largeContent.parts.length);
    } finally {
      readSpy.mockRestore();
    }
  });

  it("with an invalid change is refused before the content is read", async () => {
    const { person, largeContent, upload } = await createCompleteUpload();
    const readSpy = jest.spyOn(service.app.services.objects, "read");
    try {
      const { keyring, ...rest } = buildFinish(person, largeContent);
      expect(
        await finishUpload(person, upload, { ...rest, keyring: buildChange(person, { state_rev: 7 }) }),
      ).toMatchObject({
        status: 404,
        body: { code: "no_keyring" },
      });
      expect(
        await finishUpload(person, upload, {
          ...rest,
          keyring: { ...keyring, sig: Buffer.alloc(64).toString("base64url") },
        }),
      ).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
      expect(readSpy).not.toHaveBeenCalled();
    } finally {
      readSpy.mockRestore();
    }
  });

  it("repeated, byte for byte, gets the first response, also after other changes", async () => {
    const { person, largeContent, upload } = await createCompleteUpload();
    const body = buildFinish(person, largeContent);
    const responses = await Promise.all([1, 2, 3].map(() => finishUpload(person, upload, body)));
    expect(responses.map(({ status, body: answer }) => [status, answer])).toEqual(
      Array(3).fill([200, { secret_db_id: largeContent.id, version: 1, state_rev: 1 }]),
    );
    confirmChange(person, body.keyring);
    const otherSecret = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body: otherSecret.body });
    expect(await finishUpload(person, upload, body)).toMatchObject({ status: 200, body: { version: 1, state_rev: 1 } });
    confirmChange(person, otherSecret.body.keyring);
    expect(await finishUpload(person, upload, buildFinish(person, largeContent))).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect(await sendPart(person, upload, largeContent, 1)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await service.call("DELETE", uploadPath(upload), person.token)).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect(await readContentBytes(person)).toBe(largeContent.content.length + otherSecret.content.length);
  });

  it("keeps the parts when another device changed the state, or saved first", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    confirmChange(person, body.keyring);
    const id = body.secret_db_id;
    const largeContent = buildLargeContent({ id });
    const upload = await startUpload(person, largeContent, { base_version: "1" });
    for (const number of [1, 2]) await sendPart(person, upload, largeContent, number);

    const staleChange = buildFinish({ ...person, stateRev: 0, state: null }, largeContent, {
      base: 1,
      change: {
        book: undefined,
        shares: undefined,
        slots: undefined,
        key_statement: undefined,
        image_records: undefined,
      },
    });
    expect(await finishUpload(person, upload, staleChange)).toMatchObject({
      status: 409,
      body: { code: "state_conflict", keyring: { state_rev: 1 } },
    });

    const winningSecret = buildSecret(person, { id, base: 1 });
    await service.call("POST", "/secrets/store", person.token, { body: winningSecret.body });
    const staleFinish = buildFinish(person, largeContent, { base: 1 }); // outdated in both; version comes first
    expect(await finishUpload(person, upload, staleFinish)).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 2 },
    });
    confirmChange(person, winningSecret.body.keyring);

    const thirdFinish = buildFinish(person, largeContent, { base: 2, base_version: 2 });
    expect(await finishUpload(person, upload, thirdFinish)).toMatchObject({
      status: 200,
      body: { version: 3, state_rev: 3 },
    });
    expect((await download(person, { secret_db_id: id, version: 3 })).rawPayload.equals(largeContent.content)).toBe(
      true,
    );
    expect((await download(person, { secret_db_id: id, version: 2 })).rawPayload.equals(winningSecret.content)).toBe(
      true,
    );
  });

  it("publishes exactly one of two uploads with the same base version", async () => {
    const person = await service.signIn();
    const id = uuidv7();
    await uploadLarge(person, buildLargeContent({ id, bytes: 10 }));
    const contents = [buildLargeContent({ id, bytes: 20 }), buildLargeContent({ id, bytes: 30 })];
    const uploads = await Promise.all(
      contents.map(async (largeContent) => {
        const upload = await startUpload(person, largeContent, { base_version: "1" });
        await sendPart(person, upload, largeContent, 1);
        return { upload, body: buildFinish(person, largeContent, { base: 1 }) };
      }),
    );
    const responses = await Promise.all(uploads.map(({ upload, body }) => finishUpload(person, upload, body)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(responses.find(({ status }) => status === 409)?.body.code).toBe("version_conflict");
  });

  it("refuses a label of another version and a change with another signature, and keeps the parts", async () => {
    const { person, largeContent, upload } = await createCompleteUpload();
    const body = buildFinish(person, largeContent);
    expect(
      await finishUpload(person, upload, { ...body, label: buildFinish(person, largeContent, { base: 1 }).label }),
    ).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect(
      await finishUpload(person, upload, { ...body, keyring: { ...body.keyring, state_rev: 1, sig: "A".repeat(86) } }),
    ).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect((await readUploadState(person, upload)).received).toHaveLength(2);
    expect(await service.call("GET", "/secrets/store", person.token)).toMatchObject({ body: { total: 0 } });
  });
});

describe("cancelling", () => {
  it("deletes the parts at once", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const upload = await startUpload(person, largeContent);
    await sendPart(person, upload, largeContent, 1);
    expect(await listObjects(person)).toHaveLength(1);
    expect(await service.call("DELETE", uploadPath(upload), person.token)).toMatchObject({ status: 204, text: "" });
    expect(await listObjects(person)).toEqual([]);
    for (const answer of [
      await service.call("DELETE", uploadPath(upload), person.token),
      await service.call("GET", uploadPath(upload), person.token),
      await sendPart(person, upload, largeContent, 2),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    expect(await finishUpload(person, upload, buildFinish(person, largeContent))).toMatchObject({ status: 404 });
    expect(await readContentBytes(person)).toBe(0);
  });
});

describe("a part that is received while its upload is cancelled", () => {
  it("leaves nothing, in either order", async () => {
    for (let round = 0; round < 5; round++) {
      const person = await service.signIn();
      const largeContent = buildLargeContent();
      const upload = await startUpload(person, largeContent);
      const [, , cancelResponse] = await Promise.all([
        sendPart(person, upload, largeContent, 1),
        sendPart(person, upload, largeContent, 2),
        service.call("DELETE", uploadPath(upload), person.token),
      ]);
      expect(cancelResponse.status).toBe(204);
      expect(await listObjects(person)).toEqual([]);
      expect(await readContentBytes(person)).toBe(0);
    }
  });
});

describe("expiry", () => {
  it("deletes an upload a day after its last part, and not before", async () => {
    const person = await service.signIn();
    const largeContent = buildLargeContent();
    const startTime = clock;
    const setHoursAfterStart = (hours: number): void => {
      clock = new Date(startTime.getTime() + hours * 3_600_000);
    };
    try {
      const upload = await startUpload(person, largeContent);
      setHoursAfterStart(20);
      const { token } = await service.signIn(person.subject);
      const renewedSession = { ...person, token };
      await sendPart(renewedSession, upload, largeContent, 1);
      setHoursAfterStart(43);
      await service.app.sweep();
      expect((await readUploadState(renewedSession, upload)).received).toHaveLength(1);
      setHoursAfterStart(44.1);
      expect(await service.call("GET", uploadPath(upload), token)).toMatchObject({ status: 404 });
      expect(await listObjects(person)).toHaveLength(1);
      await service.app.sweep();
      expect(await listObjects(person)).toEqual([]);
      expect(await readContentBytes(renewedSession)).toBe(0);
    } finally {
      clock = startTime;
    }
  });
});

describe("POST /v2/secrets/get-secret", () => {
  let person: Person;
  let largeContent: LargeContent;
  beforeAll(async () => {
    person = await service.signIn();
    largeContent = buildLargeContent({ bytes: 2 * minPartBytes + 1_000 });
    await uploadLarge(person, largeContent);
  });

  it("returns the whole content with its length, and says that ranges are supported", async () => {
    const { statusCode, headers, rawPayload } = await download(person, { secret_db_id: largeContent.id });
    expect([
      statusCode,
      headers["content-type"],
      headers["content-length"],
      headers["accept-ranges"],
      headers["cache-control"],
    ]).toEqual([200, "application/octet-stream", String(largeContent.content.length), "bytes", "no-store"]);
    expect(rawPayload.equals(largeContent.content)).toBe(true);
  });

  const size = 2 * minPartBytes + 1_000;
  it.each<[string, number, number]>([
    ["bytes=0-0", 0, 0],
    ["bytes=100-199", 100, 199],
    [`bytes=${String(minPartBytes - 1)}-${String(minPartBytes)}`, minPartBytes - 1, minPartBytes],
    [`bytes=${String(minPartBytes)}-${String(2 * minPartBytes - 1)}`, minPartBytes, 2 * minPartBytes - 1],
    [`bytes=${String(2 * minPartBytes + 7)}-`, 2 * minPartBytes + 7, size - 1],
    ["bytes=-500", size - 500, size - 1],
    [`bytes=-${String(size + 5)}`, 0, size - 1],
    [`bytes=5-${String(size + 5)}`, 5, size - 1],
  ])("gives the range %s", async (range, start, end) => {
    const { statusCode, headers, rawPayload } = await download(person, { secret_db_id: largeContent.id }, { range });
    expect([statusCode, headers["content-range"], headers["content-length"]]).toEqual([
      206,
      `bytes ${String(start)}-${String(end)}/${String(size)}`,
      String(end - start + 1),
    ]);
    expect(rawPayload.equals(largeContent.content.subarray(start, end + 1))).toBe(true);
  });

  it.each(["bytes=5-4", "bytes=0-1,5-6", "items=0-1", "bytes=-", "bytes=a-b"])(
    "returns the whole content for %j, which is no valid range",
    async (range) => {
      const { statusCode, rawPayload } = await download(person, { secret_db_id: largeContent.id }, { range });
      expect([statusCode, rawPayload.length]).toEqual([200, size]);
    },
  );

  it.each([`bytes=${String(size)}-`, "bytes=-0"])("answers 416 for %s", async (range) => {
    const { statusCode, headers, body } = await download(person, { secret_db_id: largeContent.id }, { range });
    expect([statusCode, headers["content-range"], (JSON.parse(body) as { code: string }).code]).toEqual([
      416,
      `bytes */${String(size)}`,
      "range_not_satisfiable",
    ]);
  });

  it("honours If-Range, so that two versions are never mixed", async () => {
    const { headers } = await download(person, { secret_db_id: largeContent.id });
    const fetchRange = (etag: string) =>
      download(person, { secret_db_id: largeContent.id }, { range: "bytes=0-9", "if-range": etag });
    expect((await fetchRange(String(headers.etag))).statusCode).toBe(206);
    expect((await fetchRange('"another"')).statusCode).toBe(200);
  });

  it("answers 404 for an unknown version or secret", async () => {
    for (const body of [{ secret_db_id: largeContent.id, version: 2 }, { secret_db_id: uuidv7() }])
      expect((await download(person, body)).statusCode).toBe(404);
    expect((await download(person, { secret_db_id: largeContent.id, extra: 1 })).statusCode).toBe(422);
  });
});
