import { interpolate, type Language } from "../language/language.ts";
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };

export type MailKind = Exclude<keyof typeof en, "footer">;

export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  /** The same text as a document. */
  readonly html: string;
  /** One POST to it unsubscribes (RFC 8058). */
  readonly unsubscribeUrl?: string;
}

/**
 * Values in mails: product name, times, links, and the id of a reported share (to the operator).
 * Never text that a person entered, and nothing sealed.
 */
export interface MailVariables {
  readonly productName: string;
  readonly portalUrl: string;
  /** Time of the event. */
  readonly occurredAt: Date;
  /** Drop, reset or deletion date, by kind. */
  readonly effectiveAt?: Date;
  /** Link that confirms an address. */
  readonly validationUrl?: string;
  /** The reported share. */
  readonly shareId?: string;
  readonly unsubscribeUrl?: string;
}

const textsByLanguage = { en, es } as const satisfies Record<Language, typeof en>;

export function renderMail(
  kind: MailKind,
  language: Language,
  { productName, portalUrl, occurredAt, effectiveAt, validationUrl, shareId, unsubscribeUrl }: MailVariables,
): MailMessage {
  const occurredAtText = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(occurredAt);
  const effectiveDateText =
    effectiveAt === undefined
      ? ""
      : new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(effectiveAt);
  const values = {
    product: productName,
    link: portalUrl,
    time: occurredAtText,
    date: effectiveDateText,
    validation: validationUrl ?? "",
    share: shareId ?? "",
  };
  const { subject, body } = textsByLanguage[language][kind];
  const { footer } = textsByLanguage[language];
  return {
    subject: interpolate(subject, values),
    text: `${interpolate(body, values)}\n\n-- \n${interpolate(footer, values)}\n`,
    html: renderDocument(language, { subject, body, footer }, values),
    ...(unsubscribeUrl === undefined ? {} : { unsubscribeUrl }),
  };
}

/** A document without images, scripts or addresses of others. Its colours are the reader's. */
function renderDocument(
  language: Language,
  { subject, body, footer }: Readonly<Record<"subject" | "body" | "footer", string>>,
  values: Readonly<Record<string, string>>,
): string {
  const escapedValues = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      ["link", "validation"].includes(name)
        ? `<a href="${escapeHtml(value)}">${escapeHtml(value)}</a>`
        : escapeHtml(value),
    ]),
  );
  const toHtml = (text: string): string => interpolate(escapeHtml(text), escapedValues).replaceAll("\n", "<br>");
  const paragraphs = body.split("\n\n").map((paragraph) => `<p>${toHtml(paragraph)}</p>`);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(interpolate(subject, values))}</title>
</head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:0 auto;padding:16px;overflow-wrap:anywhere">
${paragraphs.join("\n")}
<hr>
<p style="font-size:14px">${toHtml(footer)}</p>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
