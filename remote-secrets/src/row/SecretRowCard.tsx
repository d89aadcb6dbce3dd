import { trashRetentionDays } from "@relicario/shared/api";
import { usePortal, type ContentKind, type SecretRow } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { IconButton, media, Menu, s, space, type MenuItem, Verbatim } from "@relicario/shared/ui";
import {
  FileText,
  History,
  IdCard,
  KeyRound,
  Lock,
  NotepadText,
  Pencil,
  RotateCcw,
  Share2,
  Star,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { css, styled } from "styled-components";

import { useUpdateSavedListState } from "../data/saved-list-state.ts";

/**
 * Handlers of rows. One stable object serves the whole list, so that memoised rows do not render
 * again.
 */
export interface RowActions {
  readonly favorite: (row: SecretRow, favorite: boolean) => void;
  readonly trash: (row: SecretRow) => void;
  readonly restore: (row: SecretRow) => void;
  /** Null where purging is not offered. */
  readonly purge: ((row: SecretRow) => void) | null;
  readonly select: (row: SecretRow, selected: boolean) => void;
}

interface SecretRowCardProps {
  readonly row: SecretRow;
  readonly actions: RowActions;
  /** Whether a live share exists. */
  readonly shared: boolean;
  /** Whether the row is selected; null outside selection mode. */
  readonly selected: boolean | null;
}

const kindIcons = {
  text: NotepadText,
  seed: KeyRound,
  record: IdCard,
  file: FileText,
} as const satisfies Record<ContentKind, LucideIcon>;
const dayMilliseconds = 86_400_000;

/** A secret as a row. A locked row has no label; it shows only date and size. */
export const SecretRowCard = memo(function SecretRowCard({ row, actions, shared, selected }: SecretRowCardProps) {
  const { t } = useTranslation("beta-home");
  const { language, navigate } = usePortal();
  const updateSavedListState = useUpdateSavedListState();
  const { label } = row;
  const formats = getFormats(language);
  const day = formats.date(row.updatedAt);
  const name =
    label === null ? t("row.locked_title", { day }) : label.title === "" ? t("row.untitled_title") : label.title;
  const shownName = label === null || label.title === "" ? name : <Verbatim>{name}</Verbatim>;
  const recoverPath = `/provide-image-recovery?${new URLSearchParams({ secret: row.secretId }).toString()}`;
  const Icon = label === null ? Lock : kindIcons[label.contentKind];
  const trashed = row.deletedAt !== null;
  const dropped = row.droppedAt !== null;
  const openPath = (path: string) => {
    updateSavedListState({ selectedSecret: row.secretId });
    navigate(path);
  };

  const restoreItem: MenuItem = {
    key: "restore",
    label: t("row.restore_action"),
    icon: <RotateCcw aria-hidden />,
    onSelect: () => actions.restore(row),
  };
  const menuItems: MenuItem[] = trashed
    ? dropped
      ? []
      : [restoreItem]
    : [
        {
          key: "recover",
          label: t("row.recover_action"),
          icon: <KeyRound aria-hidden />,
          onSelect: () => openPath(recoverPath),
        },
        {
          key: "share",
          label: t("row.share_action"),
          icon: <Share2 aria-hidden />,
          onSelect: () => openPath(`/share/${row.secretId}`),
        },
        {
          key: "edit",
          label: t("row.edit_action"),
          icon: <Pencil aria-hidden />,
          onSelect: () => openPath(`/edit-secret/${row.secretId}`),
        },
        {
          key: "history",
          label: t("row.history_action"),
          icon: <History aria-hidden />,
          onSelect: () => openPath(`/secret-history/${row.secretId}`),
        },
        {
          key: "favorite",
          label: t(row.favorite ? "row.unstar_action" : "row.star_action"),
          icon: <Star aria-hidden />,
          onSelect: () => actions.favorite(row, !row.favorite),
        },
        {
          key: "trash",
          label: t("row.trash_action"),
          icon: <Trash2 aria-hidden />,
          tone: "danger",
          onSelect: () => actions.trash(row),
        },
      ];
  const { purge } = actions;
  if (trashed && purge !== null)
    menuItems.push({
      key: "purge",
      label: t("row.purge_action"),
      icon: <Trash2 aria-hidden />,
      tone: "danger",
      onSelect: () => purge(row),
    });

  return (
    <Row
      data-state={label === null ? "locked" : "open"}
      data-selected={selected === true}
      data-selecting={selected !== null}
    >
      {selected === null ? (
        <KindIcon aria-hidden>
          <Icon />
        </KindIcon>
      ) : (
        <SelectBox>
          <input
            type="checkbox"
            aria-label={t("row.select_aria", { name })}
            checked={selected}
            onChange={(event) => {
              actions.select(row, event.target.checked);
            }}
          />
        </SelectBox>
      )}
      <Content>
        {selected === null && !dropped ? (
          <NameLink
            to={recoverPath}
            onClick={() => {
              updateSavedListState({ selectedSecret: row.secretId });
            }}
          >
            {shownName}
          </NameLink>
        ) : (
          <Name>{shownName}</Name>
        )}
        <Metadata>
          <span>
            {label === null ? t("row.sealed_body", { size: formats.size(row.sealedSize) }) : formats.size(label.size)}
          </span>
          {row.deletedAt === null ? (
            label !== null && <span>{day}</span>
          ) : (
            <span>
              {dropped
                ? t("row.dropped_body")
                : row.trashConfirmedAt === null
                  ? t("row.kept_body")
                  : t("row.days_left_body", { count: countDaysLeft(row.trashConfirmedAt) })}
            </span>
          )}
          {shared && (
            <SharedMark>
              <Share2 aria-hidden size={14} />
              {t("row.shared_body")}
            </SharedMark>
          )}
          {label !== null && label.tags.length > 0 && (
            <Tags aria-label={t("row.tags_aria")}>
              {label.tags.map((tag) => (
                <li key={tag}>
                  <Verbatim>{tag}</Verbatim>
                </li>
              ))}
            </Tags>
          )}
        </Metadata>
      </Content>
      {selected === null && (
        <>
          {!trashed && (
            <StarButton
              label={t("row.favorite_action", { name })}
              aria-pressed={row.favorite}
              icon={<Star aria-hidden />}
              onClick={() => {
                actions.favorite(row, !row.favorite);
              }}
            />
          )}
          {menuItems.length > 0 && <Menu label={t("row.menu_aria", { name })} items={menuItems} />}
        </>
      )}
    </Row>
  );
});

/**
 * Returns the number of days, rounded up, until the service deletes the content of a trashed
 * secret.
 */
function countDaysLeft(confirmedAt: string): number {
  const expiresAt = Date.parse(confirmedAt) + trashRetentionDays * dayMilliseconds;
  return Math.max(0, Math.ceil((expiresAt - Date.now()) / dayMilliseconds));
}

const Row = styled.div`
  position: relative;
  display: flex;
  align-items: center;
  gap: ${space(4)};
  min-height: 78px;
  padding: ${space(3)} ${space(3)} ${space(3)} ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  box-shadow: ${s("shadow")};
  &:hover {
    border-color: ${s("borderStrong")};
  }
  &[data-selected="true"] {
    border-color: ${s("accent")};
    box-shadow: inset 0 0 0 1px ${s("accent")};
  }
  & > button {
    position: relative;
    z-index: 1;
  }
  ${media.mobile} {
    gap: ${space(2)};
    padding-left: ${space(3)};
    padding-right: ${space(1)};
    & > button + button {
      margin-left: -${space(2)};
    }
    /* The buttons are next to the name; the facts below take the full width. */
    &[data-selecting="false"] {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr) auto auto;
      row-gap: 0;
      & > div {
        display: contents;
      }
      & > button {
        grid-area: 1 / 3;
        margin-block: -${space(1.5)};
      }
      & > button:last-child {
        grid-column: 4;
      }
    }
  }
`;

const KindIcon = styled.span`
  grid-area: 1 / 1 / 3;
  display: grid;
  place-items: center;
  flex: none;
  width: 40px;
  height: 40px;
  border-radius: ${s("radiusSmall")};
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg {
    width: 20px;
    height: 20px;
  }
  [data-state="locked"] > & {
    background: ${s("surfaceSunken")};
    color: ${s("textMuted")};
  }
`;

/** The pseudo-element makes the whole row clickable. */
const SelectBox = styled.label`
  display: grid;
  place-items: center;
  flex: none;
  width: 40px;
  height: 40px;
  cursor: pointer;
  & > input {
    position: relative;
    z-index: 1;
    width: 22px;
    height: 22px;
    margin: 0;
    accent-color: ${s("accent")};
    cursor: pointer;
  }
  &::after {
    content: "";
    position: absolute;
    inset: 0;
    border-radius: ${s("radius")};
  }
`;

const Content = styled.div`
  flex: 1 1 auto;
  min-width: 0;
`;

const nameStyle = css`
  grid-area: 1 / 2;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  ${media.mobile} {
    -webkit-line-clamp: 3;
  }
  overflow: hidden;
  overflow-wrap: anywhere;
  color: ${s("text")};
  font-weight: 600;
  line-height: 1.35;
`;

const Name = styled.span`
  ${nameStyle}
`;

/** The pseudo-element makes the whole row clickable. */
const NameLink = styled(Link)`
  ${nameStyle}
  text-decoration: none;
  &::after {
    content: "";
    position: absolute;
    inset: 0;
    border-radius: ${s("radius")};
  }
  &:focus-visible {
    outline: none;
  }
  &:focus-visible::after {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
`;

const Metadata = styled.div`
  grid-area: 2 / 2 / 3 / -1;
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)} ${space(3)};
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

const SharedMark = styled.span`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  color: ${s("accentText")};
`;

const tagHeight = "1.5rem";

const Tags = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  min-width: 0;
  max-height: calc(2 * ${tagHeight} + ${space(1)}); /* exactly two lines */
  overflow: hidden;
  & > li {
    max-width: 100%;
    line-height: ${tagHeight};
    padding: 0 ${space(2)};
    border-radius: ${s("radiusSmall")};
    background: ${s("surfaceSunken")};
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
`;

const StarButton = styled(IconButton)`
  &[aria-pressed="true"] {
    color: ${s("star")};
  }
  &[aria-pressed="true"] > svg {
    fill: currentColor;
  }
`;
