import { usePortal, type SecretShare, type Vault } from "@relicario/shared/contract";
import { RequestedOpener, useVaultOperation } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  markVerbatim,
  Notice,
  renderVerbatim,
  s,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { Globe, UserRound, UsersRound, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useRefetch } from "../data/sharing.ts";
import { CardFacts, CardHeader, CardName } from "../link/card-header.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { ChangeShareForm } from "./ChangeShareForm.tsx";

interface ShareCardProps {
  readonly vault: Vault;
  readonly share: SecretShare;
}

const audienceIcons = { public: Globe, signed_in: UsersRound, person: UserRound } as const satisfies Record<
  string,
  LucideIcon
>;

export function ShareCard({ vault, share }: ShareCardProps) {
  const { t } = useTranslation("beta-share");
  const { language, confirm, notify } = usePortal();
  const refetch = useRefetch();
  const [link, setLink] = useState<string | null>(null);
  const [changing, setChanging] = useState(false);
  const showLinkOperation = useVaultOperation({ vault });
  const updateOperation = useVaultOperation({ vault, keepOpen: vault.keepOpen });
  // The notice belongs to the mutation, because the card is unmounted after the refetch, and
  // callbacks of `mutate` no longer run then.
  const revoke = useMutation({
    mutationFn: () => vault.shares.revoke(share.shareId),
    onSuccess: () => {
      notify({ tone: "success", text: t("revoke.done_status") });
    },
    onSettled: refetch,
  });
  const { shareId, audience, person, state, discrepancy, outdated } = share;
  const formats = getFormats(language);
  const Icon = audienceIcons[audience];
  const live = state === "live";
  const isManageable = live && discrepancy !== "unknown"; // a share that only the service lists can only be revoked
  const name = person?.userName ?? "";

  const handleRevoke = async () => {
    const confirmed = await confirm({
      title: t("revoke.confirm_title"),
      description: t("revoke.confirm_body"),
      confirmLabel: t("revoke.confirm_action"),
      alert: true,
      danger: true,
    });
    if (!confirmed) return;
    setLink(null);
    revoke.mutate();
  };
  const handleShowLink = () => {
    showLinkOperation.start({
      run: (options, opener) => vault.shares.getLink(shareId, opener, options),
      onDone: setLink,
    });
  };
  const handleUpdate = () => {
    updateOperation.start({
      run: (options, opener) => vault.shares.updateContent(shareId, opener, options),
      onDone: () => {
        notify({ tone: "success", text: t("given.updated_status") });
      },
      onSettled: () => void refetch(),
    });
  };

  return (
    <Card data-state={state}>
      <Stack $gap={4}>
        <ShareCardHeader>
          <Icon aria-hidden />
          <div>
            <CardName as="h3">{renderVerbatim(t(`given.${audience}_title`, { name: markVerbatim(name) }))}</CardName>
            <CardFacts>
              <li>
                {live
                  ? t("given.until_body", { when: formats.dateTime(share.expiresAt) })
                  : t(`given.state_${state}_body`)}
              </li>
              <li>
                {share.maxViews === null
                  ? t("given.views_body", { count: share.views })
                  : t("given.views_of_body", { count: share.maxViews, views: share.views })}
              </li>
              <li>
                {share.lastOpenedAt === null
                  ? t("given.never_opened_body")
                  : t("given.last_opened_body", { when: formats.dateTime(share.lastOpenedAt) })}
              </li>
              <li>{t("given.made_body", { when: formats.dateTime(share.createdAt) })}</li>
              {share.hasPassword && <li>{t("given.password_body")}</li>}
              {share.hasPicture && <li>{t("given.picture_body")}</li>}
            </CardFacts>
          </div>
        </ShareCardHeader>
        {discrepancy !== null && (
          <Notice tone="danger" title={t("doubt.title")}>
            {t(`doubt.${discrepancy}_body`)}
          </Notice>
        )}
        {isManageable && outdated && <Notice tone="warn">{t("given.outdated_body")}</Notice>}
        {(live || discrepancy !== null) && (
          <SpacedRow>
            {isManageable && audience !== "person" && (
              <Button tone="quiet" size="small" pending={showLinkOperation.running} onClick={handleShowLink}>
                {t("given.show_action")}
              </Button>
            )}
            {isManageable && outdated && (
              <Button tone="quiet" size="small" pending={updateOperation.running} onClick={handleUpdate}>
                {t("given.update_action")}
              </Button>
            )}
            {isManageable && (
              <Button
                tone="quiet"
                size="small"
                aria-expanded={changing}
                onClick={() => {
                  setChanging(!changing);
                }}
              >
                {t("given.change_action")}
              </Button>
            )}
            <Button tone="danger" size="small" pending={revoke.isPending} onClick={() => void handleRevoke()}>
              {t("given.revoke_action")}
            </Button>
          </SpacedRow>
        )}
        <ErrorNotice error={revoke.error} />
        <RequestedOpener
          vault={vault}
          operation={showLinkOperation}
          reason={t("given.show_reason_body")}
          label={t("given.show_action")}
        />
        <RequestedOpener
          vault={vault}
          operation={updateOperation}
          reason={t("given.update_reason_body")}
          label={t("given.update_action")}
        />
        {isManageable && link !== null && <LinkPanel link={link} />}
        {isManageable && changing && (
          <ChangeShareForm
            vault={vault}
            share={share}
            onClose={() => {
              setChanging(false);
            }}
          />
        )}
      </Stack>
    </Card>
  );
}

const ShareCardHeader = styled(CardHeader)`
  [data-state]:not([data-state="live"]) & > svg {
    color: ${s("textMuted")};
  }
`;
