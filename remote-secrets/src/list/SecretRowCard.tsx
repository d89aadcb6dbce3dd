import { usePortal, type SecretRow } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { IconButton, media, Menu, s, space } from "@relicario/shared/ui";
import { FileText, KeyRound, Lock, NotepadText, RotateCcw, Star, Trash2, type LucideIcon } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import styled from "styled-components";

interface SecretRowCardProps {
  readonly row: SecretRow;
  readonly onFavorite: (favorite: boolean) => void;
  readonly onTrash: () => void;
  readonly onRestore: () => void;
}

const kindIcons = { text: NotepadText, seed: KeyRound, file: FileText } as const satisfies Record<string, LucideIcon>;

/** One secret. While locked it has a date and a size, and no name. */
export function SecretRowCard({ row, onFavorite, onTrash, onRestore }: SecretRowCardProps) {
  const { t } = useTranslation("beta-home");
  const { language, navigate } = usePortal();
  const { label } = row;
  const formats = formatsOf(language);
  const day = formats.date(row.updatedAt);
  const name = label === null ? t("row.locked_title", { day }) : label.title === "" ? t("row.untitled_title") : label.title;
  const recoverPath = `/provide-image-recovery?${new URLSearchParams({ secret: row.secretId }).toString()}`;
  const Icon = label === null ? Lock : kindIcons[label.contentKind];
  const trashed = row.deletedAt !== null;

  return (
    <Row data-state={label === null ? "locked" : "open"}>
      <Kind aria-hidden>
        <Icon />
      </Kind>
      <Text>
        <Name to={recoverPath}>{name}</Name>
        <Facts>
          <span>{label === null ? t("row.sealed_body", { size: formats.size(row.sealedSize) }) : formats.size(label.size)}</span>
          {label !== null && <span>{day}</span>}
          {label !== null && label.tags.length > 0 && (
            <Tags aria-label={t("row.tags_aria")}>
              {label.tags.map((tag) => (
                <li key={tag}>{tag}</li>
              ))}
            </Tags>
          )}
        </Facts>
      </Text>
      {!trashed && (
        <StarButton
          label={t("row.favorite_action", { name })}
          aria-pressed={row.favorite}
          icon={<Star aria-hidden />}
          onClick={() => {
            onFavorite(!row.favorite);
          }}
        />
      )}
      <Menu
        label={t("row.menu_aria", { name })}
        items={
          trashed
            ? [{ key: "restore", label: t("row.restore_action"), icon: <RotateCcw aria-hidden />, onSelect: onRestore }]
            : [
                { key: "recover", label: t("row.recover_action"), icon: <KeyRound aria-hidden />, onSelect: () => { navigate(recoverPath); } },
                {
                  key: "favorite",
                  label: t(row.favorite ? "row.unstar_action" : "row.star_action"),
                  icon: <Star aria-hidden />,
                  onSelect: () => {
                    onFavorite(!row.favorite);
                  },
                },
                { key: "trash", label: t("row.trash_action"), icon: <Trash2 aria-hidden />, tone: "danger", onSelect: onTrash },
              ]
        }
      />
    </Row>
  );
}

const Row = styled.li`
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
  &:hover { border-color: ${s("borderStrong")}; }
  & > button { position: relative; z-index: 1; }
  ${media.mobile} { gap: ${space(2)}; padding-left: ${space(3)}; padding-right: ${space(1)}; }
`;

const Kind = styled.span`
  display: grid;
  place-items: center;
  flex: none;
  width: 40px;
  height: 40px;
  border-radius: ${s("radiusSmall")};
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg { width: 20px; height: 20px; }
  [data-state="locked"] > & { background: ${s("surfaceSunken")}; color: ${s("textMuted")}; }
`;

const Text = styled.div`
  flex: 1 1 auto;
  min-width: 0;
`;

/** The whole row goes where its name goes. */
const Name = styled(Link)`
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
  overflow-wrap: anywhere;
  color: ${s("text")};
  font-weight: 600;
  line-height: 1.35;
  text-decoration: none;
  &::after { content: ""; position: absolute; inset: 0; border-radius: ${s("radius")}; }
  &:focus-visible { outline: none; }
  &:focus-visible::after { outline: 2px solid ${s("focus")}; outline-offset: 2px; }
`;

const Facts = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)} ${space(3)};
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

const Tags = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  min-width: 0;
  & > li {
    max-width: 100%;
    padding: 0 ${space(2)};
    border-radius: ${s("radiusSmall")};
    background: ${s("surfaceSunken")};
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
`;

const StarButton = styled(IconButton)`
  &[aria-pressed="true"] { color: ${s("star")}; }
  &[aria-pressed="true"] > svg { fill: currentColor; }
`;
