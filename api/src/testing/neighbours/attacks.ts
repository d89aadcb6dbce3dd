/**
 * What one account at one address can do to everybody else, by the points of the audit that proved
 * it.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { maxLabelLength, maxTicketBytes, minPartBytes, uploadPath, StartUploadResponse } from "@relicario/shared/api";
import { randomBytes } from "node:crypto";

import { buildChange, buildJwe, buildSecret, confirmChange, createPerson, type Person } from "../person.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../upload.ts";
import type { Caller } from "./caller.ts";

export interface Attacker {
  readonly caller: Caller;
  readonly person: Person;
  /** An access token of theirs. */
  readonly accessToken: string;
  /** Counts what came of it, as the answers of calls are counted; to be undone with -1. */
  readonly count: (status: string, step?: 1 | -1) => void;
}

export interface Attack {
  readonly point: string;
  readonly name: string;
  /**
   * Prepares; answers with what is then done over and over, by as many at once as `concurrency`
   * says.
   */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<unknown>>;
  readonly concurrency: number;
  /**
   * What it was answered at least, by status, else it was no attack. `held`: connections that wait
   * for an answer.
   */
  readonly minimumAnswers: Readonly<Record<string, number>>;
}

const jsonHeaders = { "content-type": "application/json" };

export const attacks: readonly Attack[] = [
  {
    point: "1",
    name: "parts that are longer than announced",
    concurrency: 8,
    minimumAnswers: { 422: 20 },
    prepare: async (attacker) => {
      const { upload, large } = await startUpload(attacker, 200_000);
      const form = await large.part(1, { data: Uint8Array.from(randomBytes(1_500_000)) });
      return () => attacker.caller.call(uploadPath(upload), { method: "POST", ...form });
    },
  },
  {
    point: "2",
    name: "small bodies that come a byte a second",
    concurrency: 130,
    minimumAnswers: { held: 120 },
    prepare: async (attacker) => () => sendSlowBody(attacker, "/api/secrets/store", "application/json", 100_000),
  },
  {
    point: "2",
    name: "parts that come a byte a second",
    concurrency: 130,
    minimumAnswers: { held: 30 },
    prepare: async (attacker) => {
      const { upload } = await startUpload(attacker, minPartBytes);
      return () => sendSlowBody(attacker, `/api${uploadPath(upload)}`, "multipart/form-data; boundary=x", 1_000_000);
    },
  },
  {
    point: "2",
    name: "readers that stop reading",
    concurrency: 130,
    minimumAnswers: { 200: 6 },
    prepare: async (attacker) => {
      const large = await publishLarge(attacker, 2 * minPartBytes);
      const body = JSON.stringify({ secret_db_id: large.id });
      return () => leaveUnread(attacker, "/api/v2/secrets/get-secret", body);
    },
  },
  {
    point: "3",
    name: "writes as fast as they go",
    concurrency: 300,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      const [id = ""] = await storeSmallSecrets(attacker, 1);
      let favorite = false;
      return () =>
        attacker.caller.json("PATCH", "/secrets/favorite", { secret_db_id: id, favorite: (favorite = !favorite) });
    },
  },
  {
    point: "4",
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
    point: "4",
    name: "JSON of 2.8 MB that is a million deep",
    concurrency: 8,
    minimumAnswers: { 422: 20 },
    prepare: async ({ caller }) => {
      const body = `${"[".repeat(1_400_000)}${"]".repeat(1_400_000)}`;
      return () => caller.call("/secrets/store", { method: "POST", headers: jsonHeaders, body });
    },
  },
  {
    point: "4",
    name: "list pages of large labels",
    concurrency: 10,
    minimumAnswers: { 200: 20 },
    prepare: async (attacker) => {
      await storeSmallSecrets(attacker, 250, maxLabelLength - 1_000);
      return () => attacker.caller.call("/secrets/store?limit=1000");
    },
  },
  {
    point: "4",
    name: "twenty finishes of one upload",
    concurrency: 20,
    minimumAnswers: { 422: 20 },
    prepare: async (attacker) => {
      const { upload, large } = await startUpload(attacker, 6 * minPartBytes);
      await sendParts(attacker, upload, large);
      const body = JSON.stringify(buildFinish(attacker.person, large, { content_sha256: "A".repeat(43) }));
      return () => attacker.caller.call(uploadPath(upload), { method: "PUT", headers: jsonHeaders, body });
    },
  },
  {
    point: "5",
    name: "stalled copies of one part",
    concurrency: 24,
    minimumAnswers: { held: 20 },
    prepare: async (attacker) => {
      const { upload, large } = await startUpload(attacker, minPartBytes);
      const { headers, body } = await large.part(1);
      return () => stallUpload(attacker, `/api${uploadPath(upload)}`, headers["content-type"] ?? "", body);
    },
  },
  {
    point: "5",
    name: "tickets as large as they may be",
    concurrency: 1,
    minimumAnswers: { 200: 5 }, // each follows the one before
    prepare: async (attacker) => {
      await storeSmallSecrets(attacker, 1);
      return async () => {
        const { body } = buildSecret(attacker.person);
        const response = await attacker.caller.json("POST", "/secrets/store", {
          ...body,
          ticket: randomBytes(maxTicketBytes).toString("base64url"),
        });
        if (response.status === 200) confirmChange(attacker.person, body.keyring);
        return response;
      };
    },
  },
  {
    point: "6",
    name: "tokens that nobody signed",
    concurrency: 32,
    minimumAnswers: { 401: 20 },
    prepare: async ({ caller, accessToken }) => {
      const token = `${accessToken.slice(0, accessToken.lastIndexOf("."))}.${randomBytes(256).toString("base64url")}`;
      return () => caller.json("POST", "/auth/token?app_vendor_id=relicario", { token });
    },
  },
  {
    point: "6",
    name: "exchanges of one's own token",
    concurrency: 32,
    minimumAnswers: { 200: 20 },
    prepare:
      async ({ caller, accessToken }) =>
      () =>
        caller.json("POST", "/auth/token?app_vendor_id=relicario", { token: accessToken }),
  },
];

