import { deletionGraceDays, type Me } from "@relicario/shared/api";
import { TextField } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, Notice, SectionTitle, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SubmitEvent } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { useAskDeletion } from "./deletion.ts";

const losses = ["secrets", "shares", "openers", "name"] as const;

/**
 * Says what will be lost, offers the export, and asks for the user name: nobody deletes an account
 * by one press too many.
 */
export function DeleteForm({ me }: { readonly me: Me }) {
  const { t } = useTranslation("settings-delete");
  const ask = useAskDeletion();
  const [typed, setTyped] = useState("");
  const [wrong, setWrong] = useState(false);
  const handleSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (ask.isPending) return;
    const isRight = typed.trim() === me.user_name;
    setWrong(!isRight);
    if (isRight) ask.mutate();
  };
  const counts: Partial<Record<(typeof losses)[number], number>> = {
    secrets: me.licence.secrets,
    shares: me.licence.shares,
  };
  return (
    <Stack $gap={6}>
      <Card aria-labelledby="losses">
        <Stack $gap={3}>
          <SectionTitle id="losses">{t("form.losses_title")}</SectionTitle>
          <Points>
            {losses
              .filter((loss) => counts[loss] !== 0)
              .map((loss) => (
                <li key={loss}>{t(`form.loss_${loss}_body`, { count: counts[loss], name: me.user_name })}</li>
              ))}
          </Points>
          <Muted>{t("form.grace_body", { days: deletionGraceDays })}</Muted>
          <Muted>{t("form.provider_body")}</Muted>
        </Stack>
      </Card>
      <Notice title={t("form.export_title")}>
        {t("form.export_body")} <Link to="/settings/data">{t("form.export_action")}</Link>
      </Notice>
      {!me.contact_email_verified && <Notice tone="warn">{t("form.no_address_body")}</Notice>}
      <form onSubmit={handleSubmit} noValidate>
        <Stack $gap={4}>
          <TextField
            label={t("form.name_label", { name: me.user_name })}
            error={wrong ? t("form.name_error") : null}
            value={typed}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onChange={(event) => {
              setTyped(event.target.value);
              setWrong(false);
            }}
          />
          <ErrorNotice error={ask.error} />
          <SpacedRow>
            <Button type="submit" tone="danger" pending={ask.isPending}>
              {t("form.delete_action")}
            </Button>
          </SpacedRow>
          <Muted>{t("form.sign_in_hint")}</Muted>
        </Stack>
      </form>
    </Stack>
  );
}

const Points = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  padding-left: ${space(5)};
  list-style: disc;
`;
