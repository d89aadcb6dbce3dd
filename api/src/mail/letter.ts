import { fill } from "../identity/language.ts";
import type { Language } from "./language.ts";
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };

export type MailKind = Exclude<keyof typeof en, "footer">;

export interface Letter {
  readonly subject: string;
  readonly text: string;
  /** Where no more mails of its kind are asked for, by one POST (RFC 8058). */
  readonly unsubscribe?: string;
}

/**
 * What a letter may say of an account: times, links, and to the operator the id of a share. Nothing
 * that somebody typed or sealed stands in one.
 */
export interface LetterFacts {
  readonly product: string;
  readonly link: string;
  /** When it happened. */
  readonly at: Date;
  /** From when on contents are dropped, or the account can be started anew or is deleted. */
  readonly dropAt?: Date;
  /** The link that confirms an address. */
  readonly validation?: string;
  /** Of a share that was reported. */
  readonly shareId?: string;
  readonly unsubscribe?: string;
}

const texts = { en, es } as const satisfies Record<Language, typeof en>;

export function writeLetter(
  kind: MailKind,
  language: Language,
  { product, link, at, dropAt, validation, shareId, unsubscribe }: LetterFacts,
): Letter {
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(at);
  const date =
    dropAt === undefined
      ? ""
      : new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(dropAt);
  const values = { product, link, time, date, validation: validation ?? "", share: shareId ?? "" };
  const { subject, body } = texts[language][kind];
  const text = `${fill(body, values)}\n\n-- \n${fill(texts[language].footer, values)}\n`;
  return { subject: fill(subject, values), text, ...(unsubscribe === undefined ? {} : { unsubscribe }) };
}
