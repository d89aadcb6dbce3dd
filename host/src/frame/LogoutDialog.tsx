import { Button, ConfirmDialog, Dialog, type DialogProps, SmallText, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../context/host-context.ts";

/**
 * Numbers of unpublished uploads: those that signing out deletes, and those that wait on the
 * person's own device.
 */
interface UploadCounts {
  readonly lostCount: number;
  readonly waitingCount: number;
}

/**
 * Asks for confirmation before signing out, and says which uploads are lost. Also offers to forget
 * this device, after a second question.
 */
export function LogoutDialog({ open, onClose }: DialogProps) {
  const { t } = useTranslation(["modals", "common"]);
  const { session } = useHost();
  const [question, setQuestion] = useState<"logout" | "forget">("logout");
  const [isLeaving, setIsLeaving] = useState(false);
  const { lostCount, waitingCount } = useUploadCounts(open);

  const handleClose = () => {
    onClose();
    setQuestion("logout");
  };
  const handleLogout = () => {
    setIsLeaving(true);
    void session.signOut();
  };
  const handleForget = (confirmed: boolean) => {
    if (!confirmed) {
      handleClose();
      return;
    }
    setIsLeaving(true);
    void session.forgetDevice();
  };

  return (
    <>
      <Dialog
        open={open && question === "logout"}
        onClose={handleClose}
        title={t("logout.title")}
        description={t("logout.body")}
        mustAnswer={isLeaving}
        footer={
          <>
            <Button disabled={isLeaving} onClick={handleLogout}>
              {t("logout.confirm_action")}
            </Button>
            <Button tone="quiet" disabled={isLeaving} onClick={handleClose}>
              {t("common:confirm.cancel_action")}
            </Button>
          </>
        }
      >
        <Stack $gap={3}>
          {lostCount > 0 && <SmallText role="status">{t("logout.lost_body", { count: lostCount })}</SmallText>}
          {waitingCount > 0 && <SmallText role="status">{t("logout.waiting_body", { count: waitingCount })}</SmallText>}
          <div>
            <Button
              tone="quiet"
              size="small"
              disabled={isLeaving}
              onClick={() => {
                setQuestion("forget");
              }}
            >
              {t("forget.open_action")}
            </Button>
          </div>
        </Stack>
      </Dialog>
      <ConfirmDialog
        open={open && question === "forget"}
        danger
        title={t("forget.title")}
        description={[
          t("forget.body"),
          ...(lostCount + waitingCount > 0 ? [t("forget.lost_body", { count: lostCount + waitingCount })] : []),
        ].join(" ")}
        confirmLabel={t("forget.confirm_action")}
        disabled={isLeaving}
        onAnswer={handleForget}
      />
    </>
  );
}

function useUploadCounts(open: boolean): UploadCounts {
  const { listStoredAccounts } = useHost();
  const [uploadCounts, setUploadCounts] = useState<UploadCounts>({ lostCount: 0, waitingCount: 0 });
  useEffect(() => {
    if (!open) return;
    let isCurrent = true;
    listStoredAccounts().then(
      (accounts) => {
        if (!isCurrent) return;
        const countUploads = (isOwn: boolean) =>
          accounts
            .filter(({ kind }) => (kind === "own") === isOwn)
            .reduce((sum, account) => sum + account.uploadCount, 0);
        setUploadCounts({ lostCount: countUploads(false), waitingCount: countUploads(true) });
      },
      () => undefined, // numbers unavailable: asks without them
    );
    return () => {
      isCurrent = false;
    };
  }, [open, listStoredAccounts]);
  return uploadCounts;
}
