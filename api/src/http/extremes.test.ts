import { createHash, randomBytes } from "node:crypto";

import { encodeCanonical, OwnShare, type Json, type KeyringChange } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { v7 as uuidv7 } from "uuid";
import { z } from "zod";

import { feedback, requests, shareReports, shares } from "../db/schema.ts";
import {
  applyExtremes,
  listExtremes,
  listOperationInputs,
  listScalarExtremes,
  type Extreme,
  type OperationInput,
} from "../testing/extreme-values.ts";
import {
  buildBatch,
  buildChange,
  buildImageRecord,
  buildJwe,
  buildLabel,
  buildSecret,
  buildSlot,
  computeDigest,
  confirmChange,
  signChange,
  signDocument,
  signTicket,
  type Person,
} from "../testing/person.ts";
import {
  startService,
  type CallOptions,
  type Method,
  type TestResponse,
  type TestService,
} from "../testing/service.ts";
import {
  answerRequest,
  buildChangeWithDocument,
  buildOpening,
  buildRequest,
  buildShare,
  createPublicId,
  createRequest,
  createShare,
  sendParts,
  startAnswer,
  storeSecret,
  type StartedAnswer,
} from "../testing/sharing.ts";
import { buildFinish, buildLargeContent, encodeForm, sha256B64u, type LargeContent } from "../testing/upload.ts";
import { rateLimitNames } from "./rate-limits.ts";

jest.setTimeout(300_000); // thousands of calls, on a machine that may be busy

let service: TestService;
let person: Person;
let recipient: Person;
let secretId: string;
let currentVersion = 1;
let inputs: readonly OperationInput[];
beforeAll(async () => {
  service = await startService({
    RATE_LIMITS: JSON.stringify(Object.fromEntries(rateLimitNames.map((name) => [name, 100_000]))),
  });
  inputs = listOperationInputs((await service.call("GET", "/openapi.json", null)).body);
  recipient = await service.signIn();
});
beforeEach(() => createAccount());
afterAll(() => service.stop());

/** An account has limits: of open uploads, requests, openers. */
const callsPerAccount = 12;
let callCount = 0;
const createAccount = async (): Promise<void> => {
  person = await service.signIn();
  secretId = (await storeSecret(service, person)).id;
  currentVersion = 1;
};

const call = (method: Method, path: string, body?: unknown) =>
  service.call(method, path, person.token, body === undefined ? {} : { body });

const requireBody = async (response: Promise<TestResponse>): Promise<TestResponse["body"]> => {
  const { status, body, text } = await response;
  if (status !== 200) throw new Error(text);
  return body;
};

/** All that an account can read. */
const readPaths = [
  ...["/user/me", "/user/keyring?states_since=0", "/user/image-records", "/user/sessions", "/user/activity"],
  ...["/secrets/store", "/requests?get_expired=true", "/user/share-with-me?get_expired=true"],
];
const expectReadable = async (): Promise<void> => {
  for (const path of [...readPaths, `/sharelist/${secretId}?get_expired=true`, `/secrets/store/${secretId}/versions`])
    expect([path, (await call("GET", path)).status]).toEqual([path, 200]);
};

type Body = Record<string, unknown>;

interface Case {
  readonly call: `${Method} ${string}`;
  /** What differs from the other cases of the same call. */
  readonly variant?: string;
  /** Without a session, as a visitor or sender. */
  readonly isAnonymous?: true;
  /** Response to the valid body, unless 200. */
  readonly status?: number;
  /** A valid body, and the path to send it to unless it is the call's own. */
  readonly build: () => Promise<{
    readonly body: object;
    readonly path?: string;
    readonly headers?: CallOptions["headers"];
  }>;
  readonly encode?: (body: Body) => Promise<CallOptions>;
  /** The written members as they are read back. */
  readonly read?: (body: Body, response: Body) => Promise<Body>;
  /** Members that are tried, unless all: other variants have the same ones. */
  readonly tried?: readonly string[];
  /** Members that no call reads back. */
  readonly unread: readonly string[];
}

const signNewTicket = (bytes: number, version: number, shareId: string | null = null): object => {
  const ticket = randomBytes(bytes).toString("base64url");
  return { ticket, ticket_sig: signTicket(person, { secretId, version, ticket, shareId }) };
};

const readSecret = async (id: unknown): Promise<Body> => {
  const { version, ticket, content, label } = await requireBody(
    call("POST", "/secrets/store/get-secret", { secret_db_id: id }),
  );
  return { secret_db_id: id, base_version: Number(version) - 1, ticket, content, label };
};

const keyringMembers = ["key_epoch", "state_rev", "state", "book", "shares", "requests", "key_statement"];

