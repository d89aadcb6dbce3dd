import type { AccountOpener, OpenersOverview, Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { Button, Muted, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { LosingSecrets } from "./LosingSecrets.tsx";
import { ShowToAct } from "./ShowToAct.tsx";

interface RemovePanelProps {
  readonly vault: Vault;
  readonly opener: AccountOpener;
  readonly overview: OpenersOverview;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/**
 * Says what will open afterwards and what will not, before another opener is shown for it. What
 * would be lost is named, and has to be agreed to.
 */
export function RemovePanel({ vault, opener, overview, onDone, onCancel }: RemovePanelProps) {
  const { t } = useTranslation("openers");
  const [agreed, setAgreed] = useState(false);
  const others = overview.openers.filter(({ id }) => id !== opener.id);
  const losing = overview.secrets.filter(({ secretId }) => opener.onlyWayTo.includes(secretId));
  if (!others.some(({ kind }) => kind === "image")) {
    return (
      <Notice
        tone="warn"
        role="status"
        actions={
          <Button tone="quiet" size="small" onClick={onCancel}>
            {t("remove.back_action")}
          </Button>
        }
      >
        {t("remove.last_body")}
      </Notice>
    );
  }
  return (
    <Stack $gap={3}>
      <Muted>{t("remove.after_body", { names: others.map(({ name }) => name).join(", ") })}</Muted>
      <Muted>{t("remove.copies_body")}</Muted>
      <LosingSecrets secrets={losing} />
      {losing.length > 0 && (
        <Checkbox
          label={t("remove.losing_label", { count: losing.length })}
          checked={agreed}
          onChange={(event) => {
            setAgreed(event.target.checked);
          }}
        />
      )}
      {losing.length > 0 && !agreed ? (
        <SpacedRow>
          <Button tone="quiet" onClick={onCancel}>
            {t("remove.back_action")}
          </Button>
        </SpacedRow>
      ) : (
        <ShowToAct
          vault={vault}
          danger
          label={t("remove.remove_action")}
          act={(shown, options) =>
            vault.openers.remove(opener.id, shown, { ...options, losing: losing.map(({ secretId }) => secretId) })
          }
          onDone={onDone}
          onCancel={onCancel}
        />
      )}
    </Stack>
  );
}