export function createAttacker({
  subject,
  token,
  ...rest
}: Pick<Attacker, "caller" | "accessToken" | "count"> & { subject: string; token: string }): Attacker {
  return { ...rest, person: createPerson(subject, token) };
}

/** New small secrets. @returns their ids */
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
    const { status, body: responseBody } = await caller.json("POST", "/secrets/store", { ...body, label });
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
): Promise<{ readonly upload: string; readonly large: LargeContent }> {
  const large = buildLargeContent({ bytes });
  const { status, body } = await caller.call("/v2/secrets/secret", { method: "POST", ...(await large.start()) });
  if (status !== 200) throw new Error(`an upload was answered with ${String(status)} ${body.toString()}`);
  return { upload: StartUploadResponse.parse(JSON.parse(body.toString())).upload_id, large };
}

async function sendParts({ caller }: Attacker, uploadId: string, large: LargeContent): Promise<void> {
  for (const index of large.parts.keys()) {
    const { status, body } = await caller.call(uploadPath(uploadId), {
      method: "POST",
      ...(await large.part(index + 1)),
    });
    if (status !== 200) throw new Error(`a part was answered with ${String(status)} ${body.toString()}`);
  }
}

async function publishLarge(attacker: Attacker, bytes: number): Promise<LargeContent> {
  const { upload, large } = await startUpload(attacker, bytes);
  await sendParts(attacker, upload, large);
  const finish = buildFinish(attacker.person, large);
  const { status, body } = await attacker.caller.json("PUT", uploadPath(upload), finish);
  if (status !== 200) throw new Error(`a finish was answered with ${String(status)} ${body.toString()}`);
  confirmChange(attacker.person, finish.keyring);
  return large;
}

/** Until the other end hangs up. */
async function sendSlowBody(
  { caller, count }: Attacker,
  path: string,
  contentType: string,
  contentLength: number,
): Promise<void> {
  const socket = countResponse(caller.socket(), count);
  socket.write(buildHead("POST", path, caller, contentType, contentLength));
  while (!socket.destroyed && socket.writable) {
    socket.write(" ");
    await pause(1_000);
  }
}

async function leaveUnread({ caller, count }: Attacker, path: string, body: string): Promise<void> {
  const socket = caller.socket();
  socket.once("readable", () => {
    const status = parseStatus(socket.read() as Buffer | null);
    if (status !== null) count(status); // and nothing more is read
  });
  socket.write(`${buildHead("POST", path, caller, "application/json", body.length)}${body}`);
  while (!socket.destroyed) {
    if (await Promise.race([once(socket, "close").then(() => true), pause(1_000).then(() => false)])) return;
    socket.write("\r\n"); // a connection that was given up shows itself so, since nothing is read
  }
}

/** All but the last bytes, which never come. */
async function stallUpload(
  { caller, count }: Attacker,
  path: string,
  contentType: string,
  body: Buffer,
): Promise<void> {
  const socket = countResponse(caller.socket(), count);
  socket.write(buildHead("POST", path, caller, contentType, body.length));
  socket.write(body.subarray(0, -1_000));
  if (!socket.destroyed) await once(socket, "close");
}

/** Held until its first bytes come, or it ends. */
function countResponse(socket: Socket, count: Attacker["count"]): Socket {
  count("held");
  const onClose = (): void => {
    count("held", -1);
  };
  return socket.once("close", onClose).once("data", (chunk) => {
    socket.off("close", onClose).resume();
    count("held", -1);
    count(parseStatus(chunk) ?? "0");
  });
}

function parseStatus(response: Buffer | null): string | null {
  return /^HTTP\/1\.1 (\d{3})/.exec(response?.toString("latin1") ?? "")?.[1] ?? null;
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
