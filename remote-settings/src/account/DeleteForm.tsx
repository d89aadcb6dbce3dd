import { deletionGraceDays, type Me } from "@relicario/shared/api";
import { TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  SectionTitle,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useState, type SubmitEvent } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { useRequestDeletion } from "./deletion.ts";

const losses = ["secrets", "shares", "openers", "name"] as const;

/**
 * Lists what will be lost, and offers the export. Requires the user name, so that no account is
 * deleted by an accidental click.
 */
export function DeleteForm({ me }: { readonly me: Me }) {
  const { t } = useTranslation("settings-delete");
  const requestDeletion = useRequestDeletion();
  const [typedName, setTypedName] = useState("");
  const [nameMismatch, setNameMismatch] = useState(false);
  const handleSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (requestDeletion.isPending) return;
    const nameMatches = typedName.trim() === me.user_name;
    setNameMismatch(!nameMatches);
    if (nameMatches) requestDeletion.mutate();
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
          <LossList>
            {losses
              .filter((loss) => counts[loss] !== 0)
              .map((loss) => (
                <li key={loss}>
                  {renderVerbatim(
                    t(`form.loss_${loss}_body`, { count: counts[loss], name: markVerbatim(me.user_name) }),
                  )}
                </li>
              ))}
          </LossList>
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
            label={renderVerbatim(t("form.name_label", { name: markVerbatim(me.user_name) }))}
            error={nameMismatch ? t("form.name_error") : null}
            value={typedName}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onChange={(event) => {
              setTypedName(event.target.value);
              setNameMismatch(false);
            }}
          />
          <ErrorNotice error={requestDeletion.error} />
          <SpacedRow>
            <Button type="submit" tone="danger" pending={requestDeletion.isPending}>
              {t("form.delete_action")}
            </Button>
          </SpacedRow>
          <Muted>{t("form.sign_in_hint")}</Muted>
        </Stack>
      </form>
    </Stack>
  );
}

const LossList = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  padding-left: ${space(5)};
  list-style: disc;
`;
