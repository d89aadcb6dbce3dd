import type {
  ImportFailure,
  ImportItem,
  ImportComparison,
  ImportReadResult,
  OpenerHandle,
  ImportResult,
  Vault,
} from "@relicario/shared/contract";
import {
  Checkbox,
  FieldError,
  maxImageNameLength,
  OpenerPrompt,
  TextField,
  useVaultOperation,
  type OperationOptions,
} from "@relicario/shared/forms";
import {
  Button,
  Card,
  LeaveGuard,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  Verbatim,
} from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { PagedList } from "./PagedList.tsx";

/** Contents of files that were read. */
export type ImportContents = Extract<ImportReadResult, { status: "read" }>;

/** An entry of the file that was not stored, or only in part. */
export type MissingEntry = { readonly title: string } & (
  | { readonly kind: "unstored"; readonly code: ImportResult["failures"][number]["code"] }
  | { readonly kind: "unselected" | "unstarred" }
  | { readonly kind: "unread"; readonly reason: ImportFailure["reason"] }
  | { readonly kind: "left"; readonly part: NonNullable<ImportItem["omitted"]>[number] }
);

/**
 * Result of storing the chosen items, and the missing entries of the file. After an early stop,
 * items that were not stored yet are not in `missing`.
 */
export interface ImportOutcome extends Omit<ImportResult, "failures" | "failedFavoriteIndexes"> {
  readonly missing: readonly MissingEntry[];
}

interface ImportReviewProps {
  readonly vault: Vault;
  readonly isFirstImport: boolean;
  readonly contents: ImportContents;
  readonly comparisons: readonly ImportComparison[];
  readonly onCancel: () => void;
  readonly onStored: (result: ImportOutcome) => void;
}

/** Number of items that are rendered at first, and added by each press of the button. */
const pageSize = 100;

/**
 * Lists every item with what storing it does. The chosen items are protected with one presented
 * opener.
 */
