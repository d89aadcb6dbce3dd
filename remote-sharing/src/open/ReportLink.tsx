import { maxReportLength, type ReportShareBody } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { ChoiceGroup, TextArea } from "@relicario/shared/forms";
import { Button, Dialog, ErrorNotice, Notice, Stack, useDialog } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { Flag } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { z } from "zod";

const reasons = ["phishing", "unwanted", "illegal", "other"] as const;
type Reason = (typeof reasons)[number];

/** Reports a public link to the operator by its id only. The operator cannot open the content. */
export function ReportLink({ shareId }: { readonly shareId: string }) {
  const { t } = useTranslation("beta-recover-share");
  const { http } = usePortal();
  const dialog = useDialog();
  const [reason, setReason] = useState<Reason>("phishing");
  const [message, setMessage] = useState("");
  const report = useMutation({
    mutationFn: () => {
      const body: z.input<typeof ReportShareBody> = {
        share_id: shareId,
        reason,
        ...(message.trim() === "" ? {} : { message: message.trim() }),
      };
      return http.request("POST", "/reports/share", z.unknown(), { body });
    },
  });
  return (
    <>
      <div>
        <Button
          tone="plain"
          size="small"
          icon={<Flag aria-hidden />}
          onClick={() => {
            report.reset();
            dialog.show();
          }}
        >
          {t("report.open_action")}
        </Button>
      </div>
      <Dialog
        open={dialog.open}
        onClose={dialog.onClose}
        title={t("report.title")}
        description={t("report.body")}
        footer={
          report.isSuccess ? (
            <Button onClick={dialog.onClose}>{t("report.close_action")}</Button>
          ) : (
            <>
              <Button tone="quiet" onClick={dialog.onClose}>
                {t("look.cancel_action")}
              </Button>
              <Button
                pending={report.isPending}
                onClick={() => {
                  report.mutate();
                }}
              >
                {t("report.send_action")}
              </Button>
            </>
          )
        }
      >
        {report.isSuccess ? (
          <Notice tone="success" role="status">
            {t("report.sent_status")}
          </Notice>
        ) : (
          <Stack $gap={4}>
            <ChoiceGroup
              legend={t("report.reason_label")}
              name="reason"
              choices={reasons.map((choice) => ({ value: choice, label: t(`report.reason_${choice}_label`) }))}
              value={reason}
              disabled={report.isPending}
              onChange={setReason}
            />
            <TextArea
              label={t("report.message_label")}
              hint={t("report.message_hint")}
              optional
              rows={3}
              maxLength={maxReportLength}
              value={message}
              disabled={report.isPending}
              onChange={(event) => {
                setMessage(event.target.value);
              }}
            />
            <ErrorNotice error={report.error} />
          </Stack>
        )}
      </Dialog>
    </>
  );
}
