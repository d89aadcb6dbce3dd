import {
  endedRowRetentionDays,
  uploadPath,
  StartUploadResponse,
  type Json,
  type KeyringChange,
} from "@relicario/shared/api";
import fc from "fast-check";
import { v7 as uuidv7 } from "uuid";

import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildLabel,
  buildSecret,
  buildSlot,
  confirmChange,
  signTicket,
  type Person,
} from "./person.ts";
import { startService, type TestResponse, type Method, type TestService } from "./service.ts";
import {
  startAnswer,
  buildChangeWithDocument,
  finishAnswer,
  formatDaysFromNow,
  createRequest,
  createShare,
  sendParts,
} from "./sharing.ts";
import { checkStoredContents } from "./storage.ts";
import { buildFinish, buildLargeContent } from "./upload.ts";

let service: TestService;
let clock: Date;

const requireSuccess = async (response: Promise<TestResponse>): Promise<TestResponse> => {
  const { status, text } = await response;
  if (status >= 300) throw new Error(text);
  return response;
};

/** What a sweep deletes some time after `expiresAt`. */
interface ExpiringRow {
  readonly path: string;
  readonly expiresAt: string;
}

/** A device that runs random operations where possible. */
class Device {
  readonly person: Person;
  #secrets: { id: string; version: number; trashed: boolean }[] = [];
  readonly #shares: (ExpiringRow & { readonly secretId: string })[] = [];
  readonly #requests: (ExpiringRow & { readonly requestId: string; readonly linkAuth: string })[] = [];
  #openerCount = 0;
  #recoveryCodeId: string | null = null;

  constructor(person: Person) {
    this.person = person;
  }

