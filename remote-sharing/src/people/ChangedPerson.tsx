import type { PersonRecord } from "@relicario/shared/contract";
import { Button, Notice, SmallText, Stack } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";

interface ChangedPersonProps {
  readonly person: Pick<PersonRecord, "userName" | "safetyWords" | "formerSafetyWords" | "formerName">;
  /** Said when the keys are others, not the name alone. */
  readonly title: string;
  readonly body: string;
  readonly trustLabel: string;
  readonly pending: boolean;
  readonly onTrust: () => void;
  /** Other ways out, beside trusting. */
  readonly children?: ReactNode;
}

/**
 * Other keys than those pinned, or another name: what is known and what the service says now.
 * Nothing goes on before the person decides.
 */
export function ChangedPerson({ person, title, body, trustLabel, pending, onTrust, children }: ChangedPersonProps) {
  const { t } = useTranslation("beta-share");
  const { userName, safetyWords, formerSafetyWords, formerName } = person;
  const hasKeys = safetyWords.length > 0;
  const isRenamedOnly = formerName !== null && (!hasKeys || safetyWords.join(" ") === formerSafetyWords?.join(" "));
  return (
    <Stack $gap={4}>
      {formerName !== null && (
        <Notice role="alert" tone="danger" title={t("sender.renamed_title", { former: formerName })}>
          {t("sender.renamed_body", { former: formerName, name: userName })}
        </Notice>
      )}
      {!isRenamedOnly && (
        <Notice role="alert" tone="danger" title={title}>
          {body}
        </Notice>
      )}
      {formerSafetyWords !== null && <WordList words={formerSafetyWords} label={t("sender.former_words_label")} />}
      {!isRenamedOnly && hasKeys && <WordList words={safetyWords} label={t("sender.new_words_label")} />}
      {!hasKeys && <SmallText>{t("sender.no_keys_body", { name: userName })}</SmallText>}
      {hasKeys && (
        <div>
          <Button tone="danger" size="small" pending={pending} onClick={onTrust}>
            {isRenamedOnly ? t("sender.renamed_action") : trustLabel}
          </Button>
        </div>
      )}
      {children}
    </Stack>
  );
}
