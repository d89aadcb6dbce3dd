import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { ListTools } from "@relicario/shared/forms";
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
import { useQuery } from "@tanstack/react-query";
import { ListChecks, Search, ShieldPlus, Trash2 } from "lucide-react";
import { useId, useMemo, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";
import { styled } from "styled-components";

import { useChangeListMemory, useListMemory } from "../data/list-memory.ts";
import { imagesQuery, liveSharesQuery } from "../data/secrets.ts";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { SecretRowCard } from "../row/SecretRowCard.tsx";
import { useRowActions } from "../row/useRowActions.ts";
import { ExportPanel } from "./ExportPanel.tsx";
import { FilterPanel } from "./FilterPanel.tsx";
import { PurgeDialog } from "./PurgeDialog.tsx";
import { SelectionBar } from "./SelectionBar.tsx";
import { useSelection } from "./useSelection.ts";
import { countFilters, defaultView, useVisibleRows, type Folder, type ListView } from "./visible-rows.ts";
import { VirtualRows } from "./VirtualRows.tsx";

interface LoadedListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly locked: boolean;
  /** Progress while rows are still being decrypted; null once `rows` is complete. */
  readonly openingProgress: { readonly opened: number; readonly total: number } | null;
}

/** The kept secrets or the trash, with search, filters, selection and export. */
export function LoadedList({ vault, rows, locked, openingProgress }: LoadedListProps) {
  const { t } = useTranslation("beta-home");
  const { user } = usePortal();
  const [folder, setFolder] = useState<Folder>("kept");
  const [searchText, setSearchText] = useState("");
  const [filterOpen, setFilterOpen] = useState(false);
  const [view, setView] = useListView();
  const { selectedSecret } = useListMemory();
  const [exporting, setExporting] = useState<readonly SecretRow[] | null>(null);
  const [purging, setPurging] = useState<readonly SecretRow[] | null>(null);
  const panelId = useId();
  const images = useQuery(imagesQuery(vault, user.userId, locked ? "locked" : "unlocked"));

  const { data: shares } = useQuery(liveSharesQuery(vault, user.userId, locked ? "locked" : "unlocked"));
  const sharedIds = useMemo(() => new Set(shares?.map(({ secretId }) => secretId)), [shares]);

  const { kept, trashed, inFolder, visible, tags } = useVisibleRows(rows, folder, view, searchText, sharedIds);
  const selection = useSelection(visible);
  const requestPurge = locked ? null : setPurging;
  const actions = useRowActions(vault, selection.set, requestPurge);
  const narrowed = searchText.trim() !== "" || countFilters(view) > 0;
  const openFolder = (next: Folder) => {
    setFolder(next);
    selection.end();
  };
  const handlePurge = (wanted: readonly SecretRow[]) => {
    void actions.purge(wanted).then(() => {
      setPurging(null);
      selection.end();
    });
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && selection.active) selection.end();
  };
  const handleExportEnd = () => {
    setExporting(null);
    selection.end();
  };

  const [search, setSearch] = useSearchParams();
  const exportsAll = search.get("export") === "all" && !locked && openingProgress === null && kept.length > 0;
  const endExport = () => {
    handleExportEnd();
    setSearch({}, { replace: true });
  };
  if (exportsAll) return <ExportPanel vault={vault} rows={kept} onEnd={endExport} />;
  if (exporting !== null) return <ExportPanel vault={vault} rows={exporting} onEnd={handleExportEnd} />;
  if (rows.length === 0) return <EmptyList />;
  return (
    <Stack $gap={4} onKeyDown={handleKey}>
      {locked && <UnlockNotice vault={vault} returnTo="/secrets" />}
      {!locked && (
        <ListTools
          tour="secrets"
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
          onFilterOpen={setFilterOpen}
        />
      )}
      {!locked && filterOpen && (
        <FilterPanel id={panelId} view={view} onChange={setView} tags={tags} images={images.data ?? []} />
      )}
      {openingProgress !== null ? (
        <Tally>
          <Progress label={t("list.opening_status")} done={openingProgress.opened} total={openingProgress.total} />
        </Tally>
      ) : selection.active ? (
        <SelectionBar
          folder={folder}
          chosen={selection.chosen}
          total={visible.length}
          actions={actions}
          onPurge={requestPurge}
          onExport={locked ? null : setExporting}
          onAll={selection.setAll}
          onEnd={selection.end}
        />
      ) : (
        <Tally $justify="between">
          <SmallText role="status" data-tour="secrets-total">
            {narrowed
              ? t("list.found_status", { count: visible.length, total: inFolder.length })
              : t(folder === "kept" ? "list.total_status" : "list.trash_status", { count: inFolder.length })}
          </SmallText>
          <SpacedRow $gap={2}>
            {visible.length > 0 && (
              <Button tone="quiet" size="small" icon={<ListChecks aria-hidden />} onClick={selection.begin}>
                {t("select.begin_action")}
              </Button>
            )}
            {(trashed.length > 0 || folder === "trash") && (
              <Button
                tone="quiet"
                size="small"
                icon={folder === "kept" ? <Trash2 aria-hidden /> : undefined}
                onClick={() => {
                  openFolder(folder === "kept" ? "trash" : "kept");
                }}
              >
                {folder === "kept" ? t("list.trash_action", { count: trashed.length }) : t("list.kept_action")}
              </Button>
            )}
          </SpacedRow>
        </Tally>
      )}
      <ErrorNotice error={actions.error} />
      {folder === "trash" && trashed.length > 0 && (
        <SpacedRow $justify="between">
          <SmallText>{t("list.trash_hint")}</SmallText>
          {!locked && (
            <Button
              tone="danger"
              size="small"
              onClick={() => {
                setPurging(trashed);
              }}
            >
              {t("purge.empty_action")}
            </Button>
          )}
        </SpacedRow>
      )}
      {visible.length > 0 ? (
        <VirtualRows
          key={folder}
          rows={visible}
          label={t(folder === "kept" ? "list.title" : "list.trash_title")}
          initialRowId={selectedSecret}
        >
          {(row) => (
            <SecretRowCard
              row={row}
              actions={actions.forRow}
              shared={sharedIds.has(row.secretId)}
              selected={selection.active ? selection.has(row) : null}
            />
          )}
        </VirtualRows>
      ) : (
        <NoVisibleRows folder={folder} narrowed={narrowed} anyKept={kept.length > 0} />
      )}
      <PurgeDialog
        vault={vault}
        rows={purging}
        pending={actions.pending}
        onClose={() => {
          setPurging(null);
        }}
        onConfirm={handlePurge}
      />
    </Stack>
  );
}

