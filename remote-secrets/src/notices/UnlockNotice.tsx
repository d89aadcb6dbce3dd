import type { Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, ButtonLink, ErrorNotice, Notice, Stack } from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

interface UnlockNoticeProps {
  readonly vault: Vault;
  /** Path to return to after unlocking. */
  readonly returnTo: string;
  /**
   * Selects the explanation: labels are sealed while locked (`read`), a new secret is sealed to the
   * account's keys (`add`), an edit starts from the current values (`edit`).
   */
  readonly reason?: "read" | "add" | "edit";
}

/**
 * Offers to unlock the vault: with a picture, or by a fresh sign-in on a device that the person
 * calls their own.
 */
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
 * Signs in again in a popup. Must be called in the click handler itself, or browsers block the
 * popup.
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
