import { ShareId } from "@relicario/shared/api";
import { Page, useVisitor } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useLocation, useParams } from "react-router-dom";

import { LinkFailure, UnavailableNotice } from "./LinkFailure.tsx";
import { LinkShare } from "./LinkShare.tsx";
import { PreviewSkeleton } from "./PreviewSkeleton.tsx";

/**
 * Routes `/shared/:shareId` (public link) and `/p-shared/:shareId` (link for signed-in people, and
 * share for a person).
 */
export default function OpenSharePage() {
  const { shareId = "" } = useParams();
  const { pathname } = useLocation();
  return <OpenShare key={pathname} shareId={shareId} isPublic={pathname.startsWith("/shared/")} />;
}

interface OpenShareProps {
  readonly shareId: string;
  readonly isPublic: boolean;
}

function OpenShare({ shareId, isPublic }: OpenShareProps) {
  const { t } = useTranslation("beta-recover-share");
  const access = useVisitor();
  if (ShareId.safeParse(shareId).success && access.status === "ready")
    return <LinkShare visitor={access.visitor} shareId={shareId} isPublic={isPublic} />;
  return (
    <Page title={t("open.title")}>
      {!ShareId.safeParse(shareId).success ? (
        <UnavailableNotice />
      ) : access.status === "failed" ? (
        <LinkFailure error={access.error} onRetry={access.retry} />
      ) : (
        <PreviewSkeleton />
      )}
    </Page>
  );
}
