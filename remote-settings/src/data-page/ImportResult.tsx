import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import {
  Button,
  ButtonLink,
  Card,
  Notice,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
  useErrorMessage,
} from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import type { MissingEntry, ImportOutcome } from "./ImportReview.tsx";
import { PagedList } from "./PagedList.tsx";

interface ImportResultProps {
  readonly result: ImportOutcome;
  readonly isPortalExport: boolean;
  /** Of the file, or of the folder. */
  readonly sourceName: string;
  readonly onStartOver: () => void;
  /** Reads the same file once more, to store the rest. */
  readonly onContinue: () => void;
}

/**
 * What came of an import, which entries of the file are not here and why, and what to do with the
 * file.
 */
export function ImportResult({ result, isPortalExport, sourceName, onStartOver, onContinue }: ImportResultProps) {
  const { t } = useTranslation("settings-data");
  const describeError = useErrorMessage();
  const titleRef = useRef<HTMLHeadingElement>(null);
  const { stopReason, missing } = result;
  const isComplete = stopReason === null && missing.length === 0;
  const describeMissing = (entry: MissingEntry): string => {
    switch (entry.kind) {
      case "unstored":
        return isItemErrorCode(entry.code) ? t(`unstored.${entry.code}`) : describeError(new PortalError(entry.code));
      case "unselected":
      case "unstarred":
        return t(`done.${entry.kind}_body`);
      case "unread":
        return t(`failure.${entry.reason}`);
      case "left":
        return t(`review.left_${entry.part}_hint`);
    }
  };
  const keepKey = stopReason !== null ? "keep_rest" : isPortalExport ? "keep_own" : "keep";
  useEffect(() => {
    titleRef.current?.focus();
  }, []);
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle ref={titleRef} tabIndex={-1}>
          {t(stopReason === null ? "done.title" : "done.stopped_title")}
        </SectionTitle>
        <SmallText>
          {t("done.counts_body", { added: result.added, updated: result.updated, same: result.unchanged })}
        </SmallText>
        {stopReason !== null && (
          <Notice
            tone="warn"
            title={stopReason === "cancelled" ? t("done.cancelled_title") : describeError(new PortalError(stopReason))}
          >
            {t("done.stopped_body")}
          </Notice>
        )}
        {isComplete ? (
          <Notice {...(isPortalExport ? {} : { tone: "warn", title: t("done.delete_title") })}>
            {t(isPortalExport ? "done.delete_own_body" : "done.delete_body", { names: sourceName })}
          </Notice>
        ) : (
          <Notice tone="warn" title={t("done.keep_title")}>
            <Stack $gap={3}>
              {missing.length > 0 && (
                <PagedList
                  label={t("done.keep_title")}
                  lines={missing.map((entry) => `${entry.title}: ${describeMissing(entry)}`)}
                />
              )}
              <p>{t(`done.${keepKey}_body`, { names: sourceName })}</p>
            </Stack>
          </Notice>
        )}
        <SpacedRow>
          {stopReason !== null && <Button onClick={onContinue}>{t("done.go_on_action")}</Button>}
          <ButtonLink to="/secrets" tone={stopReason === null ? "primary" : "quiet"}>
            {t("done.list_action")}
          </ButtonLink>
          <Button tone="quiet" onClick={onStartOver}>
            {t("done.again_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** What can be wrong with one item; the sentences of these codes are about forms. */
const itemErrorCodes = [
  "validation_error",
  "payload_too_large",
  "version_conflict",
  "too_many_versions",
  "not_found",
  "opener_needed",
] as const;

function isItemErrorCode(code: ErrorCode): code is (typeof itemErrorCodes)[number] {
  return itemErrorCodes.some((itemCode) => itemCode === code);
}
