import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { ButtonLink, EmptyState, ErrorNotice } from "@relicario/shared/ui";
import { Link2Off, Unlink } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface LinkFailureProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/**
 * Explains why a link does not open: it is unavailable, its key is missing, or another failure can
 * be retried.
 */
export function LinkFailure({ error, onRetry }: LinkFailureProps) {
  if (isPortalError(error, "share_unavailable", "not_found")) return <UnavailableNotice />;
  if (isPortalError(error, "link_incomplete")) return <IncompleteNotice />;
  return <ErrorNotice error={error} onRetry={onRetry} />;
}

const unavailableReasons = ["expired", "used_up", "revoked", "ended", "locked", "wrong"] as const;

/**
 * Lists all possible reasons. The service does not tell which one applies, so that it cannot be
 * probed.
 */
export function UnavailableNotice() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <EmptyState icon={<Link2Off />} title={t("unavailable.title")} actions={<FailureActions />}>
      <p>{t("unavailable.body")}</p>
      <Reasons>
        {unavailableReasons.map((reason) => (
          <li key={reason}>{t(`unavailable.${reason}_body`)}</li>
        ))}
      </Reasons>
      <p>{t("unavailable.what_now_body")}</p>
    </EmptyState>
  );
}

function IncompleteNotice() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <EmptyState icon={<Unlink />} title={t("incomplete.title")} actions={<FailureActions />}>
      <p>{t("incomplete.body")}</p>
      <p>{t("incomplete.kept_body")}</p>
    </EmptyState>
  );
}

/** Links to home, which only signed-in people get. */
function FailureActions() {
  const { t } = useTranslation("beta-recover-share");
  const { user } = usePortal();
  return (
    <>
      {user.userId !== "" && <ButtonLink to="/home">{t("open.home_action")}</ButtonLink>}
      <ButtonLink to="/secret-landing" tone="quiet">
        {t("open.landing_action")}
      </ButtonLink>
    </>
  );
}

const Reasons = styled.ul`
  padding-left: 1.2em;
  text-align: left;
  list-style: disc;
`;
