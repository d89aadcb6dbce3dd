import { usePortal, type Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, EmptyState, ErrorNotice, Loading, Page, Skeleton } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { FileQuestion, Share2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";

import { sharesQuery, titleQuery } from "../data/sharing.ts";
import { ShareList } from "../manage/ShareList.tsx";
import { WithVault } from "../vault/WithVault.tsx";
import { CreatedShareCard } from "./CreatedShareCard.tsx";
import { ShareForm, type CreatedShare } from "./ShareForm.tsx";

/**
 * Route `/share/:secretId`, to which other remotes link: shares of a secret, and a form for a new
 * share.
 */
export default function SharePage() {
  const { t } = useTranslation("beta-share");
  const { secretId = "" } = useParams();
  return (
    <Page title={t("share.title")} lead={t("share.lead_body")}>
      <WithVault returnTo={`/share/${secretId}`}>
        {(vault) => <ShareSecret key={secretId} vault={vault} secretId={secretId} />}
      </WithVault>
    </Page>
  );
}

interface ShareSecretProps {
  readonly vault: Vault;
  readonly secretId: string;
}

function ShareSecret({ vault, secretId }: ShareSecretProps) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const [showEnded, setShowEnded] = useState(false);
  const [formRequested, setFormRequested] = useState(false);
  const [createdShare, setCreatedShare] = useState<CreatedShare | null>(null);
  const secretTitle = useQuery(titleQuery(vault, user.userId, secretId));
  const shares = useQuery(sharesQuery(vault, user.userId, secretId, showEnded));
  if (secretTitle.isError) return <ErrorNotice error={secretTitle.error} onRetry={() => void secretTitle.refetch()} />;
  if (secretTitle.isPending || (shares.isPending && !showEnded)) {
    return (
      <Loading label={t("vault.loading_status")}>
        <Skeleton height="220px" />
      </Loading>
    );
  }
  if (secretTitle.data.status === "missing") {
    return (
      <EmptyState
        icon={<FileQuestion />}
        title={t("share.gone_title")}
        actions={<ButtonLink to="/secrets">{t("share.list_action")}</ButtonLink>}
      >
        <p>{t("share.gone_body")}</p>
      </EmptyState>
    );
  }
  const hasShares = (shares.data ?? []).length > 0;
  const showsForm = createdShare === null && (formRequested || (!hasShares && !showEnded));
  return (
    <>
      <strong>{secretTitle.data.title === "" ? t("share.untitled_body") : secretTitle.data.title}</strong>
      {createdShare !== null && (
        <CreatedShareCard
          share={createdShare}
          onClose={() => {
            setCreatedShare(null);
          }}
        />
      )}
      {createdShare === null && !showsForm && (
        <div>
          <Button
            icon={<Share2 aria-hidden />}
            onClick={() => {
              setFormRequested(true);
            }}
          >
            {t("share.new_action")}
          </Button>
        </div>
      )}
      {showsForm && (
        <ShareForm
          vault={vault}
          secretId={secretId}
          onCreated={(share) => {
            setCreatedShare(share);
            setFormRequested(false);
          }}
          {...(formRequested
            ? {
                onClose: () => {
                  setFormRequested(false);
                },
              }
            : {})}
        />
      )}
      <ShareList vault={vault} shares={shares} showEnded={showEnded} onShowEndedChange={setShowEnded} />
    </>
  );
}
