import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { Button, ButtonLink, Card, Notice, SectionTitle, SmallText, SpacedRow, Stack, useErrorSentence } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { Failures, type StoredItems } from "./ImportReview.tsx";

interface ImportDoneProps {
  readonly result: StoredItems;
  readonly sealed: boolean;
  /** Of the file, or of the folder. */
  readonly names: string;
  readonly onAgain: () => void;
  /** Reads the same file once more, to store the rest. */
  readonly onGoOn: () => void;
}

/** What came of an import, which items could not be stored and why, and what to do with the file. */
export function ImportDone({ result, sealed, names, onAgain, onGoOn }: ImportDoneProps) {
  const { t } = useTranslation("settings-data");
  const sentence = useErrorSentence();
  const title = useRef<HTMLHeadingElement>(null);
  const { stopped } = result;
  const isComplete = stopped === null && result.failed.length === 0 && result.unread === 0;
  useEffect(() => {
    title.current?.focus();
  }, []);
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle ref={title} tabIndex={-1}>
          {t(stopped === null ? "done.title" : "done.stopped_title")}
        </SectionTitle>
        <SmallText>{t("done.counts_body", { added: result.added, updated: result.updated, same: result.same })}</SmallText>
        {stopped !== null && (
          <Notice tone="warn" title={stopped === "cancelled" ? t("done.cancelled_title") : sentence(new PortalError(stopped))}>
            {t("done.stopped_body")}
          </Notice>
        )}
        {result.failed.length > 0 && (
          <Notice tone="warn" title={t("done.failed_title", { count: result.failed.length })}>
            <Failures>
              {result.failed.map(({ title: failed, code }, index) => (
                <li key={index}>
                  {failed}: {isOwn(code) ? t(`unstored.${code}`) : sentence(new PortalError(code))}
                </li>
              ))}
            </Failures>
          </Notice>
        )}
        {sealed ? (
          <Notice>{t("done.delete_own_body", { names })}</Notice>
        ) : (
          <Notice tone="warn" title={t(isComplete ? "done.delete_title" : "done.keep_title")}>
            {t(isComplete ? "done.delete_body" : "done.keep_body", { names })}
          </Notice>
        )}
        <SpacedRow>
          {stopped !== null && <Button onClick={onGoOn}>{t("done.go_on_action")}</Button>}
          <ButtonLink to="/secrets" tone={stopped === null ? "primary" : "quiet"}>
            {t("done.list_action")}
          </ButtonLink>
          <Button tone="quiet" onClick={onAgain}>
            {t("done.again_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** What can be wrong with one item; the sentences of these codes are about forms. */
const own = ["validation_error", "payload_too_large", "version_conflict", "too_many_versions", "not_found", "opener_needed"] as const;

function isOwn(code: ErrorCode): code is (typeof own)[number] {
  return own.some((one) => one === code);
}
