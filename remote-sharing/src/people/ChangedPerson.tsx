import type { PersonRecord } from "@relicario/shared/contract";
import { NumberedWords } from "@relicario/shared/forms";
import { Button, markVerbatim, Notice, renderVerbatim, SmallText, Stack } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

interface ChangedPersonProps {
  readonly person: Pick<PersonRecord, "userName" | "safetyWords" | "formerSafetyWords" | "formerName">;
  /** Title that is shown if the keys changed; not shown if only the name changed. */
  readonly title: string;
  readonly body: string;
  readonly trustLabel: string;
  readonly pending: boolean;
  readonly onTrust: () => void;
  /** Alternatives to trusting the person. */
  readonly children?: ReactNode;
}

/**
 * Shows the pinned keys and name next to those that the service sends now. The person must decide
 * before anything continues.
 */
export function ChangedPerson({ person, title, body, trustLabel, pending, onTrust, children }: ChangedPersonProps) {
  const { t } = useTranslation("beta-share");
  const { userName, safetyWords, formerSafetyWords, formerName } = person;
  const hasKeys = safetyWords.length > 0;
  const isRenamedOnly = formerName !== null && (!hasKeys || safetyWords.join(" ") === formerSafetyWords?.join(" "));
  return (
    <Stack $gap={4}>
      {formerName !== null && (
        <Notice role="alert" tone="danger" title={t("sender.renamed_title", { former: markVerbatim(formerName) })}>
          {renderVerbatim(t("sender.renamed_body", { former: markVerbatim(formerName), name: markVerbatim(userName) }))}
        </Notice>
      )}
      {!isRenamedOnly && (
        <Notice role="alert" tone="danger" title={title}>
          {renderVerbatim(body)}
        </Notice>
      )}
      {formerSafetyWords !== null && <NumberedWords words={formerSafetyWords} label={t("sender.former_words_label")} />}
      {!isRenamedOnly && hasKeys && <NumberedWords words={safetyWords} label={t("sender.new_words_label")} />}
      {!hasKeys && <SmallText>{renderVerbatim(t("sender.no_keys_body", { name: markVerbatim(userName) }))}</SmallText>}
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
