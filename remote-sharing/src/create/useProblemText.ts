import { useTranslation } from "react-i18next";

import { isDraftProblem } from "./share-draft.ts";

export function useProblemText(): (message: string | undefined) => string | null {
  const { t } = useTranslation(["beta-share", "errors"]);
  return (message) => {
    if (message === undefined) return null;
    return isDraftProblem(message) ? t(`create.${message}_error`) : t("errors:unknown");
  };
}
