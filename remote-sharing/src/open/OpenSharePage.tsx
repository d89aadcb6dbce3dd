import { ShareId } from "@relicario/shared/api";
import { Page, useVisitor } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useLocation, useParams } from "react-router-dom";

import { LinkFailure, Unavailable } from "./LinkFailure.tsx";
import { LinkShare } from "./LinkShare.tsx";
import { LookLoading } from "./LookLoading.tsx";

/**
 * Routes `/shared/:shareId` and `/p-shared/:shareId`: what somebody shared by a link, or with one
 * person.
 */
export default function OpenSharePage() {
  const { shareId = "" } = useParams();
  const { pathname } = useLocation();
  return <SharePage key={pathname} shareId={shareId} isPublic={pathname.startsWith("/shared/")} />;
}

interface SharePageProps {
  readonly shareId: string;
  readonly isPublic: boolean;
}

function SharePage({ shareId, isPublic }: SharePageProps) {
  const { t } = useTranslation("beta-recover-share");
  const access = useVisitor();
  if (ShareId.safeParse(shareId).success && access.status === "ready")
    return <LinkShare visitor={access.visitor} shareId={shareId} isPublic={isPublic} />;
  return (
    <Page title={t("open.title")}>
      {!ShareId.safeParse(shareId).success ? (
        <Unavailable />
      ) : access.status === "failed" ? (
        <LinkFailure error={access.error} onRetry={access.retry} />
      ) : (
        <LookLoading />
      )}
    </Page>
  );
}
