import { languages } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";
import type { Texts } from "@relicario/shared/i18n";

export interface DeploymentProblemProps {
  readonly code: ErrorCode;
  /** Error texts by language, as far as they could be loaded. */
  readonly texts: Readonly<Record<(typeof languages)[number], Texts>>;
  readonly onRetry: () => void;
}

const titles = { en: "The portal did not start", es: "El portal no se ha iniciado" } as const;
const incompleteTexts = {
  en: "Not all of it could be fetched. Check your connection.",
  es: "No se ha podido obtener todo. Comprueba tu conexión.",
} as const;
const retryLabels = { en: "Try again", es: "Intentar de nuevo" } as const;

const toText = (text: unknown): string | null => (typeof text === "string" ? text : null);

/**
 * Shown instead of the portal when it cannot start: says why, in both languages, with plain
 * elements alone.
 */
export function DeploymentProblem({ code, texts, onRetry }: DeploymentProblemProps) {
  return (
    <main className="deployment-problem">
      {languages.map((language) => (
        <section key={language} lang={language}>
          <h1>{titles[language]}</h1>
          <p role="alert">
            {toText(texts[language][code]) ?? toText(texts[language]["unknown"]) ?? incompleteTexts[language]}
          </p>
          <button type="button" onClick={onRetry}>
            {retryLabels[language]}
          </button>
        </section>
      ))}
    </main>
  );
}
