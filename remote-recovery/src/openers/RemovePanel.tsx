import type { AccountOpener, OpenersOverview, Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { Button, markVerbatim, Muted, Notice, renderVerbatim, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { LostSecretsNotice } from "./LostSecretsNotice.tsx";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface RemovePanelProps {
  readonly vault: Vault;
  readonly opener: AccountOpener;
  readonly overview: OpenersOverview;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/**
 * Says what will open secrets afterwards and what will not, then asks for an opener. Lists secrets
 * that would be lost; the person must accept the loss.
 */
export function RemovePanel({ vault, opener, overview, onDone, onCancel }: RemovePanelProps) {
  const { t } = useTranslation("openers");
  const [lossAccepted, setLossAccepted] = useState(false);
  const remainingOpeners = overview.openers.filter(({ id }) => id !== opener.id);
  const lostSecrets = overview.secrets.filter(({ secretId }) => opener.soleOpenerOf.includes(secretId));
  if (!remainingOpeners.some(({ kind }) => kind === "image")) {
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
      <Muted>
        {renderVerbatim(
          t("remove.after_body", { names: markVerbatim(remainingOpeners.map(({ name }) => name).join(", ")) }),
        )}
      </Muted>
      <Muted>{t("remove.copies_body")}</Muted>
      <LostSecretsNotice secrets={lostSecrets} />
      {lostSecrets.length > 0 && (
        <Checkbox
          label={t("remove.losing_label", { count: lostSecrets.length })}
          checked={lossAccepted}
          onChange={(event) => {
            setLossAccepted(event.target.checked);
          }}
        />
      )}
      {lostSecrets.length > 0 && !lossAccepted ? (
        <SpacedRow>
          <Button tone="quiet" onClick={onCancel}>
            {t("remove.back_action")}
          </Button>
        </SpacedRow>
      ) : (
        <OpenerOperationForm
          vault={vault}
          danger
          label={t("remove.remove_action")}
          runOperation={(openerHandle, options) =>
            vault.openers.remove(opener.id, openerHandle, {
              ...options,
              acceptedLosses: lostSecrets.map(({ secretId }) => secretId),
            })
          }
          onDone={onDone}
          onCancel={onCancel}
        />
      )}
    </Stack>
  );
}
