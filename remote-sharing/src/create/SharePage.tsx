import { usePortal, type Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, EmptyState, ErrorNotice, Loading, Page, Skeleton } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { FileQuestion, Share2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";

import { sharesQuery, titleQuery } from "../data/sharing.ts";
import { ShareList } from "../given/ShareList.tsx";
import { WithVault } from "../vault/WithVault.tsx";
import { MadeShareCard } from "./MadeShareCard.tsx";
import { ShareForm, type MadeShare } from "./ShareForm.tsx";

/**
 * Route `/share/:secretId`: who can open this secret by now, and sharing it anew. Other areas link
 * here.
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
  const [ended, setEnded] = useState(false);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeShare | null>(null);
  const named = useQuery(titleQuery(vault, user.userId, secretId));
  const shares = useQuery(sharesQuery(vault, user.userId, secretId, ended));
  if (named.isError) return <ErrorNotice error={named.error} onRetry={() => void named.refetch()} />;
  if (named.isPending || (shares.isPending && !ended)) {
    return (
      <Loading label={t("vault.loading_status")}>
        <Skeleton height="220px" />
      </Loading>
    );
  }
  if (named.data.status === "gone") {
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
  const any = (shares.data ?? []).length > 0;
  const form = made === null && (making || (!any && !ended));
  return (
    <>
      <strong>{named.data.title === "" ? t("share.untitled_body") : named.data.title}</strong>
      {made !== null && (
        <MadeShareCard
          share={made}
          onClose={() => {
            setMade(null);
          }}
        />
      )}
      {made === null && !form && (
        <div>
          <Button
            icon={<Share2 aria-hidden />}
            onClick={() => {
              setMaking(true);
            }}
          >
            {t("share.new_action")}
          </Button>
        </div>
      )}
      {form && (
        <ShareForm
          vault={vault}
          secretId={secretId}
          onMade={(share) => {
            setMade(share);
            setMaking(false);
          }}
          {...(making
            ? {
                onClose: () => {
                  setMaking(false);
                },
              }
            : {})}
        />
      )}
      <ShareList vault={vault} shares={shares} ended={ended} onEnded={setEnded} />
    </>
  );
}
