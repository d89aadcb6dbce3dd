import type { Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { Button, ButtonLink, ErrorNotice, Notice, Stack } from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

interface UnlockNoticeProps {
  readonly vault: Vault;
  /** Where to come back to. */
  readonly then: string;
  /** `read`: names are sealed. `add`: what is new has to fit what is there. `edit`: what is changed has to be known. */
  readonly reason?: "read" | "add" | "edit";
}

/** This device is locked: a picture opens it, or, on one's own device, a fresh sign-in. */
export function UnlockNotice({ vault, then, reason = "read" }: UnlockNoticeProps) {
  const { t } = useTranslation("beta-home");
  const { pending, failure, unlock } = usePresence(vault);
  return (
    <Stack $gap={3}>
      <Notice
        title={t("unlock.title")}
        actions={
          <>
            <ButtonLink to={`/provide-image-recovery?${new URLSearchParams({ then }).toString()}`} icon={<LockOpen aria-hidden />}>
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
      {failure?.code === "opener_needed" ? <Notice role="alert" tone="warn">{t("unlock.shared_body")}</Notice> : <ErrorNotice error={failure} />}
    </Stack>
  );
}

/** A fresh sign-in in a window of its own, asked for by the press itself, or browsers keep the window closed. */
function usePresence(vault: Vault) {
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const unlock = () => {
    setPending(true);
    setFailure(null);
    vault.unlockByPresence().then(
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
