import type {
  ImportFailure,
  ImportItem,
  ImportStanding,
  ReadImport,
  ShownImage,
  StoredImport,
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
  useShownImage,
} from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { LongList } from "./LongList.tsx";

/** What files hold that could be read. */
export type ReadItems = Extract<ReadImport, { status: "read" }>;

/** An entry of the file that is not here, or not all of it. */
export type MissingEntry = { readonly title: string } & (
  | { readonly what: "unstored"; readonly code: StoredImport["failed"][number]["code"] }
  | { readonly what: "unselected" | "unstarred" }
  | { readonly what: "unread"; readonly reason: ImportFailure["reason"] }
  | { readonly what: "left"; readonly part: NonNullable<ImportItem["leftOut"]>[number] }
);

/**
 * What became of the chosen items, and what the file holds beside that. Where it stopped, the rest
 * is not among `missing`.
 */
export interface StoredItems extends Omit<StoredImport, "failed" | "unstarred"> {
  readonly missing: readonly MissingEntry[];
}

interface ImportReviewProps {
  readonly vault: Vault;
  readonly begins: boolean;
  readonly read: ReadItems;
  readonly standings: readonly ImportStanding[];
  readonly onCancel: () => void;
  readonly onStored: (result: StoredItems) => void;
}

/** Items that are drawn at a time. */
const pageSize = 100;

/**
 * Every item with what it becomes; those that are chosen are protected by one showing of an opener.
 */
