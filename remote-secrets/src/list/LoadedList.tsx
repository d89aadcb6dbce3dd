import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { ListToolbar, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Progress,
  s,
  SmallText,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ListChecks, Search, ShieldPlus, Trash2 } from "lucide-react";
import { useId, useMemo, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";
import { styled } from "styled-components";

import { secretKeys } from "../data/keys.ts";
import { useUpdateSavedListState, useSavedListState } from "../data/saved-list-state.ts";
import { imagesQuery, liveSharesQuery } from "../data/secrets.ts";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { SecretRowCard } from "../row/SecretRowCard.tsx";
import { useRowActions } from "../row/useRowActions.ts";
import { ExportPanel } from "./ExportPanel.tsx";
import { FilterPanel } from "./FilterPanel.tsx";
import { PurgeDialog } from "./PurgeDialog.tsx";
import { SelectionBar } from "./SelectionBar.tsx";
import { TrashConfirmation } from "./TrashConfirmation.tsx";
import { useSelection } from "./useSelection.ts";
import { countFilters, defaultView, useVisibleRows, type Folder, type ListView } from "./visible-rows.ts";
import { VirtualRows } from "./VirtualRows.tsx";

interface LoadedListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly locked: boolean;
  /** Progress of opening the rows; null once `rows` is complete. */
  readonly openingProgress: { readonly opened: number; readonly total: number } | null;
}

export function LoadedList({ vault, rows, locked, openingProgress }: LoadedListProps) {
  const { t } = useTranslation("beta-home");
  const { user, notify } = usePortal();
  const client = useQueryClient();
  const [folder, setFolder] = useState<Folder>("active");
  const [searchText, setSearchText] = useState("");
  const [filterOpen, setFilterOpen] = useState(false);
  const [view, setView] = useListView();
  const { selectedSecret } = useSavedListState();
  const [rowsToExport, setRowsToExport] = useState<readonly SecretRow[] | null>(null);
  const [rowsToPurge, setRowsToPurge] = useState<readonly SecretRow[] | null>(null);
  const panelId = useId();
  const images = useQuery(imagesQuery(vault, user.userId, locked ? "locked" : "unlocked"));

  const { data: shares } = useQuery(liveSharesQuery(vault, user.userId, locked ? "locked" : "unlocked"));
  const sharedIds = useMemo(() => new Set(shares?.map(({ secretId }) => secretId)), [shares]);

  const { activeRows, trashedRows, folderRows, visibleRows, tags } = useVisibleRows(
    rows,
    folder,
    view,
    searchText,
    sharedIds,
  );
  const selection = useSelection(visibleRows);
  const requestPurge = locked ? null : setRowsToPurge;
  const actions = useRowActions(vault, selection.set, requestPurge);
  const isFiltered = searchText.trim() !== "" || countFilters(view) > 0;
  const openFolder = (next: Folder) => {
    setFolder(next);
    selection.stop();
  };
  const purgeOperation = useVaultOperation({ vault });
  const handlePurge = (confirmedRows: readonly SecretRow[]) => {
    purgeOperation.start({
      run: runUnlocked(vault, (options) =>
        vault.purge(
          confirmedRows.map(({ secretId }) => secretId),
          options,
        ),
      ),
      onDone: () => {
        notify({ tone: "success", text: t("purge.done_status", { count: confirmedRows.length }) });
        setRowsToPurge(null);
        selection.stop();
      },
      onSettled: () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    });
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && selection.active) selection.stop();
  };
  const handleExportClose = () => {
    setRowsToExport(null);
    selection.stop();
  };

  const [searchParams, setSearchParams] = useSearchParams();
  const isFullExport =
    searchParams.get("export") === "all" && !locked && openingProgress === null && activeRows.length > 0;
  const closeFullExport = () => {
    handleExportClose();
    setSearchParams({}, { replace: true });
  };
  if (isFullExport) return <ExportPanel vault={vault} rows={activeRows} onClose={closeFullExport} />;
  if (rowsToExport !== null) return <ExportPanel vault={vault} rows={rowsToExport} onClose={handleExportClose} />;
  if (rows.length === 0) return <EmptyList />;
  return (
    <Stack $gap={4} onKeyDown={handleKeyDown}>
      {locked && <UnlockNotice vault={vault} returnTo="/secrets" />}
      {!locked && (
        <ListToolbar
          tourTargetPrefix="secrets"
          searchLabel={t("list.search_label")}
          search={searchText}
          onSearch={setSearchText}
          filterLabel={
            countFilters(view) === 0
              ? t("filter.open_action")
              : t("filter.open_some_action", { number: countFilters(view) })
          }
          filterOpen={filterOpen}
          panelId={panelId}
          onFilterOpenChange={setFilterOpen}
        />
      )}
      {!locked && filterOpen && (
        <FilterPanel id={panelId} view={view} onChange={setView} tags={tags} images={images.data ?? []} />
      )}
      {openingProgress !== null ? (
        <TotalRow>
          <Progress label={t("list.opening_status")} done={openingProgress.opened} total={openingProgress.total} />
        </TotalRow>
      ) : selection.active ? (
        <SelectionBar
          folder={folder}
          selectedRows={selection.selectedRows}
          total={visibleRows.length}
          actions={actions}
          onPurge={requestPurge}
          onExport={locked ? null : setRowsToExport}
          onSelectAll={selection.setAll}
          onClose={selection.stop}
        />
      ) : (
        <TotalRow $justify="between">
          <SmallText role="status" data-tour="secrets-total">
            {isFiltered
              ? t("list.found_status", { count: visibleRows.length, total: folderRows.length })
              : t(folder === "active" ? "list.total_status" : "list.trash_status", { count: folderRows.length })}
          </SmallText>
          <SpacedRow $gap={2}>
            {visibleRows.length > 0 && (
              <Button tone="quiet" size="small" icon={<ListChecks aria-hidden />} onClick={selection.start}>
                {t("select.begin_action")}
              </Button>
            )}
            {(trashedRows.length > 0 || folder === "trash") && (
              <Button
                tone="quiet"
                size="small"
                icon={folder === "active" ? <Trash2 aria-hidden /> : undefined}
                onClick={() => {
                  openFolder(folder === "active" ? "trash" : "active");
                }}
              >
                {folder === "active" ? t("list.trash_action", { count: trashedRows.length }) : t("list.kept_action")}
              </Button>
            )}
          </SpacedRow>
        </TotalRow>
      )}
      <ErrorNotice error={actions.error} />
      {!locked && openingProgress === null && <TrashConfirmation vault={vault} rows={trashedRows} />}
      {folder === "trash" && trashedRows.length > 0 && (
        <SpacedRow $justify="between">
          <SmallText>{t("list.trash_hint")}</SmallText>
          {!locked && (
            <Button
              tone="danger"
              size="small"
              onClick={() => {
                setRowsToPurge(trashedRows);
              }}
            >
              {t("purge.empty_action")}
            </Button>
          )}
        </SpacedRow>
      )}
      {visibleRows.length > 0 ? (
        <VirtualRows
          key={folder}
          rows={visibleRows}
          label={t(folder === "active" ? "list.title" : "list.trash_title")}
          initialRowId={selectedSecret}
        >
          {(row) => (
            <SecretRowCard
              row={row}
              actions={actions.rowActions}
              shared={sharedIds.has(row.secretId)}
              selected={selection.active ? selection.has(row) : null}
            />
          )}
        </VirtualRows>
      ) : (
        <NoVisibleRows folder={folder} isFiltered={isFiltered} hasActiveRows={activeRows.length > 0} />
      )}
      <PurgeDialog
        vault={vault}
        rows={rowsToPurge}
        operation={purgeOperation}
        onClose={() => {
          purgeOperation.cancel();
          setRowsToPurge(null);
        }}
        onConfirm={handlePurge}
      />
    </Stack>
  );
}

