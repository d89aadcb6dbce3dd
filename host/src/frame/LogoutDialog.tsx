import { Button, ConfirmDialog, Dialog, type DialogProps, SmallText, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../host-context.ts";

/**
 * Uploads that are not published: those that logging out loses, and those that wait on an own
 * device.
 */
interface Uploads {
  readonly lost: number;
  readonly waiting: number;
}

/**
 * Asks before logging out, and names what that loses here. Also the way to have this device
 * forgotten, with a question of its own.
 */
export function LogoutDialog({ open, onClose }: DialogProps) {
  const { t } = useTranslation(["modals", "common"]);
  const { session } = useHost();
  const [asked, setAsked] = useState<"logout" | "forget">("logout");
  const [leaving, setLeaving] = useState(false);
  const { lost, waiting } = useUploads(open);

  const handleClose = () => {
    onClose();
    setAsked("logout");
  };
  const handleLogout = () => {
    setLeaving(true);
    void session.signOut();
  };
  const handleForget = (answer: boolean) => {
    if (!answer) {
      handleClose();
      return;
    }
    setLeaving(true);
    void session.forgetDevice();
  };

  return (
    <>
      <Dialog
        open={open && asked === "logout"}
        onClose={handleClose}
        title={t("logout.title")}
        description={t("logout.body")}
        mustAnswer={leaving}
        footer={
          <>
            <Button disabled={leaving} onClick={handleLogout}>
              {t("logout.confirm_action")}
            </Button>
            <Button tone="quiet" disabled={leaving} onClick={handleClose}>
              {t("common:confirm.cancel_action")}
            </Button>
          </>
        }
      >
        <Stack $gap={3}>
          {lost > 0 && <SmallText role="status">{t("logout.lost_body", { count: lost })}</SmallText>}
          {waiting > 0 && <SmallText role="status">{t("logout.waiting_body", { count: waiting })}</SmallText>}
          <div>
            <Button
              tone="quiet"
              size="small"
              disabled={leaving}
              onClick={() => {
                setAsked("forget");
              }}
            >
              {t("forget.open_action")}
            </Button>
          </div>
        </Stack>
      </Dialog>
      <ConfirmDialog
        open={open && asked === "forget"}
        danger
        title={t("forget.title")}
        description={[
          t("forget.body"),
          ...(lost + waiting > 0 ? [t("forget.lost_body", { count: lost + waiting })] : []),
        ].join(" ")}
        confirmLabel={t("forget.confirm_action")}
        disabled={leaving}
        onAnswer={handleForget}
      />
    </>
  );
}

function useUploads(open: boolean): Uploads {
  const { keptHere } = useHost();
  const [uploads, setUploads] = useState<Uploads>({ lost: 0, waiting: 0 });
  useEffect(() => {
    if (!open) return;
    let current = true;
    keptHere().then(
      (accounts) => {
        if (!current) return;
        const count = (own: boolean) =>
          accounts.filter(({ kind }) => (kind === "own") === own).reduce((sum, each) => sum + each.uploads, 0);
        setUploads({ lost: count(false), waiting: count(true) });
      },
      () => undefined, // a browser that does not say: the question stands without the numbers
    );
    return () => {
      current = false;
    };
  }, [open, keptHere]);
  return uploads;
}
