import type {
  ImportFailure,
  ImportItem,
  ImportComparison,
  ImportReadResult,
  OpenerHandle,
  ImportResult,
  Vault,
  VaultProgress,
} from "@relicario/shared/contract";
import { Checkbox, FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  Muted,
  Notice,
  Progress,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { PagedList } from "./PagedList.tsx";

/** What files hold that could be read. */
export type ImportContents = Extract<ImportReadResult, { status: "read" }>;

/** An entry of the file that is not here, or not all of it. */
export type MissingEntry = { readonly title: string } & (
  | { readonly kind: "unstored"; readonly code: ImportResult["failures"][number]["code"] }
  | { readonly kind: "unselected" | "unstarred" }
  | { readonly kind: "unread"; readonly reason: ImportFailure["reason"] }
  | { readonly kind: "left"; readonly part: NonNullable<ImportItem["omitted"]>[number] }
);

/**
 * What became of the chosen items, and what the file holds beside that. Where it stopped, the rest
 * is not among `missing`.
 */
export interface ImportOutcome extends Omit<ImportResult, "failures" | "favoriteFailed"> {
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

/** Items that are drawn at a time. */
const pageSize = 100;

/**
 * Every item with what it becomes; those that are chosen are protected by one showing of an opener.
 */
export function ImportReview({ vault, isFirstImport, contents, comparisons, onCancel, onStored }: ImportReviewProps) {
  const { t } = useTranslation("settings-data");
  const { items, failures } = contents;
  const sameCount = comparisons.filter(({ status }) => status === "same").length;
  const importableIndices = items.flatMap((_, index) => (comparisons[index]?.status === "same" ? [] : [index]));
  const [selectedIndices, setSelectedIndices] = useState<ReadonlySet<number>>(() => new Set(importableIndices));
  const [visibleCount, setVisibleCount] = useState(pageSize);
  const [imageName, setImageName] = useState("");
  const [isSubmitted, setIsSubmitted] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const abortController = useRef<AbortController | null>(null);
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus();
    return () => abortController.current?.abort();
  }, []);

  const client = useQueryClient();
  const storeMutation = useMutation({
    mutationFn: async (opener: OpenerHandle): Promise<ImportOutcome> => {
      const controller = new AbortController();
      abortController.current = controller;
      setProgress(null);
      const selectedItems = items.filter((_, index) => selectedIndices.has(index));
      const stored = await vault.imports.store(selectedItems, opener, {
        signal: controller.signal,
        onProgress: setProgress,
        ...(isFirstImport ? { name: imageName } : {}),
      });
      const { failures, favoriteFailed = [], ...counts } = stored;
      const failedEntries = failures.map(({ index, code }): MissingEntry => ({
        kind: "unstored",
        title: selectedItems[index]?.title ?? "",
        code,
      }));
      const unstarredEntries = favoriteFailed.map((index): MissingEntry => ({
        kind: "unstarred",
        title: selectedItems[index]?.title ?? "",
      }));
      return { ...counts, missing: [...failedEntries, ...unstarredEntries, ...listOtherMissing()] };
    },
    // lists on other screens were read before; half of an import is stored, too
    onSettled: () => client.invalidateQueries(),
    onSuccess: (result) => {
      onStored({ ...result, unchanged: result.unchanged + sameCount });
    },
  });
  /** Of the file, whatever becomes of the chosen items. */
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
    if (openerHandle !== null && !isNameMissing && selectedIndices.size > 0) storeMutation.mutate(openerHandle);
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
          active={storeMutation.isPending}
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
        {items.some(({ kind }) => kind === "one_time_password") && (
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
              lines={failures.map(({ location, reason }) => `${location}: ${t(`failure.${reason}`)}`)}
            />
          </Notice>
        )}
        <SpacedRow $gap={2}>
          <Button
            tone="quiet"
            size="small"
            disabled={storeMutation.isPending}
            onClick={() => {
              setSelectedIndices(new Set(importableIndices));
            }}
          >
            {t("review.all_action")}
          </Button>
          <Button
            tone="quiet"
            size="small"
            disabled={storeMutation.isPending}
            onClick={() => {
              setSelectedIndices(new Set());
            }}
          >
            {t("review.none_action")}
          </Button>
        </SpacedRow>
        <Items aria-label={t("review.list_aria")}>
          {items.slice(0, visibleCount).map((item, index) => {
            const comparisonStatus = comparisons[index]?.status ?? "new";
            return (
              <li key={item.sourceId}>
                <Checkbox
                  checked={selectedIndices.has(index)}
                  disabled={comparisonStatus === "same" || storeMutation.isPending}
                  onChange={() => {
                    toggle(index);
                  }}
                  label={
                    <>
                      <Name>{item.title}</Name>
                      <Facts>
                        {[
                          t(`kind.${item.kind}`),
                          t(`review.${comparisonStatus}_hint`),
                          ...item.tags,
                          ...item.adjustments.map((change) => t(`review.${change}_hint`)),
                          ...(item.omitted ?? []).map((part) => t(`review.left_${part}_hint`)),
                        ].join(" · ")}
                      </Facts>
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
        {importableIndices.length > 0 && (
          <>
            <Muted>{t(isFirstImport ? "review.first_body" : "review.picture_body")}</Muted>
            <vault.PictureField
              purpose={isFirstImport ? "choose" : "show"}
              value={openerHandle}
              disabled={storeMutation.isPending}
              onChange={setOpenerHandle}
            />
            {isSubmitted && openerHandle === null && <FieldError>{t("review.picture_error")}</FieldError>}
            {isFirstImport && (
              <TextField
                label={t("review.name_label")}
                error={isSubmitted && isNameMissing ? t("review.name_error") : null}
                maxLength={maxImageNameLength}
                value={imageName}
                disabled={storeMutation.isPending}
                onChange={(event) => {
                  setImageName(event.target.value);
                }}
              />
            )}
          </>
        )}
        {isSubmitted && selectedIndices.size === 0 && <FieldError>{t("review.none_error")}</FieldError>}
        <ErrorNotice error={storeMutation.error} />
        {storeMutation.isPending && (
          <Progress
            label={
              sendingProgress === null
                ? t("review.looking_status")
                : t("review.storing_status", { done: sendingProgress.done, total: sendingProgress.total })
            }
            done={sendingProgress?.done ?? 0}
            total={sendingProgress?.total ?? 0}
          />
        )}
        <SpacedRow>
          {importableIndices.length > 0 && (
            <Button pending={storeMutation.isPending} onClick={handleStore}>
              {t("review.store_action", { count: selectedIndices.size })}
            </Button>
          )}
          <Button
            tone="quiet"
            onClick={() => {
              if (storeMutation.isPending) abortController.current?.abort();
              else onCancel();
            }}
          >
            {t(storeMutation.isPending ? "review.stop_action" : "review.cancel_action")}
          </Button>
        </SpacedRow>
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
