import { mailTopics, type Me, type UpdateMeBody } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { Switch } from "@relicario/shared/forms";
import {
  Card,
  ErrorNotice,
  Loading,
  Muted,
  Notice,
  s,
  SectionTitle,
  Skeleton,
  SmallText,
  space,
  Stack,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { meQuery, useUpdateMe } from "../data/me.ts";

/** Switches of the mail topics. Each switch is saved at once. */
export function NotificationSettings() {
  const { t } = useTranslation("settings-notifications");
  const me = useQuery(meQuery(usePortal()));
  if (me.isError) return <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />;
  if (me.data === undefined) {
    return (
      <Loading label={t("page.loading_status")}>
        <Skeleton height="420px" />
      </Loading>
    );
  }
  return <NotificationSwitches me={me.data} />;
}

function NotificationSwitches({ me }: { readonly me: Me }) {
  const { t } = useTranslation("settings-notifications");
  const update = useUpdateMe();
  // While a request runs, a switch shows the requested value; after a failure it shows the stored
  // one.
  const pendingUpdate: UpdateMeBody = update.isPending ? update.variables : {};
  return (
    <Stack $gap={6}>
      {!me.contact_email_verified && (
        <Notice tone="warn" title={t("page.no_address_title")}>
          {t("page.no_address_body")} <Link to="/settings/profile">{t("page.profile_action")}</Link>
        </Notice>
      )}
      <ErrorNotice error={update.error} />
      <Card aria-labelledby="mails">
        <Stack $gap={3}>
          <SectionTitle id="mails">{t("mails.title")}</SectionTitle>
          <Muted>{t("mails.body")}</Muted>
          <List>
            {mailTopics.map((topic) => (
              <li key={topic}>
                <Switch
                  label={t(`mails.${topic}_label`)}
                  checked={pendingUpdate.notifications?.[topic] ?? me.notifications[topic]}
                  disabled={update.isPending}
                  onChange={(enabled) => {
                    update.mutate({ notifications: { [topic]: enabled } });
                  }}
                />
              </li>
            ))}
          </List>
          <SmallText>{t("mails.always_body")}</SmallText>
        </Stack>
      </Card>
    </Stack>
  );
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  border-top: 1px solid ${s("border")};
  padding-top: ${space(2)};
`;
