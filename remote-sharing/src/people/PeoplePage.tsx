import { usePortal, type Vault } from "@relicario/shared/contract";
import { NumberedWords, useNumberedWords } from "@relicario/shared/forms";
import {
  ButtonLink,
  Card,
  EmptyState,
  ErrorNotice,
  Loading,
  Muted,
  Page,
  SectionTitle,
  Skeleton,
  space,
  Stack,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { Users } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ownWordsQuery, peopleQuery } from "../data/received.ts";
import { QrCode } from "../link/QrCode.tsx";
import { WithVault } from "../vault/WithVault.tsx";
import { PersonCard } from "./PersonCard.tsx";

/** Route `/people`: people with pinned keys, and this account's own safety words. */
export default function PeoplePage() {
  const { t } = useTranslation("beta-share");
  return (
    <Page
      title={t("people.title")}
      lead={t("people.lead_body")}
      actions={
        <ButtonLink to="/recived" tone="quiet" size="small">
          {t("people.back_action")}
        </ButtonLink>
      }
    >
      <WithVault returnTo="/people">
        {(vault) => (
          <>
            <OwnWords vault={vault} />
            <KnownPeople vault={vault} />
          </>
        )}
      </WithVault>
    </Page>
  );
}

function OwnWords({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const ownWords = useQuery(ownWordsQuery(vault, user.userId));
  return (
    <Card aria-labelledby="own-words">
      <Stack $gap={4}>
        <SectionTitle id="own-words">{t("people.own_title")}</SectionTitle>
        <Muted>{t("people.own_body")}</Muted>
        {ownWords.isError && <ErrorNotice error={ownWords.error} onRetry={() => void ownWords.refetch()} />}
        {ownWords.data === undefined ? (
          !ownWords.isError && (
            <Loading label={t("people.loading_status")}>
              <OwnWordsGrid>
                <Skeleton height="180px" />
                <CodePlaceholder>
                  <Skeleton height="100%" />
                </CodePlaceholder>
              </OwnWordsGrid>
            </Loading>
          )
        ) : (
          <OwnWordsGrid>
            <NumberedWords
              words={ownWords.data.safetyWords}
              label={t("people.own_words_label", { name: ownWords.data.userName })}
            />
            <OwnWordsCode words={ownWords.data.safetyWords} />
          </OwnWordsGrid>
        )}
      </Stack>
    </Card>
  );
}

/** QR code of the words and numbers as shown. */
function OwnWordsCode({ words }: { readonly words: readonly string[] }) {
  const { t } = useTranslation("beta-share");
  const lines = useNumberedWords(words).map(({ word, number }) => `${word} ${String(number ?? "")}`.trim());
  return <QrCode text={lines.join(", ")} label={t("people.own_code_aria")} />;
}

function KnownPeople({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const people = useQuery(peopleQuery(vault, user.userId));
  return (
    <Stack $gap={4} role="region" aria-labelledby="known-people">
      <SectionTitle id="known-people">{t("people.known_title")}</SectionTitle>
      {people.isError && <ErrorNotice error={people.error} onRetry={() => void people.refetch()} />}
      {people.data === undefined && !people.isError && (
        <Loading label={t("people.loading_status")}>
          <Skeleton height="120px" />
        </Loading>
      )}
      {people.data?.length === 0 && (
        <EmptyState icon={<Users />} title={t("people.empty_title")}>
          <p>{t("people.empty_body")}</p>
        </EmptyState>
      )}
      {people.data !== undefined && people.data.length > 0 && (
        <List>
          {people.data.map((person) => (
            <li key={person.userId}>
              <PersonCard vault={vault} person={person} />
            </li>
          ))}
        </List>
      )}
    </Stack>
  );
}

const OwnWordsGrid = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr) minmax(0, 220px);
  align-items: start;
  gap: ${space(5)};
  @media (max-width: 560px) {
    grid-template-columns: 1fr;
  }
`;

/** As large as the QR code. */
const CodePlaceholder = styled.div`
  width: min(100%, 260px);
  aspect-ratio: 1;
`;

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;
