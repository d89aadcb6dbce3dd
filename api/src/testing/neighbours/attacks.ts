/**
 * Attacks of one account, at one IP address, on everyone else. `npm run test:neighbours` takes
 * their numbers.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import {
  maxLabelLength,
  maxSealedBytes,
  maxTicketBytes,
  minPartBytes,
  uploadPath,
  StartUploadResponse,
} from "@relicario/shared/api";
import { randomBytes } from "node:crypto";

import { buildChange, buildJwe, buildSecret, confirmChange, createPerson, type Person } from "../person.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../upload.ts";
import { demoAccount, SignInRequest, Visitor, type VisitedPage } from "../../identity/test-support.ts";
import { callTimeoutMilliseconds, type Caller } from "./caller.ts";
import { createFetchFrom } from "./fetch-from.ts";

export interface Attacker {
  /** Calls the gateway. */
  readonly caller: Caller;
  /** Calls one service directly, for sockets. */
  readonly service: Caller;
  /** Calls the identity provider directly, for sockets. */
  readonly provider: Caller;
  readonly providerIssuer: string;
  readonly address: string;
  /** Adds rows that the attacker's limits would allow over months. */
  readonly query: (text: string) => Promise<unknown>;
  /** A request that the neighbour created. */
  readonly link: RequestLink;
  readonly person: Person;
  /** An access token of the attacker. */
  readonly accessToken: string;
  /** Counts a response by its status; a step of -1 takes it back. */
  readonly countStatus: (status: string, step?: 1 | -1) => void;
}

export interface RequestLink {
  readonly request_id: string;
  readonly link_auth: string;
}

/**
 * What the neighbour does: reads of its list, sign-ins in its browser or in one that it never used
 * before, starts of uploads.
 */
export type Victim = "service" | "provider" | "new browser" | "storage";

export interface Attack {
  readonly auditPoint: string;
  readonly name: string;
  /** What the neighbour calls; by default it reads its list. */
  readonly victim?: Victim;
  /** Prepares, and returns an operation to repeat `concurrency` times at once. */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<unknown>>;
  readonly concurrency: number;
  /**
   * Least number of responses by status that prove the attack worked. `held`: waiting connections.
   */
  readonly minimumAnswers: Readonly<Record<string, number>>;
}

const jsonHeaders = { "content-type": "application/json" };