export function ImportReview({ vault, begins, read, standings, onCancel, onStored }: ImportReviewProps) {
  const { t } = useTranslation("settings-data");
  const { items, failures } = read;
  const kept = standings.filter(({ standing }) => standing === "same").length;
  const open = items.flatMap((_, index) => (standings[index]?.standing === "same" ? [] : [index]));
  const [chosen, setChosen] = useState<ReadonlySet<number>>(() => new Set(open));
  const [shownItems, setShownItems] = useState(pageSize);
  const [imageName, setImageName] = useState("");
  const [asked, setAsked] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const { shown, setShown } = useShownImage(vault);
  const running = useRef<AbortController | null>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus();
    return () => running.current?.abort();
  }, []);

  const client = useQueryClient();
  const storing = useMutation({
    mutationFn: async (opener: ShownImage): Promise<StoredItems> => {
      const controller = new AbortController();
      running.current = controller;
      setProgress(null);
      const wanted = items.filter((_, index) => chosen.has(index));
      const stored = await vault.imports.store(wanted, opener, {
        signal: controller.signal,
        onProgress: setProgress,
        ...(begins ? { name: imageName } : {}),
      });
      const { failed, unstarred = [], ...counts } = stored;
      const unstored = failed.map(({ index, code }): MissingEntry => ({
        what: "unstored",
        title: wanted[index]?.title ?? "",
        code,
      }));
      const plain = unstarred.map((index): MissingEntry => ({ what: "unstarred", title: wanted[index]?.title ?? "" }));
      return { ...counts, missing: [...unstored, ...plain, ...missingBeside()] };
    },
    // lists on other screens were read before; half of an import is stored, too
    onSettled: () => client.invalidateQueries(),
    onSuccess: (result) => {
      onStored({ ...result, same: result.same + kept });
    },
  });
  /** Of the file, whatever becomes of the chosen items. */
  const missingBeside = (): MissingEntry[] => [
    ...items.flatMap(({ title: entry, leftOut = [] }, index): MissingEntry[] =>
      !chosen.has(index) && standings[index]?.standing !== "same"
        ? [{ what: "unselected", title: entry }]
        : leftOut.map((part) => ({ what: "left", title: entry, part })),
    ),
    ...failures.flatMap(({ place, reason }): MissingEntry[] =>
      reason === "empty" ? [] : [{ what: "unread", title: place, reason }],
    ),
  ];
  const toggle = (index: number) => {
    const next = new Set(chosen);
    if (!next.delete(index)) next.add(index);
    setChosen(next);
  };
  const isNameMissing = begins && imageName.trim() === "";
  const handleStore = () => {
    setAsked(true);
    if (shown !== null && !isNameMissing && chosen.size > 0) storing.mutate(shown);
  };
  const counts = {
    added: standings.filter(({ standing }) => standing === "new").length,
    changed: standings.filter(({ standing }) => standing === "changed").length,
    same: kept,
  };
  const sent = progress?.phase === "sending" ? progress : null;
  return (
    <Card>
      <Stack $gap={4}>
        <LeaveGuard
          guarding={storing.isPending}
          title={t("leave.title")}
          body={t("leave.body")}
          leave={t("leave.leave_action")}
          stay={t("leave.stay_action")}
        />
        <SectionTitle ref={title} tabIndex={-1}>
          {t("review.title", { count: items.length })}
        </SectionTitle>
        <Muted>{t("review.from_body", { format: t(`format.${read.format}`) })}</Muted>
        <SmallText role="status">{t("review.counts_body", counts)}</SmallText>
        {items.some(({ kind }) => kind === "one_time_password") && (
          <Notice title={t("review.seeds_title")}>{t("review.seeds_body")}</Notice>
        )}
        {items.some(({ leftOut }) => leftOut?.includes("passkey")) && (
          <Notice tone="warn" title={t("review.passkeys_title")}>
            {t("review.passkeys_body")}
          </Notice>
        )}
        {failures.length > 0 && (
          <Notice tone="warn" title={t("review.failures_title", { count: failures.length })}>
            <LongList
              label={t("review.failures_title", { count: failures.length })}
              lines={failures.map(({ place, reason }) => `${place}: ${t(`failure.${reason}`)}`)}
            />
          </Notice>
        )}
        <SpacedRow $gap={2}>
          <Button
            tone="quiet"
            size="small"
            disabled={storing.isPending}
            onClick={() => {
              setChosen(new Set(open));
            }}
          >
            {t("review.all_action")}
          </Button>
          <Button
            tone="quiet"
            size="small"
            disabled={storing.isPending}
            onClick={() => {
              setChosen(new Set());
            }}
          >
            {t("review.none_action")}
          </Button>
        </SpacedRow>
        <Items aria-label={t("review.list_aria")}>
          {items.slice(0, shownItems).map((item, index) => {
            const standing = standings[index]?.standing ?? "new";
            return (
              <li key={item.origin}>
                <Checkbox
                  checked={chosen.has(index)}
                  disabled={standing === "same" || storing.isPending}
                  onChange={() => {
                    toggle(index);
                  }}
                  label={
                    <>
                      <Name>{item.title}</Name>
                      <Facts>
                        {[
                          t(`kind.${item.kind}`),
                          t(`review.${standing}_hint`),
                          ...item.tags,
                          ...item.changed.map((change) => t(`review.${change}_hint`)),
                          ...(item.leftOut ?? []).map((left) => t(`review.left_${left}_hint`)),
                        ].join(" · ")}
                      </Facts>
                    </>
                  }
                />
              </li>
            );
          })}
        </Items>
        {items.length > shownItems && (
          <SpacedRow>
            <Button
              tone="quiet"
              size="small"
              onClick={() => {
                setShownItems(shownItems + pageSize);
              }}
            >
              {t("review.more_action", { number: items.length - shownItems })}
            </Button>
          </SpacedRow>
        )}
        {open.length > 0 && (
          <>
            <Muted>{t(begins ? "review.first_body" : "review.picture_body")}</Muted>
            <vault.PictureField
              purpose={begins ? "choose" : "show"}
              value={shown}
              disabled={storing.isPending}
              onChange={setShown}
            />
            {asked && shown === null && <FieldError>{t("review.picture_error")}</FieldError>}
            {begins && (
              <TextField
                label={t("review.name_label")}
                error={asked && isNameMissing ? t("review.name_error") : null}
                maxLength={maxImageNameLength}
                value={imageName}
                disabled={storing.isPending}
                onChange={(event) => {
                  setImageName(event.target.value);
                }}
              />
            )}
          </>
        )}
        {asked && chosen.size === 0 && <FieldError>{t("review.none_error")}</FieldError>}
        <ErrorNotice error={storing.error} />
        {storing.isPending && (
          <Progress
            label={
              sent === null
                ? t("review.looking_status")
                : t("review.storing_status", { done: sent.done, total: sent.total })
            }
            done={sent?.done ?? 0}
            total={sent?.total ?? 0}
          />
        )}
        <SpacedRow>
          {open.length > 0 && (
            <Button pending={storing.isPending} onClick={handleStore}>
              {t("review.store_action", { count: chosen.size })}
            </Button>
          )}
          <Button
            tone="quiet"
            onClick={() => {
              if (storing.isPending) running.current?.abort();
              else onCancel();
            }}
          >
            {t(storing.isPending ? "review.stop_action" : "review.cancel_action")}
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
