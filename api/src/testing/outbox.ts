import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import PostalMime from "postal-mime";

import { getOutboxFolder, type TestService } from "./service.ts";

export interface ReceivedMail {
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The raw file. */
  readonly source: string;
}

/** Mails in the service's folder, oldest first, after sending all due ones. */
export async function readMails(service: TestService): Promise<ReceivedMail[]> {
  await service.app.services.mailer.deliver();
  const folder = getOutboxFolder(service.objectsFolder);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".eml")).sort();
  return Promise.all(names.map(async (name) => parseMail(await readFile(join(folder, name), "utf8"))));
}

/** Parses a mail as a mail program does. */
export async function parseMail(source: string): Promise<ReceivedMail> {
  const { to, from, subject, text, html } = await PostalMime.parse(source);
  return {
    to: (to ?? []).map(({ address }) => address).join(", "),
    from: from?.address ?? "",
    subject: subject ?? "",
    text: text ?? "",
    html: html ?? "",
    source,
  };
}
