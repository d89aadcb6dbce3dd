import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { TextField } from "@relicario/shared/forms";
import { Button, ButtonLink, EmptyState, ErrorNotice, media, Progress, space, SmallText, SpacedRow, Stack, visuallyHidden } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { ListChecks, ListFilter, Search, ShieldPlus, Trash2 } from "lucide-react";
import { useEffect, useId, useMemo, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { imagesQuery, tagsOf } from "../data/secrets.ts";
import { listMemory, useCategories } from "../data/list-memory.ts";
import { ExportPanel } from "./ExportPanel.tsx";
import { FilterPanel } from "./FilterPanel.tsx";
import { PurgeDialog } from "./PurgeDialog.tsx";
import { prepareSearch, searchRows } from "./search.ts";
import { SecretRowCard } from "../row/SecretRowCard.tsx";
import { SelectionBar } from "./SelectionBar.tsx";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { useRowActions } from "../row/useRowActions.ts";
import { useSelection } from "./useSelection.ts";
import { filterRows, filtersOf, sortRows, wholeView, type View } from "./view.ts";
import { VirtualRows } from "./VirtualRows.tsx";

interface LoadedListProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly locked: boolean;
  /** How far the opening is, while rows are still coming. */
  readonly opening: { readonly opened: number; readonly total: number } | null;
}

type Place = "kept" | "trash";

