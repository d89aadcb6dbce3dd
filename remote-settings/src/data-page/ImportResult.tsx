import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import {
  Button,
  ButtonLink,
  Card,
  markVerbatim,
  Notice,
  renderVerbatim,
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
  /** What still protects the file: the key of an archive of this portal, or a password. */
  readonly protection: "key" | "password" | null;
  /** Of the file, or of the folder. */
  readonly sourceName: string;
  readonly onStartOver: () => void;
  /** Reads the same file again, to store the rest. */
  readonly onContinue: () => void;
}

/**
 * Shows the result of an import, which entries of the file are missing and why, and what to do with
 * the file.
 */
export function ImportResult({ result, protection, sourceName, onStartOver, onContinue }: ImportResultProps) {
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
  const suffix = protection === "key" ? "_own" : protection === "password" ? "_password" : "";
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
          <Notice {...(protection === null ? { tone: "warn", title: t("done.delete_title") } : {})}>
            {renderVerbatim(t(`done.delete${suffix}_body`, { names: markVerbatim(sourceName) }))}
          </Notice>
        ) : (
          <Notice tone="warn" title={t("done.keep_title")}>
            <Stack $gap={3}>
              {missing.length > 0 && (
                <PagedList
                  label={t("done.keep_title")}
                  lines={missing.map((entry) => ({ title: entry.title, reason: describeMissing(entry) }))}
                />
              )}
              <p>
                {renderVerbatim(
                  t(stopReason === null ? `done.keep${suffix}_body` : "done.keep_rest_body", {
                    names: markVerbatim(sourceName),
                  }),
                )}
              </p>
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

/**
 * Error codes of a single item that have their own texts here, because the general texts of these
 * codes are about forms.
 */
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
