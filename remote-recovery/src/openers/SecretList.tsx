import { usePortal, type OpenersOverview } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Card, Muted, s, SectionTitle, SmallText, space, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

interface SecretListProps {
  readonly overview: OpenersOverview;
}

/** Each secret with what opens it today, and when that was proved last. */
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
          {secrets.map(({ secretId, title, openers: openedBy, missing, copyCheckedAt }) => (
            <li key={secretId}>
              <strong>{title}</strong>
              <Muted>
                {openedBy.length === 0
                  ? t("secrets.nothing_body")
                  : t("secrets.opened_body", { names: joinNames(openedBy) })}
              </Muted>
              {missing.length > 0 && <SmallText>{t("secrets.missing_body", { names: joinNames(missing) })}</SmallText>}
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
