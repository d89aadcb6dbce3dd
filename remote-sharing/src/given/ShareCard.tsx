import { usePortal, type SecretShare, type Vault } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, Notice, s, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { Globe, UserRound, UsersRound, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useReadAnew } from "../data/sharing.ts";
import { CardFacts, CardHead, CardName } from "../link/card-head.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { OpenerPanel } from "../vault/OpenerPanel.tsx";
import { useOpenerAct } from "../vault/useOpenerAct.ts";
import { ChangeShare } from "./ChangeShare.tsx";

interface ShareCardProps {
  readonly vault: Vault;
  readonly share: SecretShare;
}

const icons = { public: Globe, signed_in: UsersRound, person: UserRound } as const satisfies Record<string, LucideIcon>;

/** One share: for whom, until when, how often it was opened, and what its owner can do with it. */
export function ShareCard({ vault, share }: ShareCardProps) {
  const { t } = useTranslation("beta-share");
  const { language, confirm, notify } = usePortal();
  const readAnew = useReadAnew();
  const [link, setLink] = useState<string | null>(null);
  const [changing, setChanging] = useState(false);
  const showing = useOpenerAct();
  const updating = useOpenerAct();
  // Said by the mutation itself: the card is gone as soon as the list was read anew, and what a
  // caller waits for with it.
  const revoke = useMutation({
    mutationFn: () => vault.shares.revoke(share.shareId),
    onSuccess: () => {
      notify({ tone: "success", text: t("revoke.done_status") });
    },
    onSettled: readAnew,
  });
  const { shareId, audience, person, state, doubt, outdated } = share;
  const formats = formatsOf(language);
  const Icon = icons[audience];
  const live = state === "live";
  const own = live && doubt !== "unknown"; // of another one nothing is known but that it can be ended
  const name = person?.userName ?? "";

  const handleRevoke = async () => {
    const sure = await confirm({
      title: t("revoke.confirm_title"),
      description: t("revoke.confirm_body"),
      confirmLabel: t("revoke.confirm_action"),
      alert: true,
      danger: true,
    });
    if (!sure) return;
    setLink(null);
    revoke.mutate();
  };
  const handleShow = () => {
    showing.start(async (opener, options) => {
      setLink(await vault.shares.showLink(shareId, opener, options));
    });
  };
  const handleUpdate = () => {
    updating.start(
      async (opener, options) => {
        if (opener === null) return;
        await vault.shares.updateContent(shareId, opener, options);
        notify({ tone: "success", text: t("given.updated_status") });
        await readAnew();
      },
      { asks: true },
    );
  };

  return (
    <Card data-state={state}>
      <Stack $gap={4}>
        <Head>
          <Icon aria-hidden />
          <div>
            <CardName as="h3">{t(`given.${audience}_title`, { name })}</CardName>
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
              {share.password && <li>{t("given.password_body")}</li>}
              {share.picture && <li>{t("given.picture_body")}</li>}
            </CardFacts>
          </div>
        </Head>
        {doubt !== null && (
          <Notice tone="danger" title={t("doubt.title")}>
            {t(`doubt.${doubt}_body`)}
          </Notice>
        )}
        {own && outdated && <Notice tone="warn">{t("given.outdated_body")}</Notice>}
        {(live || doubt !== null) && (
          <SpacedRow>
            {own && audience !== "person" && (
              <Button tone="quiet" size="small" pending={showing.state.status === "running"} onClick={handleShow}>
                {t("given.show_action")}
              </Button>
            )}
            {own && outdated && (
              <Button tone="quiet" size="small" onClick={handleUpdate}>
                {t("given.update_action")}
              </Button>
            )}
            {own && (
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
        <OpenerPanel vault={vault} act={showing} reason={t("given.show_reason_body")} action={t("given.show_action")} />
        <OpenerPanel
          vault={vault}
          act={updating}
          reason={t("given.update_reason_body")}
          action={t("given.update_action")}
        />
        {own && link !== null && <LinkPanel link={link} />}
        {own && changing && (
          <ChangeShare
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

const Head = styled(CardHead)`
  [data-state]:not([data-state="live"]) & > svg {
    color: ${s("textMuted")};
  }
`;