/**
 * Filters and sort order. Tags are in the list memory, so that they are set again when somebody
 * comes back to the list.
 */
function useListView(): [ListView, (view: ListView) => void] {
  const [own, setOwn] = useState<Omit<ListView, "tags">>(defaultView);
  const { categories } = useListMemory();
  const change = useChangeListMemory();
  const view = useMemo<ListView>(() => ({ ...own, tags: categories }), [own, categories]);
  return [
    view,
    ({ tags, ...rest }) => {
      setOwn(rest);
      change({ categories: tags });
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
  readonly narrowed: boolean;
  readonly anyKept: boolean;
}

function NoVisibleRows({ folder, narrowed, anyKept }: NoVisibleRowsProps) {
  const { t } = useTranslation("beta-home");
  if (narrowed && (folder === "trash" || anyKept)) {
    return (
      <EmptyState icon={<Search />} title={t("list.none_found_title")}>
        <p>{t("list.none_found_body")}</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<Trash2 />} title={t(folder === "kept" ? "list.all_trashed_title" : "list.trash_empty_title")} />
  );
}

/**
 * The total and what can be done with the list; as high while names are still being opened, and the
 * rows below stay where they are.
 */
const Tally = styled(SpacedRow)`
  min-height: ${s("target")};
  & > :only-child {
    flex: 1 1 auto;
  }
`;
