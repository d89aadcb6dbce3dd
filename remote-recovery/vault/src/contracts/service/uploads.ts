import { randomBytes } from "node:crypto";

import {
  buildChange,
  buildLabel,
  buildSecret,
  confirmChange,
  rememberContent,
  signTicket,
} from "@relicario/api/testing/person";
import { maxSmallSealedBytes, minPartBytes, type FinishUploadBody, type Json } from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import { createTransferCalls, type TransferCalls } from "../../transfer/upload-calls.ts";
import {
  computeDigestB64u,
  expectRefusal,
  randomB64u,
  signInWithSecret,
  readAccountState,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

const lastPartBytes = 1_000;

/**
 * Contents that are too large for one call: full parts and a small one. Cached, because tests only
 * read them.
 */
const contentByPartSize = new Map<number, Uint8Array<ArrayBuffer>>();
function getContent({ partBytes }: ServiceUnderTest): Uint8Array<ArrayBuffer> {
  const content =
    contentByPartSize.get(partBytes) ??
    Uint8Array.from(randomBytes(Math.ceil(maxSmallSealedBytes / partBytes) * partBytes + lastPartBytes));
  contentByPartSize.set(partBytes, content);
  return content;
}

interface Upload {
  readonly account: Account;
  readonly transfer: TransferCalls;
  readonly id: string;
  readonly secretId: string;
  readonly content: Uint8Array<ArrayBuffer>;
  /** Number of the last, small part. */
  readonly lastPartNumber: number;
  readonly sendPart: (
    number: number,
    change?: { readonly sha256?: string; readonly data?: Uint8Array<ArrayBuffer>; readonly uploadId?: string },
  ) => Promise<void>;
  /** Sends the last part first. */
  readonly sendAll: () => Promise<void>;
  readonly buildFinishBody: (
    overrides?: Partial<FinishUploadBody> & {
      readonly version?: number;
      readonly change?: Readonly<Record<string, Json | undefined>>;
    },
  ) => FinishUploadBody;
}

/** Starts an upload of a new secret or, with `base`, of its next version. */
async function startUpload(
  service: ServiceUnderTest,
  account: Account,
  { secretId = newId(Date.now()), base = null }: { readonly secretId?: string; readonly base?: number | null } = {},
): Promise<Upload> {
  const content = getContent(service);
  const transfer = createTransferCalls(account.http);
  const { upload_id: id } = await transfer.start({
    size: content.length,
    partSize: minPartBytes,
    secretId,
    baseVersion: base,
  });
  const lastPartNumber = Math.ceil(content.length / service.partBytes);
  const sendPart: Upload["sendPart"] = (
    number,
    {
      data = content.slice((number - 1) * service.partBytes, number * service.partBytes),
      sha256 = computeDigestB64u(data),
      uploadId = id,
    } = {},
  ) => transfer.part(uploadId, { part: number, sha256 }, new Blob([data]));
  return {
    ...{ account, transfer, id, secretId, content, lastPartNumber, sendPart },
    sendAll: async () => {
      for (let number = lastPartNumber; number >= 1; number--) await sendPart(number);
    },
    buildFinishBody: ({ version = (base ?? 0) + 1, change = {}, ticket = randomB64u(2_000), ...more } = {}) => {
      rememberContent(account.signer, secretId, version, content);
      return {
        label: buildLabel(account.signer, secretId, version),
        ticket,
        ticket_sig: signTicket(account.signer, { secretId, version, ticket }),
        content_sha256: computeDigestB64u(content),
        keyring: buildChange(account.signer, change),
        ...more,
      };
    },
  };
}

export function describeUploads(service: () => ServiceUnderTest): void {
  const beginUpload = async (): Promise<Upload> => startUpload(service(), (await signInWithSecret(service())).account);

  describe("a content in parts", () => {
    it("is published when finished, and read back in ranges", async () => {
      const upload = await beginUpload();
      const { account, transfer, content, secretId } = upload;
      const stateBefore = await readAccountState(account);
      await upload.sendAll();
      expect(await readAccountState(account)).toEqual(stateBefore);
      const { partBytes } = service();
      const received = Array.from({ length: upload.lastPartNumber }, (_, index) => {
        const part = content.slice(index * partBytes, (index + 1) * partBytes);
        return { part: index + 1, size: part.length, sha256: computeDigestB64u(part) };
      });
      const expected = {
        upload_id: upload.id,
        secret_db_id: secretId,
        base_version: null,
        size: content.length,
        part_size: partBytes,
        parts: upload.lastPartNumber,
      };
      expect(await transfer.state(upload.id)).toMatchObject({ ...expected, received, published: null });

      const body = upload.buildFinishBody();
      const expectedResult = { secret_db_id: secretId, version: 1, state_rev: 2 };
      expect(await transfer.finish(upload.id, body)).toEqual(expectedResult);
      expect(await transfer.finish(upload.id, body)).toEqual(expectedResult);
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

    it("accepts each part once, with the right length and digest", async () => {
      const upload = await beginUpload();
      const { lastPartNumber } = upload;
      const lastPartContent = upload.content.slice(-lastPartBytes);
      await expectRefusal(
        upload.sendPart(lastPartNumber, { sha256: computeDigestB64u(lastPartContent.slice(1)) }),
        "digest_mismatch",
      );
      await expectRefusal(upload.sendPart(lastPartNumber, { data: lastPartContent.slice(1) }), "validation_error");
      await expectRefusal(
        upload.sendPart(lastPartNumber, { data: Uint8Array.from([...lastPartContent, 0]) }),
        "validation_error",
      );
      await expectRefusal(upload.sendPart(lastPartNumber + 1, { data: lastPartContent }), "validation_error");
      await expectRefusal(upload.sendPart(0, { data: lastPartContent }), "validation_error");
      expect((await upload.transfer.state(upload.id)).received).toEqual([]);
      await upload.sendPart(lastPartNumber);
      await upload.sendPart(lastPartNumber);
      await expectRefusal(
        upload.sendPart(lastPartNumber, { data: lastPartContent.map((byte) => byte ^ 1) }),
        "conflict",
      );
      expect((await upload.transfer.state(upload.id)).received).toEqual([
        { part: lastPartNumber, size: lastPartBytes, sha256: computeDigestB64u(lastPartContent) },
      ]);
      await expectRefusal(upload.sendPart(lastPartNumber, { uploadId: newId(Date.now()) }), "upload_dropped");
    });

    it("is not published with missing parts, or another digest, label or state", async () => {
      const upload = await beginUpload();
      const stateBefore = await readAccountState(upload.account);
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody()), "upload_incomplete");
      await upload.sendPart(upload.lastPartNumber);
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody()), "upload_incomplete");
      await upload.sendAll();
      await expectRefusal(
        upload.transfer.finish(
          upload.id,
          upload.buildFinishBody({ content_sha256: computeDigestB64u(Buffer.from("another")) }),
        ),
        "digest_mismatch",
      );
      await expectRefusal(
        upload.transfer.finish(upload.id, upload.buildFinishBody({ version: 2 })),
        "keyring_change_invalid",
      );
      await expectRefusal(
        upload.transfer.finish(upload.id, upload.buildFinishBody({ change: { state_rev: 9 } })),
        "state_conflict",
      );
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody({ base_version: 1 })), "conflict");
      await expectRefusal(upload.transfer.finish(newId(Date.now()), upload.buildFinishBody()), "upload_dropped");
      expect(await readAccountState(upload.account)).toEqual(stateBefore);
      expect(await upload.transfer.finish(upload.id, upload.buildFinishBody())).toMatchObject({ version: 1 });
    });

    it("cannot be changed after publication", async () => {
      const upload = await beginUpload();
      await upload.sendAll();
      await upload.transfer.finish(upload.id, upload.buildFinishBody());
      await expectRefusal(upload.sendPart(upload.lastPartNumber), "conflict");
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody()), "conflict");
      await upload.transfer.cancel(upload.id);
      expect(await upload.transfer.state(upload.id)).toMatchObject({ published: { version: 1 } });
    });

    it("is cancelled without a trace", async () => {
      const upload = await beginUpload();
      const stateBefore = await readAccountState(upload.account);
      await upload.sendPart(upload.lastPartNumber);
      await upload.transfer.cancel(upload.id);
      await upload.transfer.cancel(upload.id);
      await expectRefusal(upload.transfer.state(upload.id), "upload_dropped");
      await expectRefusal(upload.sendPart(upload.lastPartNumber), "upload_dropped");
      expect(await readAccountState(upload.account)).toEqual(stateBefore);
      const other = createTransferCalls((await service().signIn()).http);
      await expectRefusal(other.state((await startUpload(service(), upload.account)).id), "upload_dropped");
    });

    it("is refused at the start when it could not be published", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      await expectRefusal(startUpload(service(), account, { secretId: firstSecret.id }), "id_taken");
      await expectRefusal(startUpload(service(), account, { secretId: firstSecret.id, base: 2 }), "version_conflict");
      await expectRefusal(startUpload(service(), account, { base: 1 }), "not_found");
      for (let base = 1; base <= service().maxFormerVersions; base++)
        await storeSecret(account, { id: firstSecret.id, base });
      await expectRefusal(
        startUpload(service(), account, { secretId: firstSecret.id, base: service().maxFormerVersions + 1 }),
        "too_many_versions",
      );
    });

    it("follows a version that another device saved meanwhile, when finished on that version", async () => {
      const { account, firstSecret } = await signInWithSecret(service());
      const upload = await startUpload(service(), account, { secretId: firstSecret.id, base: 1 });
      await upload.sendAll();
      await storeSecret(account, { id: firstSecret.id, base: 1 });
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody()), "version_conflict");
      const body = upload.buildFinishBody({ base_version: 2, version: 3 });
      expect(await upload.transfer.finish(upload.id, body)).toEqual({
        secret_db_id: firstSecret.id,
        version: 3,
        state_rev: 3,
      });
      confirmChange(account.signer, body.keyring);
      expect((await account.calls.getVersions(firstSecret.id)).map(({ version }) => version)).toEqual([3, 2, 1]);
    });

    it("is refused as a new secret when another device took its id meanwhile", async () => {
      const upload = await beginUpload();
      await upload.sendAll();
      const { body } = buildSecret(upload.account.signer, { id: upload.secretId });
      await upload.account.calls.store(body);
      confirmChange(upload.account.signer, body.keyring);
      await expectRefusal(upload.transfer.finish(upload.id, upload.buildFinishBody()), "id_taken");
    });
  });
}
