import type { SecretRow } from "@relicario/shared/contract";
import { Button, depths, media, s, space, visuallyHidden } from "@relicario/shared/ui";
import { Download, RotateCcw, Star, StarOff, Trash2, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { ListActions } from "../row/useRowActions.ts";
import type { Folder } from "./visible-rows.ts";

interface SelectionBarProps {
  readonly folder: Folder;
  /** Selected rows that are visible. */
  readonly selectedRows: readonly SecretRow[];
  readonly total: number;
  readonly actions: ListActions;
  /** Null while locked, because purging signs a keyring change. */
  readonly onPurge: ((rows: readonly SecretRow[]) => void) | null;
  /** Null while locked, because an export opens contents. */
  readonly onExport: ((rows: readonly SecretRow[]) => void) | null;
  readonly onSelectAll: (selectAll: boolean) => void;
  readonly onClose: () => void;
}

export function SelectionBar({
  folder,
  selectedRows,
  total,
  actions,
  onPurge,
  onExport,
  onSelectAll,
  onClose,
}: SelectionBarProps) {
  const { t } = useTranslation("beta-home");
  const isEmpty = selectedRows.length === 0;
  // Without dropped secrets, whose content the service has deleted, so that they cannot be
  // restored.
  const restorable = selectedRows.filter(({ droppedAt }) => droppedAt === null);
  const allFavorite = !isEmpty && selectedRows.every(({ favorite }) => favorite);
  const closeWhenDone = (action: Promise<boolean>) => {
    void action.then((succeeded) => {
      if (succeeded) onClose();
    });
  };
  return (
    <Bar role="group" aria-label={t("select.bar_aria")}>
      <Selection>
        <Count role="status">{t("select.count_status", { count: selectedRows.length })}</Count>
        <Button
          tone="plain"
          size="small"
          onClick={() => {
            onSelectAll(selectedRows.length < total);
          }}
        >
          {t(selectedRows.length < total ? "select.all_action" : "select.none_action")}
        </Button>
      </Selection>
      <Actions>
        {folder === "active" ? (
          <>
            <Button
              tone="quiet"
              size="small"
              disabled={isEmpty || actions.pending}
              icon={allFavorite ? <StarOff aria-hidden /> : <Star aria-hidden />}
              onClick={() => {
                actions.favorite(selectedRows, !allFavorite);
              }}
            >
              {t(allFavorite ? "select.unstar_action" : "select.star_action")}
            </Button>
            {onExport !== null && (
              <Button
                tone="quiet"
                size="small"
                disabled={isEmpty || actions.pending}
                icon={<Download aria-hidden />}
                onClick={() => {
                  onExport(selectedRows);
                }}
              >
                {t("select.export_action")}
              </Button>
            )}
            <Button
              tone="quiet"
              size="small"
              disabled={isEmpty}
              pending={actions.pending}
              icon={<Trash2 aria-hidden />}
              onClick={() => {
                closeWhenDone(actions.trash(selectedRows));
              }}
            >
              {t("select.trash_action")}
            </Button>
          </>
        ) : (
          <>
            <Button
              tone="quiet"
              size="small"
              disabled={restorable.length === 0}
              pending={actions.pending}
              icon={<RotateCcw aria-hidden />}
              onClick={() => {
                closeWhenDone(actions.restore(restorable));
              }}
            >
              {t("row.restore_action")}
            </Button>
            {onPurge !== null && (
              <Button
                tone="quiet"
                size="small"
                disabled={isEmpty || actions.pending}
                icon={<Trash2 aria-hidden />}
                onClick={() => {
                  onPurge(selectedRows);
                }}
              >
                {t("row.purge_action")}
              </Button>
            )}
          </>
        )}
        <Button tone="plain" size="small" icon={<X aria-hidden />} onClick={onClose}>
          {t("select.end_action")}
        </Button>
      </Actions>
    </Bar>
  );
}

const Bar = styled.div`
  position: sticky;
  top: ${space(2)};
  z-index: ${depths.raised + 1};
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  padding: ${space(2)} ${space(3)};
  border: 1px solid ${s("accent")};
  border-radius: ${s("radius")};
  background: ${s("surfaceRaised")};
  box-shadow: ${s("shadow")};
  ${media.mobile} {
    top: 64px;
  }
`;

const Selection = styled.div`
  display: flex;
  flex: 1 1 auto;
  align-items: center;
  gap: ${space(2)};
`;

/** The buttons, which wrap as a group below the count. */
const Actions = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  ${media.mobile} {
    flex: 1 1 100%;
    /* Icons only: labels would take a quarter of the screen. */
    & > button:not(:last-child) {
      width: 44px;
      padding: 0;
      & > span {
        ${visuallyHidden}
      }
    }
    & > button:last-child {
      margin-left: auto;
    }
  }
`;

const Count = styled.p`
  margin-right: auto;
  font-weight: 600;
  font-variant-numeric: tabular-nums;
  ${media.mobile} {
    font-size: ${s("textSmall")};
  }
`;
