import { SpacedRow, Stack } from "@relicario/shared/ui";
import type { ElementVault } from "@relicario/vault/element";
import type { MarkQuestion } from "@relicario/vault/mark";
import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";

import { MarkLine } from "../mark/MarkNotice.tsx";
import { GuardedButton } from "../openers/GuardedButton.tsx";

interface MarkQuestionElementProps {
  readonly questionId: string;
  readonly vault: Pick<ElementVault, "getMarkQuestion" | "answerMark">;
  readonly onClose: () => void;
}

/** Asks whether a mark is the person's, before this device adopts the account. */
export function MarkQuestionElement({ questionId, vault, onClose }: MarkQuestionElementProps) {
  const { t } = useTranslation("openers");
  const [question, setQuestion] = useState<MarkQuestion | null>(null);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    vault.getMarkQuestion(questionId).then(
      (result) => {
        if (result === null) close();
        else setQuestion(result);
      },
      () => {
        close();
      },
    );
  }, [vault, questionId]);
  if (question === null) return null;
  const handleAnswer = (isMine: boolean) => {
    vault.answerMark(questionId, isMine).then(onClose, onClose); // without an answer nothing is adopted
  };
  return (
    <Stack $gap={4}>
      <MarkLine mark={question.mark} large />
      <span>{t(question.isPlain ? "mark.confirm_plain_body" : "mark.confirm_body")}</span>
      <SpacedRow>
        <GuardedButton
          onClick={() => {
            handleAnswer(true);
          }}
        >
          {t("mark.mine_action")}
        </GuardedButton>
        <GuardedButton
          tone="quiet"
          onClick={() => {
            handleAnswer(false);
          }}
        >
          {t("mark.other_action")}
        </GuardedButton>
      </SpacedRow>
    </Stack>
  );
}
