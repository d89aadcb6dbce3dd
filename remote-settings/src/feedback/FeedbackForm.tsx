import { maxFeedbackLength } from "@relicario/shared/api";
import { useLeaveGuard, usePortal } from "@relicario/shared/contract";
import { TextArea } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Notice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useRef, useState, type SubmitEvent } from "react";
import { useTranslation } from "react-i18next";

import { useSendFeedback } from "../data/feedback.ts";
import { RatingField, type Rating } from "./RatingField.tsx";

interface FeedbackFormProps {
  /** Path pattern of the screen that the feedback is about. */
  readonly screen: string;
}

/** Sends a rating and a message to the operator. The input stays until it was sent. */
export function FeedbackForm({ screen }: FeedbackFormProps) {
  const { t } = useTranslation("user-feedback");
  const { appVersion, confirm } = usePortal();
  const [rating, setRating] = useState<Rating | null>(null);
  const [message, setMessage] = useState("");
  const [messageMissing, setMessageMissing] = useState(false);
  const messageRef = useRef<HTMLTextAreaElement>(null);
  const sendFeedback = useSendFeedback();
  useLeaveGuard(message.trim() !== "", () =>
    confirm({
      title: t("leave_title"),
      description: t("leave_body"),
      confirmLabel: t("leave_action"),
      cancelLabel: t("stay_action"),
      danger: true,
    }),
  );

  const handleSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (sendFeedback.isPending) return;
    setMessageMissing(message.trim() === "");
    if (message.trim() === "") {
      messageRef.current?.focus();
      return;
    }
    sendFeedback.mutate(
      { ...(rating === null ? {} : { rating }), message: message.trim(), page: screen, app_version: appVersion },
      {
        onSuccess: () => {
          setRating(null);
          setMessage("");
        },
      },
    );
  };
  return (
    <Stack $gap={5}>
      {sendFeedback.isSuccess && message === "" && (
        <Notice tone="success" role="status" title={t("sent_title")}>
          {t("sent_body")}
        </Notice>
      )}
      <Card>
        <form onSubmit={handleSubmit} noValidate>
          <Stack $gap={5}>
            <p>{t("lead")}</p>
            <RatingField value={rating} onChange={setRating} />
            <TextArea
              ref={messageRef}
              label={t("message_label")}
              hint={t("message_hint")}
              error={messageMissing && message.trim() === "" ? t("message_missing_error") : null}
              maxLength={maxFeedbackLength}
              value={message}
              onChange={({ target }) => {
                setMessage(target.value);
              }}
            />
            <SmallText>{t("sent_along_body", { screen, version: appVersion })}</SmallText>
            <ErrorNotice error={sendFeedback.error} />
            <SpacedRow>
              <Button type="submit" pending={sendFeedback.isPending}>
                {t("send_action")}
              </Button>
            </SpacedRow>
          </Stack>
        </form>
      </Card>
    </Stack>
  );
}