  #call(method: Method, path: string, body?: unknown): Promise<TestResponse> {
    return requireSuccess(service.call(method, path, this.person.token, body === undefined ? {} : { body }));
  }

  /** @returns false for a change after the end, and for a row that a sweep may have deleted */
  async #callUnlessEnded(
    method: "PATCH" | "DELETE",
    { path, expiresAt }: ExpiringRow,
    body?: unknown,
  ): Promise<boolean> {
    const response = await service.call(method, path, this.person.token, body === undefined ? {} : { body });
    if (response.status < 300) return true;
    const { code } = response.body;
    const mayBeDeleted = Date.parse(expiresAt) + endedRowRetentionDays * 86_400_000 <= clock.getTime();
    if (!(code === "conflict" && method === "PATCH") && !(code === "not_found" && mayBeDeleted))
      throw new Error(response.text);
    return false;
  }

  async #changeKeyring(members: Readonly<Record<string, Json>>): Promise<void> {
    if (this.#secrets.length === 0) return;
    const change = buildChange(this.person, members);
    await this.#call("PUT", "/user/keyring", change);
    confirmChange(this.person, change);
  }

  async #confirmAfterCall(response: Promise<TestResponse>, keyring: KeyringChange): Promise<void> {
    await response;
    confirmChange(this.person, keyring);
  }

  readonly actionsByName: Readonly<Record<string, (size: number) => Promise<void>>> = {
    secret: async (size) => {
      const { body } = buildSecret(this.person, { bytes: size + 1 });
      await this.#confirmAfterCall(this.#call("POST", "/secrets/store", body), body.keyring);
      await this.#call("POST", "/secrets/store", body); // a repetition, byte for byte
      this.#secrets.push({ id: body.secret_db_id, version: 1, trashed: false });
    },
    version: async (size) => {
      const [secret] = this.#secrets;
      if (secret === undefined) return;
      const { body } = buildSecret(this.person, { id: secret.id, base: secret.version, bytes: size + 1 });
      await this.#confirmAfterCall(this.#call("POST", "/secrets/store", body), body.keyring);
      secret.version += 1;
      secret.trashed = false;
      clock = new Date(clock.getTime() + 31 * 86_400_000); // so that versions are displaced
    },
    label: async (size) => {
      const secret = this.#secrets.find(({ trashed }) => !trashed);
      if (secret === undefined) return;
      const { id: secretId, version } = secret;
      const ticket = Buffer.alloc(size + 1).toString("base64url");
      const signedTicket =
        size % 2 === 0 ? {} : { ticket, ticket_sig: signTicket(this.person, { secretId, version, ticket }) };
      const keyring = buildChange(
        this.person,
        size % 3 === 0 ? { shares: this.#buildDocument("relicario-shares") } : {},
      );
      await this.#confirmAfterCall(
        this.#call("POST", "/secrets/store", {
          secret_db_id: secretId,
          base_version: version,
          label: buildLabel(this.person, secretId, version, size + 2),
          ...signedTicket,
          keyring,
        }),
        keyring,
      );
    },
    documents: (size) =>
      this.#changeKeyring(
        size % 2 === 0
          ? { book: this.#buildDocument("relicario-book"), shares: this.#buildDocument("relicario-shares") }
          : { requests: this.#buildDocument("relicario-requests") },
      ),
    openers: async () => {
      const [opener, image] = [uuidv7(), uuidv7()];
      if (this.#openerCount++ > 4) return;
      await this.#changeKeyring({
        slots: {
          set: [buildSlot(opener, "recovery_code"), buildSlot(image), buildSlot(this.person.imageId)],
          remove: [],
        },
        image_records: { set: [buildImageRecord(image), buildImageRecord(this.person.imageId)], remove: [] },
      });
      if (this.#secrets.length > 0) this.#recoveryCodeId = opener;
    },
    removeOpener: async () => {
      if (this.#recoveryCodeId !== null)
        await this.#changeKeyring({ slots: { set: [], remove: [this.#recoveryCodeId] } });
      this.#recoveryCodeId = null;
    },
    trash: async (size) => {
      const secret = this.#secrets.at(-1);
      if (secret === undefined) return;
      await this.#call("DELETE", `/secrets/store/${secret.id}`);
      if (size % 2 === 0 && !secret.trashed) await this.#changeKeyring({ trash_confirm: [secret.id] });
      secret.trashed = true;
    },
    purge: async () => {
      const trashedSecrets = this.#secrets.filter(({ trashed }) => trashed);
      if (trashedSecrets.length === 0) return;
      await this.#changeKeyring({ purge: trashedSecrets.map(({ id }) => id) });
      this.#secrets = this.#secrets.filter(({ trashed }) => !trashed);
    },
    purgeVersions: async () => {
      const secret = this.#secrets.find(({ version }) => version > 1);
      if (secret !== undefined)
        await this.#changeKeyring({ purge_versions: [{ secret_db_id: secret.id, versions: [secret.version - 1] }] });
    },
    upload: async (size) => {
      const largeContent = buildLargeContent({ bytes: size + 1 });
      const { upload_id: id } = StartUploadResponse.parse(
        (
          await requireSuccess(
            service.call("POST", "/v2/secrets/secret", this.person.token, await largeContent.buildStartForm()),
          )
        ).body,
      );
      if (size % 3 === 0) return; // leaves it to expire
      await requireSuccess(
        service.call("POST", uploadPath(id), this.person.token, await largeContent.buildPartForm(1)),
      );
      if (size % 3 === 1) {
        await this.#call("DELETE", uploadPath(id));
        return;
      }
      const body = buildFinish(this.person, largeContent);
      await this.#confirmAfterCall(this.#call("PUT", uploadPath(id), body), body.keyring);
      this.#secrets.push({ id: largeContent.id, version: 1, trashed: false });
    },
    share: async (size) => {
      const secret = this.#secrets.find(({ trashed }) => !trashed);
      if (secret === undefined) return;
      const helper = size % 2 === 0 ? {} : { share_helper: Buffer.alloc(454, size).toString("base64url") };
      const ticket = Buffer.alloc(size + 1).toString("base64url");
      const expiresAt = formatDaysFromNow(7, clock);
      const { shareId } = await createShare(service, this.person, secret.id, {
        version: secret.version,
        ticket,
        expires_at: expiresAt,
        ...helper,
      });
      this.#shares.push({ path: `/share/${shareId}`, expiresAt, secretId: secret.id });
    },
    changeShare: async (size) => {
      const share = this.#shares.at(-1);
      const secret = this.#secrets.find(({ id }) => id === share?.secretId);
      if (share === undefined || secret === undefined) return;
      const keyring = buildChangeWithDocument(this.person, "shares");
      const { id: secretId, version } = secret;
      const ticket = Buffer.alloc(size + 1).toString("base64url");
      const shareId = share.path.slice("/share/".length);
      const signature = signTicket(this.person, { secretId, version, ticket, shareId });
      const body = { version, ticket, ticket_sig: signature, keyring };
      if (await this.#callUnlessEnded("PATCH", share, body)) confirmChange(this.person, keyring);
    },
    revoke: async (size) => {
      const [share] = this.#shares.splice(size % (this.#shares.length + 1), 1);
      if (share !== undefined) await this.#callUnlessEnded("DELETE", share);
    },
    request: async () => {
      if (this.#secrets.length === 0 || this.#requests.length >= 10) return;
      const expiresAt = formatDaysFromNow(7, clock);
      const { requestId, linkAuth } = await createRequest(service, this.person, { expires_at: expiresAt });
      this.#requests.push({ path: `/requests/${requestId}`, expiresAt, requestId, linkAuth });
    },
    answer: async (size) => {
      const request = this.#requests.at(-1);
      if (request === undefined) return;
      const answer = await startAnswer(service, request, size + 1).catch(() => null); // it has ended or is answered
      if (answer === null || size % 3 === 0) return; // leaves it to expire
      await sendParts(service, answer);
      if (size % 3 === 1) await requireSuccess(finishAnswer(service, answer));
    },
    collectAnswers: async () => {
      for (const request of this.#requests) {
        const keyring = buildChangeWithDocument(this.person, "requests");
        const body = { state: "collected", keyring };
        if (await this.#callUnlessEnded("PATCH", request, body)) confirmChange(this.person, keyring);
      }
    },
    dropRequest: async () => {
      const request = this.#requests.shift();
      if (request === undefined) return;
      const keyring = buildChangeWithDocument(this.person, "requests");
      if (await this.#callUnlessEnded("DELETE", request, { keyring })) confirmChange(this.person, keyring);
    },
    passDays: async () => {
      clock = new Date(clock.getTime() + 16 * 86_400_000);
      expect(await service.app.sweep()).toBe(true);
    },
    refusedChange: async () => {
      const { body } = buildSecret(this.person);
      await service.call("POST", "/secrets/store", this.person.token, {
        body: { ...body, keyring: { ...body.keyring, state_rev: 99_999 } },
      });
    },
  };

  #buildDocument(typ: string): string {
    return buildJwe({ typ, user_id: this.person.userId, key_epoch: 1 });
  }
}

/** Runs sixty random operations per round, and compares counted and stored bytes after each. */
export async function checkStorageCounts(rounds: number): Promise<void> {
  clock = new Date();
  const vendors = [{ vendor_id: "relicario", name: "Relicario", former_versions: 2 }];
  service = await startService(
    { VENDORS: JSON.stringify(vendors), RATE_LIMITS: JSON.stringify({ write: 100_000, start_answer: 100_000 }) },
    () => clock,
  );
  try {
    const names = Object.keys(new Device(await service.signIn()).actionsByName);
    const operation = fc.record({ name: fc.constantFrom(...names), size: fc.nat(3_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 60, maxLength: 60 }), async (operations) => {
        const device = new Device(await service.signIn());
        await device.actionsByName["secret"]?.(10);
        for (const { name, size } of operations) {
          await device.actionsByName[name]?.(size);
          await checkStoredContents(service, device.person);
        }
      }),
      { numRuns: rounds, endOnFailure: true },
    );
  } finally {
    await service.stop();
  }
}
