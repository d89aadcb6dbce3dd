import { getFormats } from "@relicario/shared/i18n";
import { Button, ErrorNotice, Notice } from "@relicario/shared/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";
import { z } from "zod";

import { useHost } from "../context/host-context.ts";
import { meQuery } from "../portal/use-portal-object.ts";
import { useLanguage } from "../settings/language.ts";
import { NoticeBar } from "./OfflineNotice.tsx";

/**
 * Shown on every page while the account is due for deletion. Says when, and has a button that
 * cancels the deletion.
 */
export function DeletionNotice({ userId }: { readonly userId: string }) {
  const { t } = useTranslation("header");
  const { http } = useHost();
  const language = useLanguage();
  const queryClient = useQueryClient();
  const me = meQuery(http, userId);
  const { data } = useQuery(me);
  const cancelDeletion = useMutation({
    mutationFn: () => http.request("POST", "/user/me/restore", z.null()),
    onSettled: () => queryClient.invalidateQueries({ queryKey: me.queryKey }),
  });
  const { pathname } = useLocation();
  if (data?.deletion_due_at == null || pathname === "/settings/delete-account") return null;
  return (
    <NoticeBar>
      <Notice
        tone="warn"
        role="status"
        title={t("deletion.title", { when: getFormats(language).dateTime(data.deletion_due_at) })}
        actions={
          <Button
            size="small"
            pending={cancelDeletion.isPending}
            onClick={() => {
              cancelDeletion.mutate();
            }}
          >
            {t("deletion.cancel_action")}
          </Button>
        }
      >
        {t("deletion.body")}
      </Notice>
      <ErrorNotice error={cancelDeletion.error} />
    </NoticeBar>
  );
}
