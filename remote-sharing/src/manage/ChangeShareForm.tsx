import { maxShareViews } from "@relicario/shared/api";
import { usePortal, type SecretShare, type Vault } from "@relicario/shared/contract";
import { RequestedOpener, runUnlocked, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Button, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useRefetch } from "../data/sharing.ts";
import { ChoiceRow } from "../link/ChoiceRow.tsx";
import {
  lifetimeNames,
  lifetimes,
  viewChoices,
  parseMaxViews,
  type Lifetime,
  type ViewChoice,
} from "../link/share-limits.ts";

interface ChangeShareFormProps {
  readonly vault: Vault;
  readonly share: SecretShare;
  readonly onClose: () => void;
}

/**
 * Changes the lifetime, counted from now, and the total number of views, which includes past views.
 * A value stays unchanged if its choice is `same`.
 */
export function ChangeShareForm({ vault, share, onClose }: ChangeShareFormProps) {
  const { t } = useTranslation(["beta-share", "common"]);
  const { notify } = usePortal();
  const refetch = useRefetch();
  const [lifetime, setLifetime] = useState<Lifetime | "same">("same");
  const [views, setViews] = useState<ViewChoice | "same">("same");
  const [otherViews, setOtherViews] = useState("");
  const [viewsInvalid, setViewsInvalid] = useState(false);
  const operation = useVaultOperation({ vault });
  const changeShare = (next: { readonly expiresAt?: string; readonly maxViews?: number | null }) => {
    operation.start({
      run: runUnlocked(vault, (options) => vault.shares.change(share.shareId, next, options)),
      onDone: () => {
        notify({ tone: "success", text: t("change.done_status") });
        onClose();
      },
      onSettled: () => void refetch(),
    });
  };
  const handleSave = () => {
    const maxViews = views === "same" ? undefined : parseMaxViews(views, otherViews);
    setViewsInvalid(maxViews === "invalid");
    if (maxViews === "invalid") return;
    const expiresAt = lifetime === "same" ? undefined : new Date(Date.now() + lifetimes[lifetime]).toISOString();
    if (expiresAt === undefined && maxViews === undefined) onClose();
    else
      changeShare({
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(maxViews === undefined ? {} : { maxViews }),
      });
  };
  return (
    <Stack $gap={5} role="group" aria-label={t("change.title")}>
      <ChoiceRow
        legend={t("change.lifetime_label")}
        disabled={operation.running}
        choices={[
          { value: "same" as const, label: t("change.same_label") },
          ...lifetimeNames.map((value) => ({ value, label: t(`create.lifetime_${value}_label`) })),
        ]}
        value={lifetime}
        onChange={setLifetime}
      />
      <ChoiceRow
        legend={t("change.views_label")}
        {...(share.views === 0 ? {} : { hint: t("change.views_hint", { count: share.views }) })}
        disabled={operation.running}
        choices={[
          { value: "same" as const, label: t("change.same_label") },
          ...viewChoices.map((value) => ({ value, label: t(`create.views_${value}_label`) })),
        ]}
        value={views}
        onChange={setViews}
      />
      {views === "other" && (
        <TextField
          label={t("create.other_views_label", { most: maxShareViews })}
          inputMode="numeric"
          autoComplete="off"
          disabled={operation.running}
          error={viewsInvalid ? t("create.views_wrong_error") : null}
          value={otherViews}
          onChange={(event) => {
            setOtherViews(event.target.value);
          }}
        />
      )}
      <RequestedOpener vault={vault} operation={operation} />
      <SpacedRow>
        <Button size="small" pending={operation.running} onClick={handleSave}>
          {t("change.save_action")}
        </Button>
        <Button tone="quiet" size="small" onClick={onClose}>
          {t("common:opener.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
