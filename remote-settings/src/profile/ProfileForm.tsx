import { zodResolver } from "@hookform/resolvers/zod";
import type { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { TextField } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Loading, s, Skeleton, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { meQuery, useUpdateMe } from "../data/me.ts";
import { changesOf, isProfileProblem, profileDraftOf } from "./profile-draft.ts";

/** Loads the account, then shows the form for its name and contact address, and its storage use. */
export function ProfileForm() {
  const { t } = useTranslation("settings");
  const portal = usePortal();
  const me = useQuery(meQuery(portal));
  if (me.isError) return <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />;
  if (me.data === undefined) {
    return (
      <Loading label={t("profile.loading_status")}>
        <Skeleton height="360px" />
      </Loading>
    );
  }
  return <LoadedProfile me={me.data} />;
}

function LoadedProfile({ me }: { readonly me: Me }) {
  const { t } = useTranslation("settings");
  const { notify, language } = usePortal();
  const update = useUpdateMe();
  const { register, handleSubmit, formState, reset } = useForm({
    resolver: zodResolver(profileDraftOf(me)),
    defaultValues: { userName: me.user_name, contactEmail: me.contact_email ?? "" },
  });
  const problemText = (message: string | undefined) => (isProfileProblem(message) ? t(`profile.${message}_error`) : null);
  const submit = handleSubmit(async (draft) => {
    const changes = changesOf(me, draft);
    if (Object.keys(changes).length === 0) return;
    try {
      const changed = await update.mutateAsync(changes);
      reset({ userName: changed.user_name, contactEmail: changed.contact_email ?? "" });
      notify({ tone: "success", text: t("profile.saved_status") });
    } catch {
      // update.error is shown below the fields, and the form keeps its input
    }
  });
  const formats = formatsOf(language);
  return (
    <Stack $gap={5}>
      <Card>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack $gap={5}>
            <TextField
              label={t("profile.name_label")}
              hint={t("profile.name_hint")}
              error={problemText(formState.errors.userName?.message)}
              autoComplete="nickname"
              spellCheck={false}
              {...register("userName")}
            />
            <TextField
              type="email"
              label={t("profile.email_label")}
              hint={t("profile.email_hint")}
              error={problemText(formState.errors.contactEmail?.message)}
              autoComplete="email"
              spellCheck={false}
              {...register("contactEmail")}
            />
            <ErrorNotice error={update.error} />
            <SpacedRow>
              <Button type="submit" pending={update.isPending} disabled={!formState.isDirty}>
                {t("profile.save_action")}
              </Button>
            </SpacedRow>
          </Stack>
        </form>
      </Card>
      <Facts>
        <div>
          <dt>{t("profile.username_label")}</dt>
          <dd>{me.username}</dd>
        </div>
        <div>
          <dt>{t("profile.since_label")}</dt>
          <dd>{formats.date(me.created_at)}</dd>
        </div>
        <div>
          <dt>{t("profile.storage_label")}</dt>
          <dd>{t("profile.storage_body", { used: formats.size(me.licence.storage_used), quota: formats.size(me.licence.storage_quota) })}</dd>
        </div>
      </Facts>
      <SmallText>{t("profile.sealed_hint")}</SmallText>
    </Stack>
  );
}

const Facts = styled.dl`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(4)} ${space(8)};
  & dt { color: ${s("textMuted")}; font-size: ${s("textSmall")}; }
  & dd { overflow-wrap: anywhere; }
`;