/** The members of a change as they are stored. */
const readKeyring = async ({ keyring }: { readonly keyring?: unknown }): Promise<Body> => {
  const { slots, image_records: records, ...rest } = keyring as KeyringChange;
  const stored = await requireBody(call("GET", "/user/keyring"));
  const { image_records: storedRecords } = await requireBody(call("GET", "/user/image-records"));
  const find = (rows: unknown, key: string, id: string): unknown =>
    (rows as Record<string, unknown>[]).find((row) => row[key] === id);
  const isMissing = (rows: unknown, key: string) => (id: string) => find(rows, key, id) === undefined;
  return {
    ...Object.fromEntries(keyringMembers.map((name) => [name, name in rest ? stored[name] : undefined])),
    slots: slots && {
      set: slots.set.map(({ opener_id: id }) => find(stored["slots"], "opener_id", id)),
      remove: slots.remove.filter(isMissing(stored["slots"], "opener_id")),
    },
    image_records: records && {
      set: records.set.map(({ id }) => find(storedRecords, "id", id)),
      remove: records.remove.filter(isMissing(storedRecords, "id")),
    },
  };
};

const readRequest = async ({ request_id: id }: Body): Promise<Body> => {
  const { requests: listed } = await requireBody(call("GET", "/requests?get_expired=true"));
  const [row] = await service.app.services.db
    .select()
    .from(requests)
    .where(eq(requests.requestId, String(id)));
  return {
    ...(listed as Body[]).find(({ request_id: listedId }) => listedId === id),
    document: row?.document,
    link_auth_sha256: row?.linkAuthSha256.toString("base64url"),
    notify: row?.notify,
  };
};

const readShare = async (shareId: unknown): Promise<Body> => {
  const { shares: listed } = await requireBody(call("GET", `/sharelist/${secretId}?get_expired=true`));
  const [row] = await service.app.services.db
    .select()
    .from(shares)
    .where(eq(shares.shareId, String(shareId)));
  const share = z
    .array(OwnShare)
    .parse(listed)
    .find(({ share_id: id }) => id === shareId);
  return {
    ...share,
    recipient: share?.recipient?.user_id,
    ticket: row?.ticket?.toString("base64url"),
    share_helper: row?.shareHelper?.toString("base64url"),
    link_auth_sha256: row?.linkAuthSha256?.toString("base64url"),
    pass_auth_sha256: row?.passAuthSha256?.toString("base64url"),
  };
};

let largeContent: LargeContent;
let answer: StartedAnswer;

const encodeFields = (body: Body, data?: Uint8Array): Promise<CallOptions> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  if (data !== undefined) form.set("data", new Blob([Uint8Array.from(data)]), "part");
  return encodeForm(form);
};

const startUpload = async (): Promise<string> => {
  largeContent = buildLargeContent({ bytes: 100 });
  const options = await largeContent.buildStartForm();
  const { upload_id: id } = await requireBody(service.call("POST", "/v2/secrets/secret", person.token, options));
  return `/v2/secrets/secret/upload/${String(id)}`;
};

const signedMembers = [
  ...["keyring.v", "keyring.user_id", "keyring.sig", "keyring.author_sig", "keyring.trash_confirm"],
  "ticket_sig",
];
const stageMembers = ["keyring.purge", "keyring.purge_versions", "keyring.stage_id", "keyring.stage_sha256"];

