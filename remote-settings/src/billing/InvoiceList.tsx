import type { Invoice } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Card, s, SectionTitle, space, Stack } from "@relicario/shared/ui";
import { ExternalLink } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

/** Lists invoices, newest first. Each links to the operator's page of that invoice. */
export function InvoiceList({ invoices }: { readonly invoices: readonly Invoice[] }) {
  const { t } = useTranslation("settings");
  const { language } = usePortal();
  const { date } = getFormats(language);
  return (
    <Card>
      <Stack $gap={3}>
        <SectionTitle>{t("billing.invoices_title")}</SectionTitle>
        <List>
          {invoices.map(({ id, number, issued_at, amount, currency, state, href }) => (
            <Row key={id}>
              <div>
                {href === undefined ? (
                  <InvoiceNumber>{number}</InvoiceNumber>
                ) : (
                  <InvoiceLink
                    href={href}
                    target="_blank"
                    rel="noreferrer"
                    aria-label={t("billing.open_aria", { number })}
                  >
                    {number}
                    <ExternalLink aria-hidden size={16} />
                  </InvoiceLink>
                )}
                <MutedText>{t("billing.issued_body", { date: date(issued_at) })}</MutedText>
              </div>
              <Amount>
                <span>{formatMoney(language, amount, currency)}</span>
                <MutedText>{t(`billing.state.${state}`)}</MutedText>
              </Amount>
            </Row>
          ))}
        </List>
      </Stack>
    </Card>
  );
}

/** Formats the decimal string directly, because a binary number would not be exact. */
function formatMoney(language: string, amount: string, currency: string): string {
  return new Intl.NumberFormat(language, { style: "currency", currency }).format(amount as Intl.StringNumericLiteral);
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
`;

const Row = styled.li`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1)} ${space(4)};
  padding: ${space(3)} 0;
  border-top: 1px solid ${s("border")};
  &:first-child {
    border-top: 0;
  }
`;

const InvoiceNumber = styled.span`
  font-weight: 600;
  overflow-wrap: anywhere;
`;

const InvoiceLink = styled.a`
  display: inline-flex;
  align-items: center;
  gap: ${space(1.5)};
  min-height: 44px;
  font-weight: 600;
  overflow-wrap: anywhere;
`;

const Amount = styled.div`
  margin-left: auto;
  font-variant-numeric: tabular-nums;
  text-align: right;
`;

const MutedText = styled.p`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;
