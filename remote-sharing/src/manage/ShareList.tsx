import type { SecretShare, Vault } from "@relicario/shared/contract";
import { Switch } from "@relicario/shared/forms";
import { ErrorNotice, Loading, SectionTitle, Skeleton, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import type { UseQueryResult } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ShareCard } from "./ShareCard.tsx";

interface ShareListProps {
  readonly vault: Vault;
  readonly shares: UseQueryResult<readonly SecretShare[]>;
  readonly showEnded: boolean;
  readonly onShowEndedChange: (showEnded: boolean) => void;
}

/** Lists the live shares of a secret and, on request, its ended shares. */
export function ShareList({ vault, shares, showEnded, onShowEndedChange }: ShareListProps) {
  const { t } = useTranslation("beta-share");
  return (
    <Stack $gap={4} as="section" aria-labelledby="share-list">
      <SpacedRow $justify="between">
        <SectionTitle id="share-list">{t("given.title")}</SectionTitle>
        <Switch label={t("given.ended_label")} checked={showEnded} onChange={onShowEndedChange} />
      </SpacedRow>
      {shares.isError && <ErrorNotice error={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.isPending && (
        <Loading label={t("vault.loading_status")}>
          <Skeleton height="160px" />
        </Loading>
      )}
      {shares.data?.length === 0 && <SmallText>{t(showEnded ? "given.never_body" : "given.none_body")}</SmallText>}
      {shares.data !== undefined && shares.data.length > 0 && (
        <Cards aria-label={t("given.title")}>
          {shares.data.map((share) => (
            <li key={share.shareId}>
              <ShareCard vault={vault} share={share} />
            </li>
          ))}
        </Cards>
      )}
    </Stack>
  );
}

const Cards = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
`;
