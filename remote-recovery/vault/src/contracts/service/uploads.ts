import { randomBytes } from "node:crypto";

import { buildChange, buildLabel, buildSecret, confirmChange } from "@relicario/api/testing/person";
import { maxSmallSealedBytes, minPartBytes, type FinishUploadBody, type Json } from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import { createTransferCalls, type TransferCalls } from "../../transfer/upload-calls.ts";
import {
  digestB64u,
  expectRefusal,
  randomB64u,
  signInWithSecret,
  stateOf,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

const lastBytes = 1_000;

/**
 * A content too large for one call: whole parts and a small one. Made once: nobody looks into it.
 */
const contents = new Map<number, Uint8Array<ArrayBuffer>>();
function contentFor({ partBytes }: ServiceUnderTest): Uint8Array<ArrayBuffer> {
  const content =
    contents.get(partBytes) ??
    Uint8Array.from(randomBytes(Math.ceil(maxSmallSealedBytes / partBytes) * partBytes + lastBytes));
  contents.set(partBytes, content);
  return content;
}

interface Upload {
  readonly account: Account;
  readonly transfer: TransferCalls;
  readonly id: string;
  readonly secretId: string;
  readonly content: Uint8Array<ArrayBuffer>;
  /** The number of the small part. */
  readonly lastPart: number;
  readonly part: (
    number: number,
    change?: { readonly sha256?: string; readonly data?: Uint8Array<ArrayBuffer>; readonly uploadId?: string },
  ) => Promise<void>;
  /** The last one first. */
  readonly sendAll: () => Promise<void>;
  readonly finish: (
    overrides?: Partial<FinishUploadBody> & {
      readonly version?: number;
      readonly change?: Readonly<Record<string, Json | undefined>>;
    },
  ) => FinishUploadBody;
}

/** An upload that was started: of a new secret, or with `base` of the version after it. */
async function startUpload(
  service: ServiceUnderTest,
  account: Account,
  { secretId = newId(Date.now()), base = null }: { readonly secretId?: string; readonly base?: number | null } = {},
): Promise<Upload> {
  const content = contentFor(service);
  const transfer = createTransferCalls(account.http);
  const { upload_id: id } = await transfer.start({
    size: content.length,
    partSize: minPartBytes,
    secretId,
    baseVersion: base,
  });
  const lastPart = Math.ceil(content.length / service.partBytes);
  const part: Upload["part"] = (
    number,
    {
      data = content.slice((number - 1) * service.partBytes, number * service.partBytes),
      sha256 = digestB64u(data),
      uploadId = id,
    } = {},
  ) => transfer.part(uploadId, { part: number, sha256 }, new Blob([data]));
  return {
    ...{ account, transfer, id, secretId, content, lastPart, part },
    sendAll: async () => {
      for (let number = lastPart; number >= 1; number--) await part(number);
    },
    finish: ({ version = (base ?? 0) + 1, change = {}, ...more } = {}) => ({
      label: buildLabel(account.signer, secretId, version),
      ticket: randomB64u(2_000),
      content_sha256: digestB64u(content),
      keyring: buildChange(account.signer, change),
      ...more,
    }),
  };
}

export function describeUploads(service: () => ServiceUnderTest): void {
  const beginUpload = async (): Promise<Upload> => startUpload(service(), (await signInWithSecret(service())).account);

  describe("a content in parts", () => {
    it("is published by its finish, and read back in ranges", async () => {
      const upload = await beginUpload();
      const { account, transfer, content, secretId } = upload;
      const before = await stateOf(account);
      await upload.sendAll();
      expect(await stateOf(account)).toEqual(before);
      const { partBytes } = service();
      const received = Array.from({ length: upload.lastPart }, (_, index) => {
        const part = content.slice(index * partBytes, (index + 1) * partBytes);
        return { part: index + 1, size: part.length, sha256: digestB64u(part) };
      });
      const expected = {
        upload_id: upload.id,
        secret_db_id: secretId,
        base_version: null,
        size: content.length,
        part_size: partBytes,
        parts: upload.lastPart,
      };
      expect(await transfer.state(upload.id)).toMatchObject({ ...expected, received, published: null });

      const body = upload.finish();
      const answer = { secret_db_id: secretId, version: 1, state_rev: 2 };
      expect(await transfer.finish(upload.id, body)).toEqual(answer);
      expect(await transfer.finish(upload.id, body)).toEqual(answer);
      expect(await transfer.state(upload.id)).toMatchObject({
        ...expected,
        received: [],
        published: { version: 1, state_rev: 2 },
      });
      expect(await account.calls.getSecret(secretId, null)).toMatchObject({
        version: 1,
        ticket: body.ticket,
        content: null,
        label: body.label,
        versions: [{ size: content.length }],
      });
      for (const [start, end] of [
        [0, 10],
        [partBytes - 5, partBytes + 5],
        [content.length - 3, content.length + 9],
      ] as const) {
        const { bytes, size } = await transfer.range({ secretId, version: 1 }, start, end);
        expect(size).toBe(content.length);
        expect(Buffer.from(bytes)).toEqual(Buffer.from(content.subarray(start, end)));
      }
    });

    it("takes each part once, with its length and digest", async () => {
      const upload = await beginUpload();
      const { lastPart } = upload;
      const rest = upload.content.slice(-lastBytes);
      await expectRefusal(upload.part(lastPart, { sha256: digestB64u(rest.slice(1)) }), "digest_mismatch");
      await expectRefusal(upload.part(lastPart, { data: rest.slice(1) }), "validation_error");
      await expectRefusal(upload.part(lastPart, { data: Uint8Array.from([...rest, 0]) }), "validation_error");
      await expectRefusal(upload.part(lastPart + 1, { data: rest }), "validation_error");
      await expectRefusal(upload.part(0, { data: rest }), "validation_error");
      expect((await upload.transfer.state(upload.id)).received).toEqual([]);
      await upload.part(lastPart);
      await upload.part(lastPart);
      await expectRefusal(upload.part(lastPart, { data: rest.map((byte) => byte ^ 1) }), "conflict");
      expect((await upload.transfer.state(upload.id)).received).toEqual([
        { part: lastPart, size: lastBytes, sha256: digestB64u(rest) },
      ]);
      await expectRefusal(upload.part(lastPart, { uploadId: newId(Date.now()) }), "upload_dropped");
    });

    it("is not published while parts are missing, under another digest, label or state", async () => {
      const upload = await beginUpload();
      const before = await stateOf(upload.account);
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish()), "upload_incomplete");
      await upload.part(upload.lastPart);
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish()), "upload_incomplete");
      await upload.sendAll();
      await expectRefusal(
        upload.transfer.finish(upload.id, upload.finish({ content_sha256: digestB64u(Buffer.from("another")) })),
        "digest_mismatch",
      );
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish({ version: 2 })), "keyring_change_invalid");
      await expectRefusal(
        upload.transfer.finish(upload.id, upload.finish({ change: { state_rev: 9 } })),
        "state_conflict",
      );
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish({ base_version: 1 })), "conflict");
      await expectRefusal(upload.transfer.finish(newId(Date.now()), upload.finish()), "upload_dropped");
      expect(await stateOf(upload.account)).toEqual(before);
      expect(await upload.transfer.finish(upload.id, upload.finish())).toMatchObject({ version: 1 });
    });

    it("changes no more once it is published", async () => {
      const upload = await beginUpload();
      await upload.sendAll();
      await upload.transfer.finish(upload.id, upload.finish());
      await expectRefusal(upload.part(upload.lastPart), "conflict");
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish()), "conflict");
      await upload.transfer.cancel(upload.id);
      expect(await upload.transfer.state(upload.id)).toMatchObject({ published: { version: 1 } });
    });

    it("is given up without a trace", async () => {
      const upload = await beginUpload();
      const before = await stateOf(upload.account);
      await upload.part(upload.lastPart);
      await upload.transfer.cancel(upload.id);
      await upload.transfer.cancel(upload.id);
      await expectRefusal(upload.transfer.state(upload.id), "upload_dropped");
      await expectRefusal(upload.part(upload.lastPart), "upload_dropped");
      expect(await stateOf(upload.account)).toEqual(before);
      const other = createTransferCalls((await service().signIn()).http);
      await expectRefusal(other.state((await startUpload(service(), upload.account)).id), "upload_dropped");
    });

    it("is refused at its start where it could not be published", async () => {
      const { account, first } = await signInWithSecret(service());
      await expectRefusal(startUpload(service(), account, { secretId: first.id }), "id_taken");
      await expectRefusal(startUpload(service(), account, { secretId: first.id, base: 2 }), "version_conflict");
      await expectRefusal(startUpload(service(), account, { base: 1 }), "not_found");
      for (let base = 1; base <= service().formerVersions; base++) await storeSecret(account, { id: first.id, base });
      await expectRefusal(
        startUpload(service(), account, { secretId: first.id, base: service().formerVersions + 1 }),
        "too_many_versions",
      );
    });

    it("follows the version that another device saved meanwhile, when its finish says so", async () => {
      const { account, first } = await signInWithSecret(service());
      const upload = await startUpload(service(), account, { secretId: first.id, base: 1 });
      await upload.sendAll();
      await storeSecret(account, { id: first.id, base: 1 });
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish()), "version_conflict");
      const body = upload.finish({ base_version: 2, version: 3 });
      expect(await upload.transfer.finish(upload.id, body)).toEqual({
        secret_db_id: first.id,
        version: 3,
        state_rev: 3,
      });
      confirmChange(account.signer, body.keyring);
      expect((await account.calls.getVersions(first.id)).map(({ version }) => version)).toEqual([3, 2, 1]);
    });

    it("is no new secret where another device took its id meanwhile", async () => {
      const upload = await beginUpload();
      await upload.sendAll();
      const { body } = buildSecret(upload.account.signer, { id: upload.secretId });
      await upload.account.calls.store(body);
      confirmChange(upload.account.signer, body.keyring);
      await expectRefusal(upload.transfer.finish(upload.id, upload.finish()), "id_taken");
    });
  });
}
