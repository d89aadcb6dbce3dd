import { interpolate, type Language } from "../language/language.ts";
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };

export type MailKind = Exclude<keyof typeof en, "footer">;

export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  /** Where no more mails of its kind are asked for, by one POST (RFC 8058). */
  readonly unsubscribe?: string;
}

/**
 * What a mail may say of an account: times, links, and to the operator the id of a share. Nothing
 * that somebody typed or sealed stands in one.
 */
export interface MailVariables {
  readonly product: string;
  readonly link: string;
  /** When it happened. */
  readonly occurredAt: Date;
  /** From when on contents are dropped, or the account can be reset or is deleted. */
  readonly effectiveAt?: Date;
  /** The link that confirms an address. */
  readonly validationUrl?: string;
  /** Of a share that was reported. */
  readonly shareId?: string;
  readonly unsubscribe?: string;
}

const textsByLanguage = { en, es } as const satisfies Record<Language, typeof en>;

export function renderMail(
  kind: MailKind,
  language: Language,
  { product, link, occurredAt, effectiveAt, validationUrl, shareId, unsubscribe }: MailVariables,
): MailMessage {
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(
    occurredAt,
  );
  const date =
    effectiveAt === undefined
      ? ""
      : new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(effectiveAt);
  const values = { product, link, time, date, validation: validationUrl ?? "", share: shareId ?? "" };
  const { subject, body } = textsByLanguage[language][kind];
  const text = `${interpolate(body, values)}\n\n-- \n${interpolate(textsByLanguage[language].footer, values)}\n`;
  return { subject: interpolate(subject, values), text, ...(unsubscribe === undefined ? {} : { unsubscribe }) };
}
