import { usePortal, type OpenersOverview } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import {
  Card,
  markVerbatim,
  Muted,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  Stack,
  Verbatim,
} from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

interface SecretListProps {
  readonly overview: OpenersOverview;
}

/** Each secret with its openers, and the date of its last copy check. */
export function SecretList({ overview: { openers, secrets } }: SecretListProps) {
  const { t } = useTranslation("openers");
  const { date } = getFormats(usePortal().language);
  const openerNames = new Map(openers.map(({ id, name }) => [id, name]));
  const joinNames = (ids: readonly string[]) => ids.flatMap((id) => openerNames.get(id) ?? []).join(", ");
  return (
    <Card aria-labelledby="openers-secrets">
      <Stack $gap={4}>
        <SectionTitle id="openers-secrets">{t("secrets.title")}</SectionTitle>
        {secrets.length === 0 && <Muted>{t("secrets.empty_body")}</Muted>}
        <List>
          {secrets.map(({ secretId, title, openerIds, missingOpenerIds, copyCheckedAt }) => (
            <li key={secretId}>
              <strong>
                <Verbatim>{title}</Verbatim>
              </strong>
              <Muted>
                {openerIds.length === 0
                  ? t("secrets.nothing_body")
                  : renderVerbatim(t("secrets.opened_body", { names: markVerbatim(joinNames(openerIds)) }))}
              </Muted>
              {missingOpenerIds.length > 0 && (
                <SmallText>
                  {renderVerbatim(t("secrets.missing_body", { names: markVerbatim(joinNames(missingOpenerIds)) }))}
                </SmallText>
              )}
              <SmallText>
                {copyCheckedAt === null
                  ? t("list.never_body")
                  : t("list.rehearsed_body", { date: date(copyCheckedAt) })}
              </SmallText>
              <Link
                to={`/provide-image-recovery?${new URLSearchParams({ check: secretId }).toString()}`}
                aria-label={t("secrets.rehearse_aria", { title })}
              >
                {t("secrets.rehearse_action")}
              </Link>
            </li>
          ))}
        </List>
      </Stack>
    </Card>
  );
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  overflow-wrap: anywhere;
  & > li {
    display: flex;
    flex-direction: column;
    align-items: flex-start;
    gap: ${space(1)};
    padding-top: ${space(4)};
    border-top: 1px solid ${s("border")};
  }
`;
