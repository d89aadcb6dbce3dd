import type { Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, ButtonLink, ErrorNotice, Notice, Stack } from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

interface UnlockNoticeProps {
  readonly vault: Vault;
  /** Path to which the page returns after unlocking. */
  readonly returnTo: string;
  /**
   * Reason for unlocking, which selects the text. `read`: labels are sealed while locked. `add`: a
   * new secret is sealed to the account's keys. `edit`: an edit starts from the current values.
   */
  readonly reason?: "read" | "add" | "edit";
}

/** Offers to unlock with an opener or, on the person's own device, with a fresh sign-in. */
export function UnlockNotice({ vault, returnTo, reason = "read" }: UnlockNoticeProps) {
  const { t } = useTranslation("beta-home");
  const { pending, failure, unlock } = useFreshSignIn(vault);
  return (
    <Stack $gap={3}>
      <Notice
        title={t("unlock.title")}
        actions={
          <>
            <ButtonLink
              to={`/provide-image-recovery?${new URLSearchParams({ then: returnTo }).toString()}`}
              icon={<LockOpen aria-hidden />}
            >
              {t("unlock.picture_action")}
            </ButtonLink>
            <Button tone="quiet" pending={pending} onClick={unlock}>
              {t("unlock.presence_action")}
            </Button>
          </>
        }
      >
        {t(`unlock.${reason}_body`)}
      </Notice>
      {failure?.code === "opener_needed" ? (
        <Notice role="alert" tone="warn">
          {t("unlock.shared_body")}
        </Notice>
      ) : (
        <ErrorNotice error={failure} />
      )}
    </Stack>
  );
}

/**
 * Signs in again in a popup. Call it directly in the click handler, or browsers block the popup.
 */
function useFreshSignIn(vault: Vault) {
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const unlock = () => {
    setPending(true);
    setFailure(null);
    vault.unlockBySignIn().then(
      () => {
        setPending(false);
      },
      (error: unknown) => {
        setPending(false);
        setFailure(toPortalError(error));
      },
    );
  };
  return { pending, failure, unlock };
}
