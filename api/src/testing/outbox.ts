import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { getOutboxFolder, type TestService } from "./service.ts";

export interface ReceivedMail {
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  /** As it lies there. */
  readonly source: string;
}

/** Mails in the service's folder, oldest first, once everything that is due was sent. */
export async function readMails(service: TestService): Promise<ReceivedMail[]> {
  await service.app.services.mailer.deliver();
  const folder = getOutboxFolder(service.objectsFolder);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".eml")).sort();
  return Promise.all(names.map(async (name) => parseMail(await readFile(join(folder, name), "utf8"))));
}

export function parseMail(source: string): ReceivedMail {
  const headEnd = source.search(/\r?\n\r?\n/);
  const head = source.slice(0, headEnd).replace(/\r?\n[ \t]+/g, " ");
  const getHeader = (name: string): string => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const body = source.slice(headEnd).trim();
  return {
    to: getHeader("To"),
    from: getHeader("From"),
    subject: decodeEncodedWords(getHeader("Subject")),
    text: decodeBody(body, getHeader("Content-Transfer-Encoding")),
    source,
  };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding === "quoted-printable") return decodeQuotedPrintable(body.replace(/=\r?\n/g, ""));
  return body;
}

/** Encoded words of RFC 2047. */
function decodeEncodedWords(text: string): string {
  return text
    .replace(/\?= =\?UTF-8\?[QB]\?/gi, "")
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(word, "base64").toString()
        : decodeQuotedPrintable(word.replaceAll("_", " ")),
    );
}

function decodeQuotedPrintable(text: string): string {
  return Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  ).toString();
}
