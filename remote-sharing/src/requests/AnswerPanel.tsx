import { usePortal, type OpenedAnswer, type Vault } from "@relicario/shared/contract";
import { NumberedWords, OperationProgress, useVaultOperation } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Notice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface AnswerPanelProps {
  readonly vault: Vault;
  readonly answer: OpenedAnswer;
  readonly title: string;
  readonly collected: boolean;
  readonly collecting: boolean;
  readonly onCollect: () => void;
  readonly onDrop: () => void;
  readonly onClose: () => void;
}

/**
 * The answer to a request, which can be read or saved, and protected as a secret. Nothing in the
 * answer is trusted, except that its sender had the link.
 */
export function AnswerPanel({
  vault,
  answer,
  title,
  collected,
  collecting,
  onCollect,
  onDrop,
  onClose,
}: AnswerPanelProps) {
  const { t } = useTranslation(["beta-share", "common"]);
  const { language } = usePortal();
  const { running, progress, error, start, cancel } = useVaultOperation();
  const [isProtected, setIsProtected] = useState(false);

  const handleProtect = () => {
    start({
      run: (options) =>
        vault.protectOpened(
          answer.handle,
          { title, tags: [], protection: { kind: "openers", openerIds: [] } },
          options,
        ),
      onDone: () => {
        setIsProtected(true);
      },
    });
  };
  return (
    <Stack $gap={4} role="group" aria-label={t("answer.group_aria")}>
      <Notice>{t("answer.vouch_body", { when: getFormats(language).dateTime(answer.createdAt) })}</Notice>
      {answer.note !== "" && (
        <div>
          <SmallText>{t("answer.note_label")}</SmallText>
          <Note dir="auto" translate="no">
            {answer.note}
          </Note>
        </div>
      )}
      <answer.View title={title} />
      <NumberedWords words={answer.receiptWords} label={t("answer.words_label")} />
      <SmallText>{t("answer.words_hint")}</SmallText>
      {running && <OperationProgress progress={progress} initialPhase="sealing" />}
      <ErrorNotice error={error} />
      {isProtected && (
        <Notice tone="success" role="status">
          {t("answer.kept_status")}
        </Notice>
      )}
      {collected && <SmallText>{t("answer.collected_body")}</SmallText>}
      <SpacedRow>
        {!isProtected && (
          <Button pending={running} onClick={handleProtect}>
            {t("answer.keep_action")}
          </Button>
        )}
        {running && (
          <Button tone="quiet" onClick={cancel}>
            {t("common:opener.cancel_action")}
          </Button>
        )}
        {!running && !collected && (
          <Button tone="quiet" pending={collecting} onClick={onCollect}>
            {t("answer.collect_action")}
          </Button>
        )}
        {!running && (
          <>
            <Button tone="danger" onClick={onDrop}>
              {t("asked.drop_action")}
            </Button>
            <Button tone="quiet" onClick={onClose}>
              {t("answer.close_action")}
            </Button>
          </>
        )}
      </SpacedRow>
    </Stack>
  );
}

const Note = styled.p`
  white-space: pre-wrap;
  overflow-wrap: anywhere;
`;
