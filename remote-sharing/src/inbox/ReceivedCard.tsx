import { usePortal, type ReceivedShare } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { ButtonLink, Card, s, SmallText, space, Verbatim } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { TrustBadge } from "../people/TrustBadge.tsx";

/**
 * A received share: sender, channel, expiry, and whether it was opened. Its title is not known
 * before it is opened.
 */
export function ReceivedCard({ share }: { readonly share: ReceivedShare }) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const formats = getFormats(language);
  const { from, audience, available, openedAt, expiresAt, createdAt, viewsLeft, shareId } = share;
  const isLink = audience !== "person";
  return (
    <Row
      as="article"
      aria-label={t("received.row_aria", { name: from.userName, when: formats.date(createdAt) })}
      data-state={available ? "open" : "ended"}
    >
      <Details>
        <SenderLine>
          <strong>
            <Verbatim>{from.userName}</Verbatim>
          </strong>
          <TrustBadge trust={from.trust} blocked={from.blocked} />
        </SenderLine>
        <p>{t(isLink ? "received.what_link_body" : "received.what_person_body", { when: formats.date(createdAt) })}</p>
        <SmallText>
          {openedAt === null
            ? t("received.not_opened_status")
            : t("received.opened_status", { when: formats.dateTime(openedAt) })}
        </SmallText>
        <SmallText>
          {available ? t("received.until_body", { when: formats.dateTime(expiresAt) }) : t("received.ended_body")}
        </SmallText>
        {available && viewsLeft !== null && <SmallText>{t("received.views_body", { count: viewsLeft })}</SmallText>}
        {available && isLink && <SmallText>{t("received.by_link_hint")}</SmallText>}
      </Details>
      {available && !isLink && (
        <ButtonLink to={`/p-shared/${shareId}`} tone={openedAt === null ? "primary" : "quiet"}>
          {t("received.open_action")}
        </ButtonLink>
      )}
    </Row>
  );
}

const Row = styled(Card)`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(4)};
  &[data-state="ended"] {
    background: ${s("surfaceSunken")};
    box-shadow: none;
  }
`;

const Details = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  min-width: min(100%, 14rem);
  flex: 1 1 14rem;
  overflow-wrap: anywhere;
`;

const SenderLine = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
`;
