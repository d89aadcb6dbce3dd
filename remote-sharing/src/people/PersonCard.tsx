import { usePortal, type PersonRecord, type Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { isPortalError } from "@relicario/shared/errors";
import { getFormats } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, RefreshCw } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { receivedKeys } from "../data/received.ts";
import { ChangedPerson } from "./ChangedPerson.tsx";
import { TrustBadge } from "./TrustBadge.tsx";
import { WordList } from "../link/WordList.tsx";

interface PersonCardProps {
  readonly vault: Vault;
  readonly person: PersonRecord & { readonly pinnedAt: string };
}

/**
 * Somebody whose keys are pinned: their words, whether they were compared, and blocking them. The
 * directory is asked on a button alone, one name at a time: whoever asked for all of them would
 * tell the service whom this account knows.
 */
export function PersonCard({ vault, person }: PersonCardProps) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { userId, userName, trust, blocked, safetyWords, pinnedAt } = person;
  const changeMutation = usePersonMutation();
  const lookup = useMutation({ mutationFn: () => vault.people.find(userName) });
  const foundPerson = lookup.data ?? null;
  const isMissing = isPortalError(lookup.error, "not_found");
  const handleTrust = (candidate: PersonRecord) => {
    changeMutation.mutate(() => vault.people.pin(candidate), { onSuccess: lookup.reset });
  };
  return (
    <Card as="article" aria-label={userName}>
      <Stack $gap={3}>
        <NameLine>
          <h3>{userName}</h3>
          <TrustBadge trust={trust} blocked={blocked} />
        </NameLine>
        <SmallText>{t("people.since_body", { when: getFormats(language).date(pinnedAt) })}</SmallText>
        {foundPerson?.trust === "changed" ? (
          <ChangedPerson
            person={foundPerson}
            title={t("sender.changed_title", { name: userName })}
            body={t("sender.changed_body", { name: userName })}
            trustLabel={t("sender.trust_action")}
            pending={changeMutation.isPending}
            onTrust={() => handleTrust(foundPerson)}
          />
        ) : (
          <>
            <WordList words={safetyWords} label={t("sender.words_label", { name: userName })} />
            <Checkbox
              label={t("people.compared_label", { name: userName })}
              checked={trust === "compared"}
              disabled={changeMutation.isPending}
              onChange={(event) => {
                const { checked } = event.target;
                changeMutation.mutate(() => vault.people.setCompared(userId, checked));
              }}
            />
          </>
        )}
        {(isMissing || (foundPerson !== null && foundPerson.trust !== "changed")) && (
          <SmallText role="status">{t(isMissing ? "people.gone_status" : "people.same_status")}</SmallText>
        )}
        {lookup.error !== null && !isMissing && <ErrorNotice error={lookup.error} />}
        <ErrorNotice error={changeMutation.error} />
        <SpacedRow>
          {foundPerson?.trust !== "changed" && (
            <Button
              tone="quiet"
              size="small"
              icon={<RefreshCw aria-hidden />}
              pending={lookup.isPending}
              onClick={() => lookup.mutate()}
            >
              {t("people.check_action")}
            </Button>
          )}
          <Button
            tone="quiet"
            size="small"
            icon={<Ban aria-hidden />}
            pending={changeMutation.isPending}
            onClick={() => changeMutation.mutate(() => vault.people.setBlocked(person, !blocked))}
          >
            {t(blocked ? "people.unblock_action" : "people.block_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/**
 * One change of the sealed book at a time; the list is read anew afterwards, also after a failure.
 */
function usePersonMutation() {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: () => Promise<void>) => change(),
    onSettled: () => client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) }),
  });
}

const NameLine = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  overflow-wrap: anywhere;
`;
