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
 * Why a link does not open: all that is unavailable alike, a link without its key, or another
 * failure with a way to try again.
 */
export function LinkFailure({ error, onRetry }: LinkFailureProps) {
  if (isPortalError(error, "share_unavailable", "not_found")) return <UnavailableNotice />;
  if (isPortalError(error, "link_incomplete")) return <IncompleteNotice />;
  return <ErrorNotice error={error} onRetry={onRetry} />;
}

const unavailableReasons = ["expired", "used_up", "revoked", "ended", "locked", "wrong"] as const;

/**
 * The service says no more than that it cannot be opened, so that nobody can probe: the possible
 * reasons together, and what to do.
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

/** Home is of those who are signed in: for others the way there ends at the sign-in. */
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
