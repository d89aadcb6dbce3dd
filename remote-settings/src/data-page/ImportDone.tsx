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
  useErrorSentence,
} from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import type { MissingEntry, StoredItems } from "./ImportReview.tsx";
import { LongList } from "./LongList.tsx";

interface ImportDoneProps {
  readonly result: StoredItems;
  readonly sealed: boolean;
  /** Of the file, or of the folder. */
  readonly names: string;
  readonly onAgain: () => void;
  /** Reads the same file once more, to store the rest. */
  readonly onGoOn: () => void;
}

/**
 * What came of an import, which entries of the file are not here and why, and what to do with the
 * file.
 */
export function ImportDone({ result, sealed, names, onAgain, onGoOn }: ImportDoneProps) {
  const { t } = useTranslation("settings-data");
  const sentence = useErrorSentence();
  const title = useRef<HTMLHeadingElement>(null);
  const { stopped, missing } = result;
  const isComplete = stopped === null && missing.length === 0;
  const why = (entry: MissingEntry): string => {
    switch (entry.what) {
      case "unstored":
        return isOwn(entry.code) ? t(`unstored.${entry.code}`) : sentence(new PortalError(entry.code));
      case "unselected":
      case "unstarred":
        return t(`done.${entry.what}_body`);
      case "unread":
        return t(`failure.${entry.reason}`);
      case "left":
        return t(`review.left_${entry.part}_hint`);
    }
  };
  const keep = stopped !== null ? "keep_rest" : sealed ? "keep_own" : "keep";
  useEffect(() => {
    title.current?.focus();
  }, []);
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle ref={title} tabIndex={-1}>
          {t(stopped === null ? "done.title" : "done.stopped_title")}
        </SectionTitle>
        <SmallText>
          {t("done.counts_body", { added: result.added, updated: result.updated, same: result.same })}
        </SmallText>
        {stopped !== null && (
          <Notice
            tone="warn"
            title={stopped === "cancelled" ? t("done.cancelled_title") : sentence(new PortalError(stopped))}
          >
            {t("done.stopped_body")}
          </Notice>
        )}
        {isComplete ? (
          <Notice {...(sealed ? {} : { tone: "warn", title: t("done.delete_title") })}>
            {t(sealed ? "done.delete_own_body" : "done.delete_body", { names })}
          </Notice>
        ) : (
          <Notice tone="warn" title={t("done.keep_title")}>
            <Stack $gap={3}>
              {missing.length > 0 && (
                <LongList
                  label={t("done.keep_title")}
                  lines={missing.map((entry) => `${entry.title}: ${why(entry)}`)}
                />
              )}
              <p>{t(`done.${keep}_body`, { names })}</p>
            </Stack>
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
const own = [
  "validation_error",
  "payload_too_large",
  "version_conflict",
  "too_many_versions",
  "not_found",
  "opener_needed",
] as const;

function isOwn(code: ErrorCode): code is (typeof own)[number] {
  return own.some((one) => one === code);
}
