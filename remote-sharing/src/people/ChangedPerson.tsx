import type { FoundPerson } from "@relicario/shared/contract";
import { Button, Notice, SmallText, Stack } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";

interface ChangedPersonProps {
  readonly person: Pick<FoundPerson, "userName" | "words" | "formerWords" | "formerName">;
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
  const { userName, words, formerWords, formerName } = person;
  const hasKeys = words.length > 0;
  const isOnlyName = formerName !== null && (!hasKeys || words.join(" ") === formerWords?.join(" "));
  return (
    <Stack $gap={4}>
      {formerName !== null && (
        <Notice role="alert" tone="danger" title={t("sender.renamed_title", { former: formerName })}>
          {t("sender.renamed_body", { former: formerName, name: userName })}
        </Notice>
      )}
      {!isOnlyName && (
        <Notice role="alert" tone="danger" title={title}>
          {body}
        </Notice>
      )}
      {formerWords !== null && <WordList words={formerWords} label={t("sender.former_words_label")} />}
      {!isOnlyName && hasKeys && <WordList words={words} label={t("sender.new_words_label")} />}
      {!hasKeys && <SmallText>{t("sender.no_keys_body", { name: userName })}</SmallText>}
      {hasKeys && (
        <div>
          <Button tone="danger" size="small" pending={pending} onClick={onTrust}>
            {isOnlyName ? t("sender.renamed_action") : trustLabel}
          </Button>
        </div>
      )}
      {children}
    </Stack>
  );
}
