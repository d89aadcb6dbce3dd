import type { ReceivedShare } from "@relicario/shared/contract";
import { FilterBox, FilterFields, SelectField } from "@relicario/shared/forms";
import { Button, SpacedRow } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { channelChoices, countFilters, openedChoices, defaultInboxView, type InboxView } from "./visible-shares.ts";

interface InboxFilterProps {
  readonly id: string;
  readonly view: InboxView;
  readonly senders: readonly ReceivedShare["from"][];
  readonly onChange: (view: InboxView) => void;
}

/** Value of the choice "any sender". No user id is empty. */
const anySender = "";

export function InboxFilter({ id, view, senders, onChange }: InboxFilterProps) {
  const { t } = useTranslation("beta-share");
  return (
    <FilterBox id={id} role="group" aria-label={t("received.filter_aria")}>
      <FilterFields>
        <SelectField
          label={t("received.opened_label")}
          value={view.opened}
          choices={openedChoices.map((choice) => ({ value: choice, label: t(`received.opened_${choice}_label`) }))}
          onChange={(value) => {
            onChange({ ...view, opened: openedChoices.find((choice) => choice === value) ?? "all" });
          }}
        />
        <SelectField
          label={t("received.came_label")}
          value={view.channel}
          choices={channelChoices.map((choice) => ({ value: choice, label: t(`received.came_${choice}_label`) }))}
          onChange={(value) => {
            onChange({ ...view, channel: channelChoices.find((choice) => choice === value) ?? "all" });
          }}
        />
        <SelectField
          label={t("received.from_label")}
          value={view.senderId ?? anySender}
          choices={[
            { value: anySender, label: t("received.from_anybody_label") },
            ...senders.map(({ userId, userName }) => ({ value: userId, label: userName })),
          ]}
          onChange={(value) => {
            onChange({ ...view, senderId: value === anySender ? null : value });
          }}
        />
      </FilterFields>
      {countFilters(view) > 0 && (
        <SpacedRow>
          <Button
            tone="plain"
            size="small"
            onClick={() => {
              onChange({ ...defaultInboxView, search: view.search });
            }}
          >
            {t("received.filter_clear_action")}
          </Button>
        </SpacedRow>
      )}
    </FilterBox>
  );
}
