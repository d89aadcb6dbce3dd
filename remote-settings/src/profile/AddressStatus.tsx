import type { Me } from "@relicario/shared/api";
import { Button, ErrorNotice, markVerbatim, Notice, renderVerbatim } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useSendValidation } from "../data/me.ts";

interface AddressStatusProps {
  readonly me: Me;
  readonly onRefresh: () => void;
}

export function AddressStatus({
  me: { contact_email: address, contact_email_verified: verified },
  onRefresh,
}: AddressStatusProps) {
  const { t } = useTranslation("settings");
  const [sent, setSent] = useState(false);
  const sendValidation = useSendValidation();
  const handleSend = () => {
    sendValidation.mutate(undefined, {
      onSuccess: () => {
        setSent(true);
      },
      onError: () => {
        setSent(false);
      },
    });
  };
  if (address === null) return null;
  if (verified)
    return (
      <Notice tone="success">
        {renderVerbatim(t("profile.email_verified_body", { address: markVerbatim(address) }))}
      </Notice>
    );
  return (
    <>
      <Notice
        tone={sent ? "info" : "warn"}
        {...(sent && { role: "status" as const })}
        actions={
          <>
            <Button tone="quiet" size="small" pending={sendValidation.isPending} onClick={handleSend}>
              {t(sent ? "profile.email_again_action" : "profile.email_send_action")}
            </Button>
            {sent && (
              <Button tone="plain" size="small" onClick={onRefresh}>
                {t("profile.email_look_action")}
              </Button>
            )}
          </>
        }
      >
        {renderVerbatim(
          t(sent ? "profile.email_sent_body" : "profile.email_unverified_body", { address: markVerbatim(address) }),
        )}
      </Notice>
      <ErrorNotice error={sendValidation.error} />
    </>
  );
}
