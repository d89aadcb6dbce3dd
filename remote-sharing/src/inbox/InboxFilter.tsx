import type { ReceivedShare } from "@relicario/shared/contract";
import { FilterBox, FilterFields, SelectField } from "@relicario/shared/forms";
import { Button, SpacedRow } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { cameChoices, countFilters, openedChoices, wholeInbox, type InboxView } from "./visible-shares.ts";

interface InboxFilterProps {
  readonly id: string;
  readonly view: InboxView;
  readonly senders: readonly ReceivedShare["from"][];
  readonly onChange: (view: InboxView) => void;
}

/** Value of the choice "anybody": no user id is empty. */
const anybody = "";

export function InboxFilter({ id, view, senders, onChange }: InboxFilterProps) {
  const { t } = useTranslation("beta-share");
  return (
    <FilterBox id={id} role="group" aria-label={t("received.filter_aria")}>
      <FilterFields>
        <SelectField
          label={t("received.opened_label")}
          value={view.opened}
          choices={openedChoices.map((each) => ({ value: each, label: t(`received.opened_${each}_label`) }))}
          onChange={(value) => {
            onChange({ ...view, opened: openedChoices.find((each) => each === value) ?? "all" });
          }}
        />
        <SelectField
          label={t("received.came_label")}
          value={view.came}
          choices={cameChoices.map((each) => ({ value: each, label: t(`received.came_${each}_label`) }))}
          onChange={(value) => {
            onChange({ ...view, came: cameChoices.find((each) => each === value) ?? "all" });
          }}
        />
        <SelectField
          label={t("received.from_label")}
          value={view.from ?? anybody}
          choices={[
            { value: anybody, label: t("received.from_anybody_label") },
            ...senders.map(({ userId, userName }) => ({ value: userId, label: userName })),
          ]}
          onChange={(value) => {
            onChange({ ...view, from: value === anybody ? null : value });
          }}
        />
      </FilterFields>
      {countFilters(view) > 0 && (
        <SpacedRow>
          <Button
            tone="plain"
            size="small"
            onClick={() => {
              onChange({ ...wholeInbox, search: view.search });
            }}
          >
            {t("received.filter_clear_action")}
          </Button>
        </SpacedRow>
      )}
    </FilterBox>
  );
}