/** The list: what is kept or what is in the trash; searched, narrowed, ordered, selected. */
export function LoadedList({ vault, rows, locked, opening }: LoadedListProps) {
  const { t } = useTranslation("beta-home");
  const { user } = usePortal();
  const [place, setPlace] = useState<Place>("kept");
  const [typed, setTyped] = useState("");
  const [filtering, setFiltering] = useState(false);
  const [view, setView] = useView();
  const [exporting, setExporting] = useState<readonly SecretRow[] | null>(null);
  const [purging, setPurging] = useState<readonly SecretRow[] | null>(null);
  const panelId = useId();
  const images = useQuery(imagesQuery(vault, user.userId, locked ? "locked" : "unlocked"));

  const { kept, trashed, here, found, tags } = useFound(rows, place, view, typed);
  const selection = useSelection(found);
  const askPurge = locked ? null : setPurging;
  const actions = useRowActions(vault, selection.set, askPurge);
  const narrowed = typed.trim() !== "" || filtersOf(view) > 0;
  const goTo = (next: Place) => {
    setPlace(next);
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

  const endExport = () => {
    setExporting(null);
    selection.end();
  };

  if (exporting !== null) return <ExportPanel vault={vault} rows={exporting} onEnd={endExport} />;
  if (rows.length === 0) return <NothingKept />;
  return (
    <Stack $gap={4} onKeyDown={handleKey}>
      {locked && <UnlockNotice vault={vault} then="/secrets" />}
      {!locked && (
        <Tools>
          <div role="search" data-tour="secrets-search">
            <TextField
              type="search"
              label={t("list.search_label")}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
              }}
            />
          </div>
          <Button
            tone="quiet"
            icon={<ListFilter aria-hidden />}
            aria-expanded={filtering}
            aria-controls={filtering ? panelId : undefined}
            data-tour="secrets-filter"
            onClick={() => {
              setFiltering(!filtering);
            }}
          >
            {filtersOf(view) === 0 ? t("filter.open_action") : t("filter.open_some_action", { number: filtersOf(view) })}
          </Button>
        </Tools>
      )}
      {!locked && filtering && <FilterPanel id={panelId} view={view} onChange={setView} tags={tags} images={images.data ?? []} />}
      {opening !== null && <Progress label={t("list.opening_status")} done={opening.opened} total={opening.total} />}
      {selection.active ? (
        <SelectionBar place={place} chosen={selection.chosen} total={found.length} actions={actions} onPurge={askPurge} onExport={locked ? null : setExporting} onAll={selection.all} onEnd={selection.end} />
      ) : (
        <SpacedRow $justify="between">
          <SmallText role="status" data-tour="secrets-total">
            {narrowed ? t("list.found_status", { count: found.length, total: here.length }) : t(place === "kept" ? "list.total_status" : "list.trash_status", { count: here.length })}
          </SmallText>
          <SpacedRow $gap={2}>
            {found.length > 0 && (
              <Button tone="quiet" size="small" icon={<ListChecks aria-hidden />} onClick={selection.begin}>
                {t("select.begin_action")}
              </Button>
            )}
            {(trashed.length > 0 || place === "trash") && (
              <Button
                tone="quiet"
                size="small"
                icon={place === "kept" ? <Trash2 aria-hidden /> : undefined}
                onClick={() => {
                  goTo(place === "kept" ? "trash" : "kept");
                }}
              >
                {place === "kept" ? t("list.trash_action", { count: trashed.length }) : t("list.kept_action")}
              </Button>
            )}
          </SpacedRow>
        </SpacedRow>
      )}
      <ErrorNotice error={actions.error} />
      {place === "trash" && trashed.length > 0 && (
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
      {found.length > 0 ? (
        <VirtualRows key={place} rows={found} label={t(place === "kept" ? "list.title" : "list.trash_title")} startAt={listMemory.getState().selectedSecret}>
          {(row) => <SecretRowCard row={row} actions={actions.forRow} selected={selection.active ? selection.has(row) : null} />}
        </VirtualRows>
      ) : (
        <NoRows place={place} narrowed={narrowed} anythingKept={kept.length > 0} />
      )}
      <PurgeDialog
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

/** Filters and sort order. Tags are kept in `listMemory`, so that they are set again when somebody comes back to the list. */
function useView(): [View, (view: View) => void] {
  const [own, setOwn] = useState<Omit<View, "tags">>(wholeView);
  const categories = useCategories();
  const view = useMemo<View>(() => ({ ...own, tags: categories }), [own, categories]);
  return [
    view,
    ({ tags, ...rest }) => {
      setOwn(rest);
      listMemory.setState({ categories: tags });
    },
  ];
}

/** Ordered first and searched last: a key stroke only sieves what is in order already. */
function useFound(rows: readonly SecretRow[], place: Place, view: View, typed: string) {
  const { language } = usePortal();
  useEffect(() => {
    prepareSearch(rows);
  }, [rows]);
  const kept = useMemo(() => rows.filter((row) => row.deletedAt === null), [rows]);
  const trashed = useMemo(() => rows.filter((row) => row.deletedAt !== null), [rows]);
  const here = place === "kept" ? kept : trashed;
  const tags = useMemo(() => tagsOf(here), [here]);
  const ordered = useMemo(() => sortRows(here, view.sort, language), [here, view.sort, language]);
  const filtered = useMemo(() => filterRows(ordered, view), [ordered, view]);
  const found = useMemo(() => searchRows(filtered, typed), [filtered, typed]);
  return { kept, trashed, here, found, tags };
}

function NothingKept() {
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

interface NoRowsProps {
  readonly place: Place;
  readonly narrowed: boolean;
  readonly anythingKept: boolean;
}

function NoRows({ place, narrowed, anythingKept }: NoRowsProps) {
  const { t } = useTranslation("beta-home");
  if (narrowed && (place === "trash" || anythingKept)) {
    return (
      <EmptyState icon={<Search />} title={t("list.none_found_title")}>
        <p>{t("list.none_found_body")}</p>
      </EmptyState>
    );
  }
  return <EmptyState icon={<Trash2 />} title={t(place === "kept" ? "list.all_trashed_title" : "list.trash_empty_title")} />;
}

const Tools = styled.div`
  display: flex;
  align-items: flex-end;
  gap: ${space(3)};
  & > [role="search"] { flex: 1 1 auto; min-width: 0; }
  & > button { flex: none; white-space: nowrap; }
  ${media.mobile} {
    & > button { padding-inline: ${space(3)}; }
    & > button > span { ${visuallyHidden} }
    & > [role="search"] label { margin-right: -56px; } /* over the button beside the field, so that it needs one line */
  }
`;