/** Every call that takes a body. */
const cases: readonly Case[] = [
  {
    call: "POST /auth/token",
    status: 401,
    build: async () => ({ path: "/auth/token?app_vendor_id=relicario", body: { token: "x" } }),
    unread: ["token"],
  },
  {
    call: "POST /auth/backchannel-logout",
    status: 400,
    build: async () => ({ body: { logout_token: "x" } }),
    encode: ({ logout_token: token }) =>
      Promise.resolve({
        body: Buffer.from(new URLSearchParams({ logout_token: String(token) }).toString()),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    unread: ["logout_token"],
  },
  {
    call: "POST /user/me",
    build: async () => ({
      body: {
        user_name: `ana.${randomBytes(4).toString("hex")}`,
        contact_email: `${randomBytes(4).toString("hex")}@example.org`,
        rehearsal_due_at: "2026-12-31T23:59:59.999Z",
        notifications: { rehearsal: true, share_opened: false },
        telemetry: true,
      },
    }),
    read: () => requireBody(call("GET", "/user/me")),
    unread: [],
  },
  {
    call: "PUT /user/keyring",
    build: async () => {
      const record = buildImageRecord(uuidv7());
      return {
        body: buildChange(person, {
          book: buildJwe({ typ: "relicario-book", user_id: person.userId, key_epoch: 1 }),
          shares: buildJwe({ typ: "relicario-shares", user_id: person.userId, key_epoch: 1 }),
          requests: buildJwe({ typ: "relicario-requests", user_id: person.userId, key_epoch: 1 }),
          image_records: { set: [record], remove: [] },
          slots: { set: [buildSlot(record.id)], remove: [] },
        }),
      };
    },
    read: async (body) => readKeyring({ keyring: body }),
    unread: ["v", "user_id", "sig", "author_sig", "trash_confirm"],
  },
  {
    call: "PUT /user/keyring",
    variant: "removed openers",
    tried: ["slots", "image_records"],
    build: async () => {
      const record = buildImageRecord(uuidv7());
      const addition = buildChange(person, {
        image_records: { set: [record], remove: [] },
        slots: { set: [buildSlot(record.id)], remove: [] },
      });
      await requireBody(call("PUT", "/user/keyring", addition));
      confirmChange(person, addition);
      return {
        body: buildChange(person, {
          image_records: { set: [], remove: [record.id] },
          slots: { set: [], remove: [record.id] },
        }),
      };
    },
    read: (body) => readKeyring({ keyring: body }),
    unread: ["v", "user_id", "sig", "author_sig", "trash_confirm"],
  },
  {
    call: "PUT /user/keyring",
    variant: "purges",
    tried: ["purge", "purge_versions"],
    build: async () => {
      const { id } = await storeSecret(service, person);
      await requireBody(call("DELETE", `/secrets/store/${id}`));
      const versioned = await storeSecret(service, person);
      await storeSecret(service, person, { id: versioned.id, base: 1 });
      return {
        body: buildChange(person, {
          purge: [id],
          purge_versions: [{ secret_db_id: versioned.id, versions: [1] }],
        }),
      };
    },
    read: async (body) => {
      const change = body as unknown as KeyringChange;
      const { secrets } = await requireBody(call("GET", "/secrets/store"));
      const storedIds = new Set((secrets as Body[]).map(({ secret_db_id: id }) => id));
      return {
        ...(await readKeyring({ keyring: change })),
        purge: change.purge?.filter((id) => !storedIds.has(id)),
        purge_versions:
          change.purge_versions &&
          (await Promise.all(
            change.purge_versions.map(async ({ secret_db_id: id, versions }) => {
              const stored = await requireBody(call("GET", `/secrets/store/${id}/versions`));
              const dropped = (stored["versions"] as Body[]).flatMap((row) =>
                row["dropped"] === true ? [row["version"]] : [],
              );
              return { secret_db_id: id, versions: versions.filter((version) => dropped.includes(version)) };
            }),
          )),
      };
    },
    unread: ["v", "user_id", "sig", "author_sig", "trash_confirm"],
  },
  {
    call: "PUT /user/keyring",
    variant: "a stage that is not there",
    tried: ["stage_id", "stage_sha256"],
    status: 409,
    build: async () => ({ body: buildChange(person, { stage_id: uuidv7(), stage_sha256: computeDigest("") }) }),
    unread: [
      "v",
      "user_id",
      "sig",
      "author_sig",
      "trash_confirm",
      "key_epoch",
      "state_rev",
      "state",
      "stage_id",
      "stage_sha256",
    ],
  },
  {
    call: "POST /user/keyring/stage",
    build: async () => ({
      body: {
        stage_id: uuidv7(),
        rows: [
          {
            secret_db_id: secretId,
            version: currentVersion,
            label: buildLabel(person, secretId, currentVersion, 2),
            ticket: randomBytes(2_000).toString("base64url"),
            content: randomBytes(300).toString("base64url"),
          },
        ],
      },
    }),
    read: async ({ stage_id: id, rows }) => {
      const stored = await requireBody(call("GET", `/user/keyring/stage/${String(id)}`));
      const storedDigests = (stored["rows"] as Body[]).map(({ row_sha256: digest }) => digest);
      const isStored = (row: unknown): boolean =>
        storedDigests.includes(
          createHash("sha256")
            .update(encodeCanonical(row as Json))
            .digest("base64url"),
        );
      return { stage_id: stored["stage_id"], rows: (rows as unknown[]).filter(isStored) };
    },
    unread: [],
  },
  {
    call: "POST /secrets/store",
    variant: "a new secret",
    build: async () => ({ body: buildSecret(person).body }),
    read: async (body) => ({ ...(await readSecret(body["secret_db_id"])), keyring: await readKeyring(body) }),
    unread: [...signedMembers, ...stageMembers],
  },
  {
    call: "POST /secrets/store",
    variant: "a new version",
    build: async () => ({ body: buildSecret(person, { id: secretId, base: currentVersion }).body }),
    read: async (body) => ({ ...(await readSecret(secretId)), keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "POST /secrets/store",
    variant: "a label",
    build: async () => ({
      body: {
        secret_db_id: secretId,
        base_version: currentVersion,
        label: buildLabel(person, secretId, currentVersion, 2),
        ...signNewTicket(2_000, currentVersion),
        keyring: buildChange(person),
      },
    }),
    read: async (body) => {
      const { label, ticket } = await readSecret(secretId);
      return { label, ticket, keyring: await readKeyring(body) };
    },
    unread: ["secret_db_id", "base_version", ...signedMembers],
  },
  {
    call: "POST /secrets/store",
    variant: "a restored secret",
    build: async () => ({ body: { secret_db_id: secretId, restore: true } }),
    read: async () => {
      const { secrets } = await requireBody(call("GET", "/secrets/store"));
      const row = (secrets as Body[]).find(({ secret_db_id: id }) => id === secretId);
      return { secret_db_id: row?.["secret_db_id"], restore: !("deleted_at" in (row ?? {})) };
    },
    unread: [],
  },
  {
    call: "POST /secrets/store/batch",
    build: async () => ({ body: buildBatch(person, 2) }),
    read: async (body) => ({
      secrets: await Promise.all(
        (body["secrets"] as Body[]).map(async ({ secret_db_id: id, ticket_sig: signature }) => {
          const { base_version: _, ...stored } = await readSecret(id);
          return { ...stored, ticket_sig: signature }; // not stored
        }),
      ),
      keyring: await readKeyring(body),
    }),
    unread: signedMembers,
  },
  {
    call: "POST /secrets/store/get-secret",
    build: async () => ({ body: { secret_db_id: secretId, version: 1 } }),
    unread: ["secret_db_id", "version"],
  },
  {
    call: "POST /v2/secrets/get-secret",
    build: async () => ({ body: { secret_db_id: secretId, version: 1 } }),
    unread: ["secret_db_id", "version"],
  },
  {
    call: "PATCH /secrets/favorite",
    build: async () => ({ body: { secret_db_id: secretId, favorite: true } }),
    read: async () => {
      const { secrets } = await requireBody(call("GET", "/secrets/store"));
      const row = (secrets as Body[]).find(({ secret_db_id: id }) => id === secretId);
      return { secret_db_id: row?.["secret_db_id"], favorite: row?.["favorite"] };
    },
    unread: [],
  },
  {
    call: "POST /share",
    variant: "a link",
    build: async () => {
      const { body } = buildShare(person, secretId, {
        ...{ version: currentVersion, max_views: 3, notify: true, password: true },
        share_helper: randomBytes(454).toString("base64url"),
      });
      return { body };
    },
    read: async (body) => ({ ...(await readShare(body["share_id"])), keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "POST /share",
    variant: "to a person",
    build: async () => ({
      body: buildShare(person, secretId, { version: currentVersion, recipient: recipient.userId, audience: "person" })
        .body,
    }),
    read: async (body) => ({ ...(await readShare(body["share_id"])), keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "PATCH /share/{share_id}",
    build: async () => {
      const { shareId } = await createShare(service, person, secretId);
      return {
        path: `/share/${shareId}`,
        body: {
          ...{ version: 1, ...signNewTicket(300, 1, shareId) },
          ...{ expires_at: new Date(Date.now() + 86_400_000).toISOString(), max_views: 3 },
          keyring: buildChangeWithDocument(person, "shares"),
        },
      };
    },
    read: async (body, { share_id: id }) => ({ ...(await readShare(id)), keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "POST /share/get-public-secret",
    isAnonymous: true,
    build: async () => ({ body: buildOpening(await createShare(service, person, secretId)) }),
    unread: ["share_id", "link_auth", "pass_auth", "claim_id"],
  },
  {
    call: "POST /share/get-secret",
    build: async () => ({
      body: buildOpening(await createShare(service, person, secretId, { audience: "signed_in" })),
    }),
    unread: ["share_id", "link_auth", "pass_auth", "claim_id"],
  },
  {
    call: "POST /share/content",
    isAnonymous: true,
    build: async () => {
      const opening = buildOpening(await createShare(service, person, secretId));
      const { download } = await requireBody(service.call("POST", "/share/get-public-secret", null, { body: opening }));
      return { body: { token: (download as Body)["token"] } };
    },
    unread: ["token"],
  },
  {
    call: "POST /v2/secrets/secret",
    build: async () => ({
      body: { size: 6_000_000, part_size: 5_300_000, secret_db_id: secretId, base_version: currentVersion },
    }),
    encode: (body) => encodeFields(body),
    read: async (_body, { upload_id: id }) => {
      const state = await requireBody(call("GET", `/v2/secrets/secret/upload/${String(id)}`));
      await call("DELETE", `/v2/secrets/secret/upload/${String(id)}`); // limit of open ones
      return { size: state["size"], secret_db_id: state["secret_db_id"], base_version: state["base_version"] };
    },
    unread: ["part_size"], // a proposal
  },
  {
    call: "POST /v2/secrets/secret/upload/{upload_id}",
    build: async () => ({
      path: await startUpload(),
      body: { part: 1, sha256: sha256B64u(largeContent.content) },
    }),
    encode: (body) => encodeFields(body, largeContent.content),
    unread: ["part", "sha256"], // read back as the content once it is finished
  },
  {
    call: "PUT /v2/secrets/secret/upload/{upload_id}",
    tried: ["label", "ticket", "content_sha256", "base_version"],
    build: async () => {
      const path = await startUpload();
      await requireBody(service.call("POST", path, person.token, await largeContent.buildPartForm(1)));
      return { path, body: { ...buildFinish(person, largeContent) } };
    },
    read: async (body) => {
      const { label, ticket } = await readSecret(largeContent.id);
      return { label, ticket, keyring: await readKeyring(body) };
    },
    unread: ["content_sha256", ...signedMembers],
  },
  {
    call: "POST /requests",
    build: async () => ({ body: buildRequest(person, { notify: true }).body }),
    read: async (body) => ({ ...(await readRequest(body)), keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "PATCH /requests/{request_id}",
    tried: ["state"],
    build: async () => {
      const request = await createRequest(service, person);
      await answerRequest(service, request, 300);
      return {
        path: `/requests/${request.requestId}`,
        body: { state: "collected", keyring: buildChangeWithDocument(person, "requests") },
      };
    },
    read: async (body, { request_id: id }) => {
      const { requests } = await requireBody(call("GET", "/requests?get_expired=true"));
      const state = (requests as Body[]).find(({ request_id: rowId }) => rowId === id)?.["state"];
      return { state, keyring: await readKeyring(body) };
    },
    unread: signedMembers,
  },
  {
    call: "DELETE /requests/{request_id}",
    build: async () => {
      const { requestId } = await createRequest(service, person);
      return { path: `/requests/${requestId}`, body: { keyring: buildChangeWithDocument(person, "requests") } };
    },
    read: async (body) => ({ keyring: await readKeyring(body) }),
    unread: signedMembers,
  },
  {
    call: "POST /requests/collect",
    build: async () => {
      const request = await createRequest(service, person);
      await answerRequest(service, request, 300);
      return { body: { request_id: request.requestId } };
    },
    unread: ["request_id"],
  },
  {
    call: "POST /requests/get",
    isAnonymous: true,
    build: async () => {
      const { requestId, linkAuth: proof } = await createRequest(service, person);
      return { body: { request_id: requestId, link_auth: proof } };
    },
    unread: ["request_id", "link_auth"],
  },
  {
    call: "POST /requests/answer",
    isAnonymous: true,
    build: async () => {
      const { requestId, linkAuth: proof } = await createRequest(service, person);
      return { body: { request_id: requestId, link_auth: proof, size: 6_000_000, part_size: 5_300_000 } };
    },
    read: async (_body, { answer_id: id, token }) => {
      const headers = { "x-answer-token": String(token) };
      const { size } = await requireBody(service.call("GET", `/requests/answer/${String(id)}`, null, { headers }));
      return { size };
    },
    unread: ["request_id", "link_auth", "part_size"],
  },
  {
    call: "POST /requests/answer/{answer_id}",
    isAnonymous: true,
    build: async () => {
      answer = await startAnswer(service, await createRequest(service, person), 300);
      return {
        path: `/requests/answer/${answer.id}`,
        body: { part: 1, sha256: sha256B64u(answer.content) },
        headers: answer.headers,
      };
    },
    encode: (body) => encodeFields(body, answer.content),
    unread: ["part", "sha256"],
  },
  {
    call: "PUT /requests/answer/{answer_id}",
    isAnonymous: true,
    build: async () => {
      answer = await startAnswer(service, await createRequest(service, person), 300);
      await sendParts(service, answer);
      return { path: `/requests/answer/${answer.id}`, body: answer.finishBody, headers: answer.headers };
    },
    read: async () => {
      const { requests } = await requireBody(call("GET", "/requests?get_expired=true"));
      const [row] = (requests as Body[]).filter(({ state }) => state === "provided");
      const { ticket } = await requireBody(call("POST", "/requests/collect", { request_id: row?.["request_id"] }));
      return { ticket };
    },
    unread: ["content_sha256"],
  },
  {
    call: "POST /reports/share",
    status: 204,
    build: async () => {
      const { shareId } = await createShare(service, person, secretId);
      return { body: { share_id: shareId, reason: "phishing", message: "a" } };
    },
    read: async ({ share_id: id, reason, message = null }) => {
      const reports = await service.app.services.db
        .select()
        .from(shareReports)
        .where(eq(shareReports.shareId, String(id)));
      const report = reports.find((row) => row.message === message);
      const isShare = await service.app.services.db.$count(shares, eq(shares.shareId, String(id)));
      return isShare === 0
        ? { share_id: id, reason, ...(message === null ? {} : { message }) } // it is counted only
        : { share_id: id, reason: report?.reason, message: report?.message ?? undefined };
    },
    unread: [],
  },
  {
    call: "POST /reports/csp",
    status: 204,
    build: async () => ({ body: { "csp-report": { "effective-directive": "img-src", "document-uri": "/" } } }),
    unread: ["csp-report"],
  },
  {
    call: "POST /user/feedback",
    status: 204,
    build: async () => ({ body: { rating: 1, message: "a", page: "/home", app_version: "1" } }),
    read: async ({ message }) => {
      const rows = await service.app.services.db.select().from(feedback).where(eq(feedback.accountId, person.userId));
      const [row] = rows.toSorted((left, right) => (left.id < right.id ? 1 : -1));
      return {
        rating: row?.rating ?? undefined,
        message: row?.message === String(message).trim() ? message : row?.message,
        page: row?.page,
        app_version: row?.appVersion,
      };
    },
    unread: [],
  },
  {
    call: "PUT /device-links/{id}",
    build: async () => ({
      path: `/device-links/${createPublicId()}`,
      body: { message: buildJwe({ typ: "relicario-link-device" }) },
    }),
    read: async (body) => ({ message: (await findMailbox(body["message"]))?.["message"] }),
    unread: [],
  },
  {
    call: "PUT /device-links/{id}/answer",
    build: async () => {
      const { token } = await service.signIn(person.subject);
      const path = `/device-links/${createPublicId()}`;
      await service.call("PUT", path, token, { body: { message: buildJwe({ typ: "relicario-link-device" }) } });
      return { path: `${path}/answer`, body: { answer: buildJwe({ typ: "relicario-link-device" }) } };
    },
    read: async (body) => ({ answer: (await findMailbox(body["answer"], "answer"))?.["answer"] }),
    unread: [],
  },
  {
    call: "POST /user/change-password",
    status: 404, // no interface of the provider is configured
    build: async () => ({ body: { old_password: "x", new_password: "y" } }),
    unread: ["old_password", "new_password"],
  },
  {
    call: "POST /telemetry",
    status: 202,
    build: async () => ({
      body: {
        events: [{ remote: "host", release: "1", phase: "load", duration_ms: 5 }],
        vitals: [{ remote: "host", release: "1", route: "/", metric: "LCP", value: 5 }],
      },
    }),
    unread: ["events", "vitals"], // only sums of known releases are kept
  },
];

const findMailbox = async (text: unknown, column: "message" | "answer" = "message"): Promise<Body | undefined> => {
  const { rows } = await service.app.services.db.execute(
    `select message, answer from device_links where account_id = '${person.userId}'`,
  );
  return (rows as Body[]).find((row) => row[column] === text);
};

const oddValues = {
  string: [
    ...["", "\0", "a\0b", "\ud800", "\u{10ffff}", "\u202e", "a".repeat(100_000), "%00", "\\u0000", "'", "\n"],
    ...[
      "0000-01-01",
      "0001-01-01",
      "0050-06-01",
      "0099-12-31",
      "0100-01-01",
      "1969-12-31",
      "1970-01-01",
      "2999-12-31",
    ].map((day) => `${day}T00:00:00.000Z`),
    ...[
      "3000-01-01T00:00:00.000Z",
      "9999-12-31T23:59:59.999Z",
      "2026-02-30T00:00:00.000Z",
      "+275760-09-13T00:00:00.000Z",
    ],
    "ffffffff-ffff-7fff-bfff-ffffffffffff",
  ],
  number: [0, -1, 1.5, -0, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, -(2 ** 63)],
} as const;

/** Each text and number replaced by odd ones; those of a keyring change where it is sent alone. */
function listOddReplacements(body: object): Extreme[] {
  return findLeaves(body).flatMap(({ path, value }) => {
    if (path.at(-1) === "sig" || path[0] === "keyring") return [];
    const values = typeof value === "number" ? oddValues.number : typeof value === "string" ? oddValues.string : [];
    return values.map((replacement) => ({ path, value: replacement }));
  });
}

function findLeaves(node: object, path: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  return Object.entries(node).flatMap(([name, value]) =>
    typeof value === "object" && value !== null
      ? findLeaves(value as object, [...path, name])
      : [{ path: [...path, name], value: value as unknown }],
  );
}

const computeBytesDigest = (bytes: unknown): string => sha256B64u(Buffer.from(String(bytes), "base64url"));

/** Signs the ticket of a body again, with the digests of ticket and content as they are now. */
function signTicketAgain(body: object): object {
  const { ticket, ticket_sig: signature, content } = body as Body;
  if (typeof ticket !== "string" || typeof signature !== "object") return body;
  const digests = {
    ticket_sha256: computeBytesDigest(ticket),
    ...(content === undefined ? {} : { content_sha256: computeBytesDigest(content) }),
  };
  return { ...body, ticket_sig: signDocument("author-ticket", { ...signature, ...digests }, person.authorKey) };
}

function signAgain(bodyToSign: object): object {
  const sign = (change: KeyringChange): KeyringChange => signChange(change, person);
  try {
    const signed = signTicketAgain(bodyToSign) as Body;
    const body = Array.isArray(signed["secrets"])
      ? { ...signed, secrets: (signed["secrets"] as object[]).map(signTicketAgain) }
      : signed;
    if ("keyring" in body) return { ...body, keyring: sign(body["keyring"] as KeyringChange) };
    return "sig" in body ? sign(body as unknown as KeyringChange) : body;
  } catch {
    return bodyToSign; // canonical JSON cannot represent the value, so the body keeps its signature
  }
}

const describeCase = ({ call: name, variant }: Case): string => (variant === undefined ? name : `${name}: ${variant}`);

const getBodySchema = (name: string): NonNullable<OperationInput["body"]> => {
  const schema = inputs.find((input) => input.call === name)?.body;
  if (schema === undefined || schema === null) throw new Error(`${name} takes no body`);
  return schema;
};

/** Sends what `change` makes of a new valid body. A refusal has a code, no answer is a failure. */
async function send(
  { call: name, build, encode, isAnonymous, status: expectedStatus }: Case,
  change?: (body: object) => object,
): Promise<{ readonly body: Body; readonly response: Body; readonly isAccepted: boolean }> {
  const [method, ownPath = ""] = name.split(" ");
  if (++callCount % callsPerAccount === 0) await createAccount();
  const { body: validBody, path = ownPath, headers = {} } = await build();
  const body = (change === undefined ? validBody : signAgain(change(validBody))) as Body;
  const options = encode === undefined ? { body, headers } : await encode(body);
  const response = await service.call(method as Method, path, isAnonymous === true ? null : person.token, {
    ...options,
    headers: { ...options.headers, ...headers },
  });
  const { status, text, body: answered } = response;
  if (status >= 500 || (status >= 400 && answered.code === undefined))
    throw new Error(`${String(status)} ${text} ${JSON.stringify(body).slice(0, 2_000)}`);
  if (change === undefined) expect([status, text.slice(0, 300)]).toEqual([expectedStatus ?? 200, text.slice(0, 300)]);
  const isAccepted = status < 300;
  if (isAccepted && "keyring" in body) confirmChange(person, body["keyring"] as KeyringChange);
  if (isAccepted && "sig" in body) confirmChange(person, body as unknown as KeyringChange);
  if (isAccepted && name === "POST /secrets/store" && "content" in body && body["secret_db_id"] === secretId)
    currentVersion += 1;
  return { body, response: answered, isAccepted };
}

const isTried =
  ({ tried }: Case) =>
  ({ path }: Extreme): boolean =>
    tried === undefined || tried.includes(String(path[0]));

/** Sends a new valid body with the listed replacements, and reads back what is accepted. */
async function sendAndRead(testCase: Case, list: (validBody: object) => readonly Extreme[]): ReturnType<typeof send> {
  const sent = await send(testCase, (validBody) => applyExtremes(validBody, list(validBody)));
  if (sent.isAccepted) await expectStored(testCase, sent.body, sent.response);
  return sent;
}

/** Every member of the body is read back as it was written, but for the unread ones. */
async function expectStored({ read, unread }: Case, body: Body, response: Body): Promise<void> {
  const stored = (await read?.(body, response)) ?? {};
  const select = (members: Body, prefix = ""): Body =>
    Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => !unread.includes(prefix + name))
        .map(([name, value]) => [name, name === "keyring" ? select(value as Body, "keyring.") : value]),
    );
  expect(stored).toMatchObject(select(body));
}

describe("values at the ends of a schema", () => {
  it("are tried for every call that takes a body", () => {
    const callsWithBody = inputs.flatMap(({ call: name, body }) => (body === null ? [] : [name]));
    expect([...new Set(cases.map(({ call: name }) => name))].sort()).toEqual(callsWithBody.sort());
  });

  it.each(cases.map((testCase) => [describeCase(testCase), testCase] as const))(
    "are read back as they were written, or refused: %s",
    async (_name, testCase) => {
      const { body, response, isAccepted } = await send(testCase);
      if (isAccepted) await expectStored(testCase, body, response);
      const schema = getBodySchema(testCase.call);
      const listTried = (validBody: object): Extreme[] => listExtremes(schema, validBody).filter(isTried(testCase));
      const sendExtremes = (indices: readonly number[]): ReturnType<typeof sendAndRead> =>
        sendAndRead(testCase, (validBody) => {
          const extremes = listTried(validBody);
          return indices.flatMap((index) => extremes[index] ?? []);
        });
      const count = listTried(body).length;
      let acceptedCount = 0;
      for (let index = 0; index < count; index++) {
        if ((await sendExtremes([index])).isAccepted) acceptedCount += 1;
      }
      if (testCase.read !== undefined && testCase.tried === undefined) expect(acceptedCount).toBeGreaterThan(0);
      if (count > 1)
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(fc.nat(count - 1), { minLength: 2, maxLength: 4 }), async (indices) => {
            await sendExtremes(indices);
          }),
          { numRuns: 8 },
        );
      await expectReadable();
      expect(service.readLog()).not.toMatch(/"code":"22/); // then a schema allows more than its column
    },
  );

  it("cause no internal error as parameters of a call", async () => {
    for (const { call: name, parameters } of inputs) {
      const [method, path = ""] = name.split(" ");
      for (const { name: changed } of parameters)
        for (const extreme of listScalarExtremes(
          parameters.find((parameter) => parameter.name === changed)?.schema ?? {},
        )) {
          const query = new URLSearchParams();
          let filledPath = path;
          for (const { in: place, name: parameter, schema } of parameters) {
            const value = parameter === changed ? extreme : listScalarExtremes(schema)[0];
            if (place === "path") filledPath = filledPath.replace(`{${parameter}}`, encodeURIComponent(String(value)));
            else query.set(parameter, String(value));
          }
          const { status, body, text } = await call(method as Method, `${filledPath}?${query.toString()}`);
          if (status >= 500 || (status >= 400 && body.code === undefined))
            throw new Error(`${name} ${String(extreme)} ${text}`);
        }
    }
    await expectReadable();
  });

  it("cause no internal error: the largest version", async () => {
    const version = 2 ** 31 - 1;
    const large = await buildLargeContent().buildStartForm({ secret_db_id: secretId, base_version: String(version) });
    const calls: readonly (readonly [string, number])[] = [
      ["get", (await call("POST", "/secrets/store/get-secret", { secret_db_id: secretId, version })).status],
      ["stream", (await call("POST", "/v2/secrets/get-secret", { secret_db_id: secretId, version })).status],
      [
        "store",
        (await call("POST", "/secrets/store", buildSecret(person, { id: secretId, base: version - 1 }).body)).status,
      ],
      ["share", (await call("POST", "/share", buildShare(person, secretId, { version }).body)).status],
      ["upload", (await service.call("POST", "/v2/secrets/secret", person.token, large)).status],
      [
        "purge",
        (
          await call(
            "PUT",
            "/user/keyring",
            buildChange(person, { purge_versions: [{ secret_db_id: secretId, versions: [version] }] }),
          )
        ).status,
      ],
    ];
    expect(calls.filter(([, status]) => status >= 500)).toEqual([]);
    await expectReadable();
  });
});

describe("values beyond the ends of a schema", () => {
  it.each(cases.map((testCase) => [describeCase(testCase), testCase] as const))(
    "cause no internal error of %s, nor of the reads after it",
    async (_name, testCase) => {
      const { body } = await send(testCase);
      for (const odd of listOddReplacements(body).filter(isTried(testCase))) await sendAndRead(testCase, () => [odd]);
      await expectReadable();
      expect(service.readLog()).not.toMatch(/"code":"22/); // then a schema allows more than its column
    },
  );

  it.each([
    ["a year before 1970", "/user/me", { rehearsal_due_at: "0050-01-01T00:00:00.000Z" }],
    ["a year after 2999", "/user/me", { rehearsal_due_at: "9999-12-31T23:59:59.999Z" }],
    ["U+0000", "/user/feedback", { message: "a\0b", page: "/", app_version: "1" }],
    ["half a character", "/user/feedback", { message: "a\ud800", page: "/", app_version: "1" }],
    ["a version above 2^31 - 1", "/secrets/store/get-secret", { secret_db_id: uuidv7(), version: 2 ** 31 }],
  ])("are refused: %s", async (_name, path, body) => {
    expect(await call("POST", path, body)).toMatchObject({ status: 422, body: { code: "validation_error" } });
  });

  it.each([
    ["POST", "/user/validate-username?username=a%00b"],
    ["GET", "/vendors/a%00b"],
    ["GET", "/user/activity?cursor=%00"],
    ["GET", "/secrets/store?since=9007199254740991"],
    ["GET", "/secrets/store?since=9007199254740993"],
    ["GET", "/user/keyring?states_since=9007199254740991"],
    ["GET", "/user/validate-contact-email?value=a%00@example.org&nonce=AAAAAAAAAAAAAAAAAAAAAA"],
    ["GET", "/sharelist/%00"],
    ["POST", "/mails/unsubscribe?token=%00"],
  ] as const)("cause no internal error of %s %s", async (method, path) => {
    expect((await call(method, path)).status).toBeLessThan(500);
  });
});
