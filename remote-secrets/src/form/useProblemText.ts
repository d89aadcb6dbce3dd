import { useTranslation } from "react-i18next";

import { isDraftProblem } from "./secret-draft.ts";

export function useProblemText(): (message: string | undefined) => string | null {
  const { t } = useTranslation(["beta-add-secret", "errors"]);
  return (message) =>
    message === undefined ? null : isDraftProblem(message) ? t(`problem.${message}_error`) : t("errors:unknown");
}