export function ImportReview({ vault, isFirstImport, contents, comparisons, onCancel, onStored }: ImportReviewProps) {
  const { t } = useTranslation("settings-data");
  const { items, failures, leftOut } = contents;
  const sameCount = comparisons.filter(({ status }) => status === "same").length;
  const importableIndices = items.flatMap((_, index) => (comparisons[index]?.status === "same" ? [] : [index]));
  const [selectedIndices, setSelectedIndices] = useState<ReadonlySet<number>>(() => new Set(importableIndices));
  const [visibleCount, setVisibleCount] = useState(pageSize);
  const [imageName, setImageName] = useState("");
  const [isSubmitted, setIsSubmitted] = useState(false);
  const operation = useVaultOperation({ vault, asksOpener: true });
  const { running, progress } = operation;
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus();
  }, []);

  const client = useQueryClient();
  const storeItems = async (opener: OpenerHandle, options: OperationOptions): Promise<ImportOutcome> => {
    const selectedItems = items.filter((_, index) => selectedIndices.has(index));
    const stored = await vault.imports.store(selectedItems, opener, {
      ...options,
      ...(isFirstImport ? { name: imageName } : {}),
    });
    const { failures, failedFavoriteIndexes = [], ...counts } = stored;
    const failedEntries = failures.map(({ index, code }): MissingEntry => ({
      kind: "unstored",
      title: selectedItems[index]?.title ?? "",
      code,
    }));
    const unstarredEntries = failedFavoriteIndexes.map((index): MissingEntry => ({
      kind: "unstarred",
      title: selectedItems[index]?.title ?? "",
    }));
    return {
      ...counts,
      unchanged: counts.unchanged + sameCount,
      missing: [...failedEntries, ...unstarredEntries, ...listOtherMissing()],
    };
  };
  /** Missing entries of the file that do not depend on the result of storing. */
  const listOtherMissing = (): MissingEntry[] => [
    ...items.flatMap(({ title: entryTitle, omitted = [] }, index): MissingEntry[] =>
      !selectedIndices.has(index) && comparisons[index]?.status !== "same"
        ? [{ kind: "unselected", title: entryTitle }]
        : omitted.map((part) => ({ kind: "left", title: entryTitle, part })),
    ),
    ...failures.flatMap(({ location, reason }): MissingEntry[] =>
      reason === "empty" ? [] : [{ kind: "unread", title: location, reason }],
    ),
  ];
  const toggle = (index: number) => {
    const next = new Set(selectedIndices);
    if (!next.delete(index)) next.add(index);
    setSelectedIndices(next);
  };
  const isNameMissing = isFirstImport && imageName.trim() === "";
  const handleStore = () => {
    setIsSubmitted(true);
    if (operation.opener !== null && (isNameMissing || selectedIndices.size === 0)) return;
    operation.startWithOpener({
      run: (options, opener) => storeItems(opener, options),
      onDone: onStored,
      onLateResult: onStored, // what was stored before it stopped
      // Queries of other screens are outdated, even if the import stops half-way.
      onSettled: () => void client.invalidateQueries(),
    });
  };
  const counts = {
    added: comparisons.filter(({ status }) => status === "new").length,
    changed: comparisons.filter(({ status }) => status === "changed").length,
    same: sameCount,
  };
  const sendingProgress = progress?.phase === "sending" ? progress : null;
  return (
    <Card>
      <Stack $gap={4}>
        <LeaveGuard
          active={running}
          title={t("leave.title")}
          body={t("leave.body")}
          leaveLabel={t("leave.leave_action")}
          stayLabel={t("leave.stay_action")}
        />
        <SectionTitle ref={titleRef} tabIndex={-1}>
          {t("review.title", { count: items.length })}
        </SectionTitle>
        <Muted>{t("review.from_body", { format: t(`format.${contents.format}`) })}</Muted>
        <SmallText role="status">{t("review.counts_body", counts)}</SmallText>
        {items.some(({ hasSeeds }) => hasSeeds) && (
          <Notice title={t("review.seeds_title")}>{t("review.seeds_body")}</Notice>
        )}
        {items.some(({ omitted }) => omitted?.includes("passkey")) && (
          <Notice tone="warn" title={t("review.passkeys_title")}>
            {t("review.passkeys_body")}
          </Notice>
        )}
        {failures.length > 0 && (
          <Notice tone="warn" title={t("review.failures_title", { count: failures.length })}>
            <PagedList
              label={t("review.failures_title", { count: failures.length })}
              lines={failures.map(({ location, reason }) => ({ title: location, reason: t(`failure.${reason}`) }))}
            />
          </Notice>
        )}
        {leftOut.length > 0 && (
          <Muted>{renderVerbatim(t("review.left_out_body", { names: markVerbatim(leftOut.join(", ")) }))}</Muted>
        )}
        {items.length > 0 && importableIndices.length === 0 && <Notice>{t("review.all_same_body")}</Notice>}
        {importableIndices.length > 0 && (
          <SpacedRow $gap={2}>
            <Button
              tone="quiet"
              size="small"
              disabled={running}
              onClick={() => {
                setSelectedIndices(new Set(importableIndices));
              }}
            >
              {t("review.all_action")}
            </Button>
            <Button
              tone="quiet"
              size="small"
              disabled={running}
              onClick={() => {
                setSelectedIndices(new Set());
              }}
            >
              {t("review.none_action")}
            </Button>
          </SpacedRow>
        )}
        <Items aria-label={t("review.list_aria")}>
          {items.slice(0, visibleCount).map((item, index) => {
            const comparisonStatus = comparisons[index]?.status ?? "new";
            return (
              <li key={item.sourceId}>
                <Checkbox
                  checked={selectedIndices.has(index)}
                  disabled={comparisonStatus === "same" || running}
                  onChange={() => {
                    toggle(index);
                  }}
                  label={
                    <>
                      <Name>
                        <Verbatim>{item.title}</Verbatim>
                      </Name>
                      <Facts>
                        {renderVerbatim(
                          [
                            t(`kind.${item.kind}`),
                            t(`review.${comparisonStatus}_hint`),
                            ...item.tags.map(markVerbatim),
                            ...item.adjustments.map((change) => t(`review.${change}_hint`)),
                            ...(item.omitted ?? []).map((part) => t(`review.left_${part}_hint`)),
                          ].join(" · "),
                        )}
                      </Facts>
                      {item.fieldNames !== undefined && item.fieldNames.length > 0 && (
                        <Facts>
                          {renderVerbatim(t("review.fields_hint", { names: markVerbatim(item.fieldNames.join(", ")) }))}
                        </Facts>
                      )}
                    </>
                  }
                />
              </li>
            );
          })}
        </Items>
        {items.length > visibleCount && (
          <SpacedRow>
            <Button
              tone="quiet"
              size="small"
              onClick={() => {
                setVisibleCount(visibleCount + pageSize);
              }}
            >
              {t("review.more_action", { number: items.length - visibleCount })}
            </Button>
          </SpacedRow>
        )}
        {importableIndices.length > 0 ? (
          <>
            <Muted>{t(isFirstImport ? "review.first_body" : "review.picture_body")}</Muted>
            <OpenerPrompt
              vault={vault}
              operation={operation}
              label={t("review.store_action", { count: selectedIndices.size })}
              purpose={isFirstImport ? "choose" : "show"}
              phaseTexts={
                sendingProgress === null
                  ? {}
                  : {
                      sending: t("review.storing_status", {
                        done: sendingProgress.done,
                        total: sendingProgress.total,
                      }),
                    }
              }
              stopLabel={t("review.stop_action")}
              onSubmit={handleStore}
              onClose={onCancel}
            >
              {isFirstImport && (
                <TextField
                  label={t("review.name_label")}
                  error={isSubmitted && isNameMissing ? t("review.name_error") : null}
                  maxLength={maxImageNameLength}
                  value={imageName}
                  disabled={running}
                  onChange={(event) => {
                    setImageName(event.target.value);
                  }}
                />
              )}
              {isSubmitted && selectedIndices.size === 0 && <FieldError>{t("review.none_error")}</FieldError>}
            </OpenerPrompt>
          </>
        ) : (
          <SpacedRow>
            <Button tone="quiet" onClick={onCancel}>
              {t("review.cancel_action")}
            </Button>
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}

const Items = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  min-width: 0;
`;

const Name = styled.span`
  display: block;
  overflow-wrap: anywhere;
`;

const Facts = styled.span`
  display: block;
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
`;
