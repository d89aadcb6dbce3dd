import type { ServiceDialogProps } from "@relicario/shared/contract";
import { Dialog } from "@relicario/shared/ui";
import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";

import type { VaultElementProps } from "./VaultElement.tsx";

/**
 * Creates the dialog in which the vault asks whether a mark is the person's. Closing it leaves the
 * question without an answer.
 */
export function createMarkQuestion(
  VaultElement: ComponentType<VaultElementProps>,
  questionId: string,
): ComponentType<ServiceDialogProps> {
  return function MarkQuestion({ onClose }) {
    const { t } = useTranslation("common");
    return (
      <Dialog open onClose={onClose} title={t("element.mark_question_title")}>
        <VaultElement field={{ kind: "mark_question", questionId }} onChange={() => undefined} onCancel={onClose} />
      </Dialog>
    );
  };
}
