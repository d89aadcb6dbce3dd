import { languages, type Language } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { getFormats, type Texts } from "@relicario/shared/i18n";

export interface DeploymentProblemProps {
  readonly error: Pick<PortalError, "code" | "details">;
  /** Error texts by language. A language whose texts could not be loaded has an empty record. */
  readonly texts: Readonly<Record<Language, Texts>>;
  readonly onRetry: () => void;
}

const titles = { en: "The portal did not start", es: "El portal no se ha iniciado" } as const;
const incompleteTexts = {
  en: "Not everything could be loaded. Check your connection.",
  es: "No se ha podido cargar todo. Comprueba tu conexión.",
} as const;
const retryLabels = { en: "Try again", es: "Intentar de nuevo" } as const;

const toText = (text: unknown): string | null => (typeof text === "string" ? text : null);

/**
 * Replaces the portal when it cannot start. Gives the reason in both languages. Uses plain elements
 * only.
 */
export function DeploymentProblem({ error: { code, details }, texts, onRetry }: DeploymentProblemProps) {
  return (
    <main className="deployment-problem">
      {languages.map((language) => (
        <section key={language} lang={language}>
          <h1>{titles[language]}</h1>
          <p role="alert">
            {insertTimes(
              toText(texts[language][code]) ?? toText(texts[language]["unknown"]) ?? incompleteTexts[language],
              language,
            )}
          </p>
          <button type="button" onClick={onRetry}>
            {retryLabels[language]}
          </button>
        </section>
      ))}
    </main>
  );

  /** Replaces `{{name}}` with the time in the error's details, because i18next is not loaded. */
  function insertTimes(text: string, language: Language): string {
    return text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
      const time = details[name];
      return typeof time === "number" ? getFormats(language).dateTime(new Date(time).toISOString()) : placeholder;
    });
  }
}