export const attacks: readonly Attack[] = [
  {
    auditPoint: "1",
    name: "parts that are longer than announced",
    concurrency: 8,
    minimumAnswers: { 422: 20 },
    prepare: async (attacker) => {
      const { uploadId, largeContent } = await startUpload(attacker, 200_000);
      const form = await largeContent.buildPartForm(1, { data: Uint8Array.from(randomBytes(1_500_000)) });
      return () => attacker.caller.call(uploadPath(uploadId), { method: "POST", ...form });
    },
  },
  {
    auditPoint: "2",
    name: "small bodies that come a byte a second",
    concurrency: 130,
    minimumAnswers: { held: 120 },
    prepare: async ({ caller, countStatus }) => {
      const head = buildHead("POST", "/api/secrets/store", caller, "application/json", 100_000);
      return () => sendSlowBody(caller, countStatus, head);
    },
  },
  {
    auditPoint: "2",
    name: "parts that come a byte a second",
    concurrency: 130,
    minimumAnswers: { held: 30 },
    prepare: async (attacker) => {
      const { uploadId } = await startUpload(attacker, minPartBytes);
      const { caller, countStatus } = attacker;
      const type = "multipart/form-data; boundary=x";
      const head = buildHead("POST", `/api${uploadPath(uploadId)}`, caller, type, 1_000_000);
      return () => sendSlowBody(caller, countStatus, head);
    },
  },
  {
    auditPoint: "2",
    name: "readers that stop reading",
    concurrency: 130,
    minimumAnswers: { 200: 6 },
    prepare: async (attacker) => {
      const largeContent = await publishLarge(attacker, 2 * minPartBytes);
      const body = JSON.stringify({ secret_db_id: largeContent.id });
      const head = buildHead("POST", "/api/v2/secrets/get-secret", attacker.caller, "application/json", body.length);
      return () => leaveUnread(attacker.caller, attacker.countStatus, `${head}${body}`);
    },
  },
  {
    auditPoint: "3",
    name: "writes as fast as they go",
    concurrency: 300,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      const [id = ""] = await storeSmallSecrets(attacker, 1);
      let favorite = false;
      return () =>
        attacker.caller.callJson("PATCH", "/secrets/favorite", { secret_db_id: id, favorite: (favorite = !favorite) });
    },
  },
  {
    auditPoint: "4",
    name: "keyrings of 2 MB that are refused",
    concurrency: 8,
    minimumAnswers: { 422: 20 },
    prepare: async ({ caller, person }) => {
      const buildOversized = (typ: string): string =>
        `${buildJwe({ typ, user_id: person.userId, key_epoch: 1 })}${"A".repeat(500_000)}`;
      const change = buildChange(person, {
        book: buildOversized("relicario-book"),
        shares: buildOversized("relicario-shares"),
        requests: buildOversized("relicario-requests"),
      });
      const body = JSON.stringify({ ...change, sig: "A".repeat(86) });
      return () => caller.call("/user/keyring", { method: "PUT", headers: jsonHeaders, body });
    },
  },
  {
    auditPoint: "4",
    name: "JSON of 2.8 MB that is a million deep",
    concurrency: 8,
    minimumAnswers: { 422: 20 },
    prepare: async ({ caller }) => {
      const body = `${"[".repeat(1_400_000)}${"]".repeat(1_400_000)}`;
      return () => caller.call("/secrets/store", { method: "POST", headers: jsonHeaders, body });
    },
  },
  {
    auditPoint: "4",
    name: "list pages of large labels",
    concurrency: 10,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      await storeSmallSecrets(attacker, 250, maxLabelLength - 1_000);
      return () => attacker.caller.call("/secrets/store?limit=1000");
    },
  },
  {
    auditPoint: "4",
    name: "twenty finishes of one upload",
    concurrency: 20,
    minimumAnswers: { 422: 20 },
    prepare: async (attacker) => {
      const { uploadId, largeContent } = await startUpload(attacker, 6 * minPartBytes);
      await sendParts(attacker, uploadId, largeContent);
      const body = JSON.stringify(buildFinish(attacker.person, largeContent, { content_sha256: "A".repeat(43) }));
      return () => attacker.caller.call(uploadPath(uploadId), { method: "PUT", headers: jsonHeaders, body });
    },
  },
  {
    auditPoint: "5",
    name: "stalled copies of one part",
    concurrency: 24,
    minimumAnswers: { held: 20 },
    prepare: async (attacker) => {
      const { uploadId, largeContent } = await startUpload(attacker, minPartBytes);
      const { headers, body } = await largeContent.buildPartForm(1);
      return () => stallUpload(attacker, `/api${uploadPath(uploadId)}`, headers["content-type"] ?? "", body);
    },
  },
  {
    auditPoint: "5",
    name: "tickets as large as they may be",
    concurrency: 1,
    minimumAnswers: { 200: 5 }, // each follows the one before
    prepare: async (attacker) => {
      await storeSmallSecrets(attacker, 1);
      return async () => {
        const { body } = buildSecret(attacker.person);
        const response = await attacker.caller.callJson("POST", "/secrets/store", {
          ...body,
          ticket: randomBytes(maxTicketBytes).toString("base64url"),
        });
        if (response.status === 200) confirmChange(attacker.person, body.keyring);
        return response;
      };
    },
  },
  {
    auditPoint: "6",
    name: "tokens without a valid signature",
    concurrency: 32,
    minimumAnswers: { 401: 20 },
    prepare: async ({ caller, accessToken }) => {
      const token = `${accessToken.slice(0, accessToken.lastIndexOf("."))}.${randomBytes(256).toString("base64url")}`;
      return () => caller.callJson("POST", "/auth/token?app_vendor_id=relicario", { token });
    },
  },
  {
    auditPoint: "6",
    name: "exchanges of one's own token",
    concurrency: 32,
    minimumAnswers: { 200: 20 },
    prepare:
      async ({ caller, accessToken }) =>
      () =>
        caller.callJson("POST", "/auth/token?app_vendor_id=relicario", { token: accessToken }),
  },
  {
    auditPoint: "lists",
    name: "lists of 30,000 ended shares",
    concurrency: 30,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      const [id = ""] = await storeSmallSecrets(attacker, 1);
      await attacker.query(
        `insert into shares (account_id, share_id, secret_id, version, audience, ticket_sha256, password, picture, expires_at, notify, created_at)
         select '${attacker.person.userId}', translate(encode(substring(sha256(n::text::bytea) from 1 for 16), 'base64'), '+/=', '-_'), '${id}', 1, 'public', sha256(n::text::bytea), false, false, now(), false, now() from generate_series(1, 30000) n`,
      );
      return () => attacker.caller.call(`/sharelist/${id}?get_expired=true`);
    },
  },
  {
    auditPoint: "lists",
    name: "lists of 30,000 ended requests",
    concurrency: 30,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      await storeSmallSecrets(attacker, 1);
      await attacker.query(
        `insert into requests (account_id, request_id, link_auth_sha256, max_size, notify, created_at, expires_at)
         select '${attacker.person.userId}', translate(encode(substring(sha256(n::text::bytea) from 1 for 16), 'base64'), '+/=', '-_'), sha256(n::text::bytea), 1000, false, now(), now() from generate_series(1, 30000) n`,
      );
      return () => attacker.caller.call("/requests?get_expired=true");
    },
  },
  {
    auditPoint: "quota",
    name: "answers to a request that send nothing",
    victim: "storage",
    concurrency: 4,
    minimumAnswers: { 200: 10 },
    prepare:
      async ({ caller, link }) =>
      () =>
        caller.callJson("POST", "/requests/answer", { ...link, size: maxSealedBytes }),
  },
  {
    auditPoint: "pipeline",
    name: "pipelined calls at the gateway",
    concurrency: 20,
    minimumAnswers: { closed: 20 },
    prepare: async (attacker) => () => pipelineCalls(attacker.caller, "localhost", "/api/secrets/store"),
  },
  {
    auditPoint: "pipeline",
    name: "pipelined calls at a service",
    concurrency: 20,
    minimumAnswers: { closed: 20 },
    prepare: async (attacker) => () => pipelineCalls(attacker.service, "localhost", "/secrets/store"),
  },
  {
    auditPoint: "pipeline",
    name: "pipelined sign-ins at the provider",
    victim: "provider",
    concurrency: 20,
    minimumAnswers: { closed: 20 },
    prepare: async (attacker) => {
      const { host, pathname, search } = new SignInRequest(attacker.providerIssuer).buildUrl();
      return () => pipelineCalls(attacker.provider, host, `${pathname}${search}`);
    },
  },
  {
    auditPoint: "provider",
    name: "256 lanes of sign-in pages",
    victim: "provider",
    concurrency: 256,
    minimumAnswers: { 303: 50 },
    prepare: async ({ providerIssuer, address }) => {
      const send = createFetchFrom(address);
      const url = new SignInRequest(providerIssuer).buildUrl();
      return () => send(url, { method: "GET", redirect: "manual", headers: {} });
    },
  },
  {
    auditPoint: "provider",
    name: "wrong passwords for the neighbour's name",
    victim: "provider",
    concurrency: 16,
    minimumAnswers: { 401: 10, 429: 1 },
    prepare: async (attacker) => () => guessPassword(attacker),
  },
  {
    auditPoint: "provider",
    name: "wrong passwords, the neighbour elsewhere",
    victim: "new browser",
    concurrency: 16,
    minimumAnswers: { 401: 10, 429: 1 },
    prepare: async (attacker) => () => guessPassword(attacker),
  },
  {
    auditPoint: "provider",
    name: "bodies that come a byte a second",
    victim: "provider",
    concurrency: 130,
    minimumAnswers: { held: 120 },
    prepare: async (attacker) => () =>
      sendSlowBody(attacker.provider, attacker.countStatus, buildProviderHead(attacker, "/token", 10_000)),
  },
  {
    auditPoint: "provider",
    name: "bodies as long as they may be",
    victim: "provider",
    concurrency: 64,
    minimumAnswers: { 400: 50 },
    prepare: async ({ providerIssuer, address }) => {
      const send = createFetchFrom(address);
      const body = new URLSearchParams({ grant_type: "authorization_code", code: "x".repeat(16_000) });
      return () => send(new URL(`${providerIssuer}/token`), { method: "POST", redirect: "manual", headers: {}, body });
    },
  },
  {
    auditPoint: "provider",
    name: "declared bodies that never come",
    victim: "provider",
    concurrency: 600,
    minimumAnswers: { held: 400 },
    prepare: async (attacker) => async () => {
      const socket = countResponse(attacker.provider.openSocket(), attacker.countStatus);
      socket.write(buildProviderHead(attacker, "/token", 16_000));
      if (!socket.destroyed) await once(socket, "close");
      await pause(1_000);
    },
  },
  {
    auditPoint: "provider",
    name: "sign-in pages that no one reads",
    victim: "provider",
    concurrency: 256,
    minimumAnswers: { 303: 50 },
    prepare: async (attacker) => () => {
      const { host, pathname, search } = new SignInRequest(attacker.providerIssuer).buildUrl();
      return leaveUnread(
        attacker.provider,
        attacker.countStatus,
        `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      );
    },
  },
  {
    auditPoint: "provider",
    name: "connections that say nothing",
    victim: "provider",
    concurrency: 1_500,
    minimumAnswers: { held: 1_000 },
    prepare: async (attacker) => async () => {
      const socket = countResponse(attacker.provider.openSocket(), attacker.countStatus);
      if (!socket.destroyed) await once(socket, "close");
      await pause(1_000);
    },
  },
  {
    auditPoint: "provider",
    name: "headers that come a byte a second",
    victim: "provider",
    concurrency: 400,
    minimumAnswers: { held: 300 },
    prepare: async (attacker) => async () => {
      const socket = countResponse(attacker.provider.openSocket(), attacker.countStatus);
      socket.write("GET / HTTP/1.1\r\nx: ");
      while (!socket.destroyed && socket.writable) {
        socket.write("x");
        await pause(1_000);
      }
    },
  },
];

export function createAttacker({
  subject,
  token,
  ...rest
}: Omit<Attacker, "person"> & { subject: string; token: string }): Attacker {
  return { ...rest, person: createPerson(subject, token) };
}

/** Stores new small secrets. @returns their ids */
export async function storeSmallSecrets(
  { caller, person }: Pick<Attacker, "caller" | "person">,
  count: number,
  labelLength = 0,
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { body } = buildSecret(person);
    const [protectedHeader, encryptedKey, iv, , tag] = body.label.split(".");
    const label =
      labelLength === 0
        ? body.label
        : [
            protectedHeader,
            encryptedKey,
            iv,
            randomBytes(Math.floor((labelLength * 3) / 4) - 200).toString("base64url"),
            tag,
          ].join(".");
    const { status, body: responseBody } = await caller.callJson("POST", "/secrets/store", { ...body, label });
    if (status !== 200)
      throw new Error(`a small secret was answered with ${String(status)} ${responseBody.toString()}`);
    confirmChange(person, body.keyring);
    ids.push(body.secret_db_id);
  }
  return ids;
}

async function startUpload(
  { caller }: Attacker,
  bytes: number,
): Promise<{ readonly uploadId: string; readonly largeContent: LargeContent }> {
  const largeContent = buildLargeContent({ bytes });
  const { status, body } = await caller.call("/v2/secrets/secret", {
    method: "POST",
    ...(await largeContent.buildStartForm()),
  });
  if (status !== 200) throw new Error(`an upload was answered with ${String(status)} ${body.toString()}`);
  return { uploadId: StartUploadResponse.parse(JSON.parse(body.toString())).upload_id, largeContent };
}

async function sendParts({ caller }: Attacker, uploadId: string, largeContent: LargeContent): Promise<void> {
  for (const index of largeContent.parts.keys()) {
    const { status, body } = await caller.call(uploadPath(uploadId), {
      method: "POST",
      ...(await largeContent.buildPartForm(index + 1)),
    });
    if (status !== 200) throw new Error(`a part was answered with ${String(status)} ${body.toString()}`);
  }
}

async function publishLarge(attacker: Attacker, bytes: number): Promise<LargeContent> {
  const { uploadId, largeContent } = await startUpload(attacker, bytes);
  await sendParts(attacker, uploadId, largeContent);
  const finish = buildFinish(attacker.person, largeContent);
  const { status, body } = await attacker.caller.callJson("PUT", uploadPath(uploadId), finish);
  if (status !== 200) throw new Error(`a finish was answered with ${String(status)} ${body.toString()}`);
  confirmChange(attacker.person, finish.keyring);
  return largeContent;
}

/** In a new browser, with both names, which are no secret. */
async function guessPassword({ providerIssuer, address }: Attacker): Promise<VisitedPage> {
  const visitor = new Visitor({}, createFetchFrom(address));
  const page = await visitor.get(new SignInRequest(providerIssuer).buildUrl());
  if (page.status !== 200) return page;
  return visitor.submit(page, { name: demoAccount.username, other_name: demoAccount.email, password: "not it" });
}

/** Sends a byte per second until the server closes the connection. */
async function sendSlowBody(caller: Caller, countStatus: Attacker["countStatus"], head: string): Promise<void> {
  const socket = countResponse(caller.openSocket(), countStatus);
  socket.write(head);
  while (!socket.destroyed && socket.writable) {
    socket.write(" ");
    await pause(1_000);
  }
}

/** Writes 800 requests at once. @returns whether the server closed the connection */
async function pipelineCalls(caller: Caller, host: string, path: string): Promise<{ status: "closed" | "open" }> {
  const socket = caller.openSocket().resume();
  const authorization = caller.authorization === "" ? "" : `authorization: ${caller.authorization}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${authorization}\r\n`.repeat(800));
  const closed = new Promise<"closed">((resolve) => {
    socket.once("close", () => resolve("closed"));
  });
  const status = await Promise.race([closed, pause(callTimeoutMilliseconds, "open" as const)]);
  socket.destroy();
  await pause(1_000); // half a megabyte a second in all lanes together
  return { status };
}

/** Reads the first bytes of the response, and keeps the connection. */
async function leaveUnread(caller: Caller, countStatus: Attacker["countStatus"], request: string): Promise<void> {
  const socket = caller.openSocket();
  socket.once("readable", () => {
    const status = parseStatus(socket.read() as Buffer | null);
    if (status !== null) countStatus(status); // reads nothing further
  });
  socket.write(request);
  while (!socket.destroyed) {
    if (await Promise.race([once(socket, "close").then(() => true), pause(1_000).then(() => false)])) return;
    socket.write("\r\n"); // writing reveals a closed connection, since nothing is read
  }
}

/** Sends all of a body but its last bytes. */
async function stallUpload(
  { caller, countStatus }: Attacker,
  path: string,
  contentType: string,
  body: Buffer,
): Promise<void> {
  const socket = countResponse(caller.openSocket(), countStatus);
  socket.write(buildHead("POST", path, caller, contentType, body.length));
  socket.write(body.subarray(0, -1_000));
  if (!socket.destroyed) await once(socket, "close");
}

/** Counts as held until its first bytes arrive or it ends. */
function countResponse(socket: Socket, countStatus: Attacker["countStatus"]): Socket {
  countStatus("held");
  const onClose = (): void => {
    countStatus("held", -1);
  };
  return socket.once("close", onClose).once("data", (chunk) => {
    socket.off("close", onClose).resume();
    countStatus("held", -1);
    countStatus(parseStatus(chunk) ?? "0");
  });
}

function parseStatus(response: Buffer | null): string | null {
  return /^HTTP\/1\.1 (\d{3})/.exec(response?.toString("latin1") ?? "")?.[1] ?? null;
}

/** Of a form that is sent to the provider. */
function buildProviderHead({ providerIssuer }: Attacker, path: string, contentLength: number): string {
  const { host, pathname } = new URL(`${providerIssuer}${path}`);
  return [
    `POST ${pathname} HTTP/1.1`,
    `host: ${host}`,
    "content-type: application/x-www-form-urlencoded",
    `content-length: ${String(contentLength)}`,
    "",
    "",
  ].join("\r\n");
}

function buildHead(
  method: string,
  path: string,
  { authorization }: Caller,
  contentType: string,
  contentLength: number,
): string {
  return [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: ${authorization}`,
    `content-type: ${contentType}`,
    `content-length: ${String(contentLength)}`,
    "",
    "",
  ].join("\r\n");
}
