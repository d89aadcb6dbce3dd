import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import {
  ButtonLink,
  Card,
  Loading,
  markVerbatim,
  media,
  Muted,
  Page,
  s,
  SectionTitle,
  Skeleton,
  space,
  Stack,
  useVault,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { ShieldPlus } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { isFirstFetchPending, useSecrets, type SecretsState } from "../data/secrets.ts";
import { SecretList } from "./SecretList.tsx";
import { ReadFailureNotice } from "../notices/ReadFailureNotice.tsx";
import { accountResetQuery, AccountResetNotice } from "../notices/AccountResetNotice.tsx";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { WaitingUploads } from "../uploads/WaitingUploads.tsx";
import { accountQuery, Attention } from "./Attention.tsx";
import { HowItWorks } from "./HowItWorks.tsx";
import { Messages } from "./Messages.tsx";

/** Route `/home`: a button to add a secret, notices, favourites and recent secrets. */
export default function HomePage() {
  const { t } = useTranslation(["beta-home", "file-upload", "ad-banner"]);
  const { user, http } = usePortal();
  const secrets = useSecrets();
  const access = useVault();
  // The account is loaded before the lists render, because its notices are above the lists.
  // Favourites and due copy checks also need all rows.
  const account = useQuery(accountQuery(http, user.userId));
  const accountReset = useQuery(accountResetQuery(access.status === "ready" ? access.vault : null, user.userId));
  const loading =
    secrets.status === "loading" ||
    (secrets.status === "ready" &&
      (!secrets.layoutSettled ||
        secrets.openingProgress !== null ||
        isFirstFetchPending(account) ||
        isFirstFetchPending(accountReset)));
  // The service counts secrets before the vault runs, so a new account waits for nothing here. A
  // count from before the last change is stale.
  const isCountZero = account.data?.licence.secrets === 0;
  const hasNoSecrets =
    secrets.status === "ready"
      ? secrets.vaultStatus === "empty" || (isCountZero && secrets.rows.length === 0)
      : isCountZero && !account.isStale;
  return (
    <Page width="wide" title={t("home.title", { name: markVerbatim(user.userName) })} lead={t("home.lead_body")}>
      <Hero data-tour="home-create">
        <HeroText>
          <SectionTitle>{t("home.create_title")}</SectionTitle>
          <Muted>{t("home.create_body")}</Muted>
        </HeroText>
        <ButtonLink size="large" to={getProtectPath(secrets)} icon={<ShieldPlus aria-hidden />}>
          {t("home.create_action")}
        </ButtonLink>
      </Hero>
      {loading && !hasNoSecrets && (
        <Loading label={t("list.loading_status")}>
          <Stack $gap={3}>
            <Skeleton width="160px" height="24px" />
            <Skeleton height="78px" />
            <Skeleton height="78px" />
          </Stack>
        </Loading>
      )}
      {!loading && <AccountResetNotice />}
      {!loading && <ReadFailureNotice failure={secrets.failure} />}
      {hasNoSecrets && (
        <>
          <HowItWorks />
          <Messages />
        </>
      )}
      {!loading && secrets.status === "ready" && (
        <>
          {secrets.vaultStatus === "locked" && <UnlockNotice vault={secrets.vault} returnTo="/home" />}
          <WaitingUploads vault={secrets.vault} status={secrets.vaultStatus} />
          {secrets.vaultStatus !== "empty" && <Attention vault={secrets.vault} rows={secrets.rows} />}
          <ShortLists vault={secrets.vault} rows={secrets.rows} />
        </>
      )}
      {!loading && !hasNoSecrets && <Messages />}
    </Page>
  );
}

/**
 * Path for protecting a secret. The first secret goes through the guided flow. Until the vault's
 * state is known, `/add-secret?guided` decides.
 */
function getProtectPath(secrets: SecretsState): string {
  if (secrets.status !== "ready") return "/add-secret?guided";
  return secrets.vaultStatus === "empty" ? "/welcome-backup" : "/add-secret";
}

const shortListLength = 4;

interface ShortListsProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
}

function ShortLists({ vault, rows }: ShortListsProps) {
  const { t } = useTranslation("beta-home");
  const activeRows = rows.filter((row) => row.deletedAt === null);
  const favorites = activeRows.filter((row) => row.favorite).slice(0, shortListLength);
  const recent = activeRows.filter((row) => !row.favorite).slice(0, shortListLength);
  return (
    <>
      {favorites.length > 0 && (
        <Stack $gap={3}>
          <SectionTitle>{t("home.favorites_title")}</SectionTitle>
          <SecretList vault={vault} rows={favorites} label={t("home.favorites_title")} />
        </Stack>
      )}
      {recent.length > 0 && (
        <Stack $gap={3}>
          <SectionTitle>{t("home.recent_title")}</SectionTitle>
          <SecretList vault={vault} rows={recent} label={t("home.recent_title")} />
        </Stack>
      )}
      {activeRows.length > favorites.length + recent.length && (
        <Link to="/secrets">{t("home.all_action", { count: activeRows.length })}</Link>
      )}
    </>
  );
}

const Hero = styled(Card)`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(5)};
  padding: ${space(8)};
  background: ${s("accentSoft")};
  border-color: transparent;
  & p {
    color: ${s("text")};
  }
  ${media.mobile} {
    padding: ${space(5)};
    & > a {
      width: 100%;
    }
  }
`;

const HeroText = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  flex: 1 1 18rem;
  min-width: 0;
`;
