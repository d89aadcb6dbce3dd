import { contentKinds } from "@relicario/shared/api";
import type { RecoveryImage } from "@relicario/shared/contract";
import { FilterBox, FilterFields, SelectField, Switch } from "@relicario/shared/forms";
import { Button, s, space, Verbatim } from "@relicario/shared/ui";
import { X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { countFilters, defaultView, sortOrders, type ListView } from "./visible-rows.ts";

interface FilterPanelProps {
  readonly id: string;
  readonly view: ListView;
  readonly onChange: (view: ListView) => void;
  /** Tags in use, most used first. */
  readonly tags: readonly string[];
  readonly images: readonly RecoveryImage[];
}

/** Value of the choice "any". No tag and no image id is empty. */
const anyValue = "";

/** Sort order and filters. A chosen tag moves from the select to a chip below it. */
export function FilterPanel({ id, view, onChange, tags, images }: FilterPanelProps) {
  const { t } = useTranslation("beta-home");
  const availableTags = tags.filter((tag) => !view.tags.includes(tag));
  return (
    <FilterBox id={id} role="group" aria-label={t("filter.panel_aria")}>
      <FilterFields>
        <SelectField
          label={t("filter.sort_label")}
          value={view.sort}
          choices={sortOrders.map((sort) => ({ value: sort, label: t(`filter.sort_${sort}_label`) }))}
          onChange={(value) => {
            onChange({ ...view, sort: sortOrders.find((sort) => sort === value) ?? "newest" });
          }}
        />
        <SelectField
          label={t("filter.kind_label")}
          value={view.kind}
          choices={[
            { value: "all", label: t("filter.kind_all_label") },
            ...contentKinds.map((kind) => ({ value: kind, label: t(`filter.kind_${kind}_label`) })),
          ]}
          onChange={(value) => {
            onChange({ ...view, kind: contentKinds.find((kind) => kind === value) ?? "all" });
          }}
        />
        {tags.length > 0 && (
          <SelectField
            label={t("filter.tag_label")}
            value={anyValue}
            choices={[
              { value: anyValue, label: t(view.tags.length === 0 ? "filter.tag_any_label" : "filter.tag_more_label") },
              ...availableTags.map((tag) => ({ value: tag, label: tag })),
            ]}
            onChange={(tag) => {
              if (tag !== anyValue) onChange({ ...view, tags: [...view.tags, tag] });
            }}
          />
        )}
        {images.length > 1 && (
          <SelectField
            label={t("filter.image_label")}
            value={view.image ?? anyValue}
            choices={[
              { value: anyValue, label: t("filter.image_any_label") },
              ...images.map((image) => ({ value: image.id, label: image.name })),
            ]}
            onChange={(image) => {
              onChange({ ...view, image: image === anyValue ? null : image });
            }}
          />
        )}
      </FilterFields>
      {view.tags.length > 0 && (
        <SelectedTags aria-label={t("filter.tags_aria")}>
          {view.tags.map((tag) => (
            <li key={tag}>
              <Chip
                type="button"
                aria-label={t("filter.tag_remove_action", { tag })}
                onClick={() => {
                  onChange({ ...view, tags: view.tags.filter((other) => other !== tag) });
                }}
              >
                <span>
                  <Verbatim>{tag}</Verbatim>
                </span>
                <X aria-hidden size={14} />
              </Chip>
            </li>
          ))}
        </SelectedTags>
      )}
      <Footer>
        <Switch
          label={t("filter.favorite_label")}
          checked={view.favorite}
          onChange={(favorite) => {
            onChange({ ...view, favorite });
          }}
        />
        <Switch
          label={t("filter.shared_label")}
          checked={view.shared}
          onChange={(shared) => {
            onChange({ ...view, shared });
          }}
        />
        {countFilters(view) > 0 && (
          <Button
            tone="plain"
            size="small"
            onClick={() => {
              onChange({ ...defaultView, sort: view.sort });
            }}
          >
            {t("filter.clear_action")}
          </Button>
        )}
      </Footer>
    </FilterBox>
  );
}

const SelectedTags = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)};
`;

const Chip = styled.button`
  display: inline-flex;
  align-items: center;
  gap: ${space(1.5)};
  max-width: 100%;
  min-height: 36px;
  padding: 0 ${space(3)};
  border: 1px solid transparent;
  border-radius: ${s("radiusRound")};
  background: ${s("accentSoft")};
  color: ${s("text")};
  font-size: ${s("textSmall")};
  cursor: pointer;
  & > span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  & > svg {
    flex: none;
  }
  &:hover {
    border-color: ${s("accent")};
  }
  @media (pointer: coarse) {
    min-height: ${s("target")};
  }
`;

const Footer = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(2)};
`;