/** Filters and sort order. Tags are saved for the next visit. */
function useListView(): [ListView, (view: ListView) => void] {
  const [localView, setLocalView] = useState<Omit<ListView, "tags">>(defaultView);
  const { categories } = useSavedListState();
  const updateSavedListState = useUpdateSavedListState();
  const view = useMemo<ListView>(() => ({ ...localView, tags: categories }), [localView, categories]);
  return [
    view,
    ({ tags, ...localChanges }) => {
      setLocalView(localChanges);
      updateSavedListState({ categories: tags });
    },
  ];
}

function EmptyList() {
  const { t } = useTranslation("beta-home");
  return (
    <EmptyState
      icon={<ShieldPlus />}
      title={t("list.empty_title")}
      actions={
        <>
          <ButtonLink to="/add-secret">{t("list.first_action")}</ButtonLink>
          <ButtonLink to="/welcome-backup" tone="quiet">
            {t("list.how_action")}
          </ButtonLink>
        </>
      }
    >
      <p>{t("list.empty_body")}</p>
    </EmptyState>
  );
}

interface NoVisibleRowsProps {
  readonly folder: Folder;
  readonly isFiltered: boolean;
  readonly hasActiveRows: boolean;
}

function NoVisibleRows({ folder, isFiltered, hasActiveRows }: NoVisibleRowsProps) {
  const { t } = useTranslation("beta-home");
  if (isFiltered && (folder === "trash" || hasActiveRows)) {
    return (
      <EmptyState icon={<Search />} title={t("list.none_found_title")}>
        <p>{t("list.none_found_body")}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<Trash2 />}
      title={t(folder === "active" ? "list.all_trashed_title" : "list.trash_empty_title")}
    />
  );
}

/** Keeps its height while rows are opened, so that the rows below do not move. */
const TotalRow = styled(SpacedRow)`
  min-height: ${s("target")};
  & > :only-child {
    flex: 1 1 auto;
  }
`;
