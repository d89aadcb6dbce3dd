import { usePortal, type FoundPerson, type Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { isPortalError } from "@relicario/shared/errors";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Ban, RefreshCw } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { receivedKeys } from "../data/received.ts";
import { ChangedPerson } from "./ChangedPerson.tsx";
import { StandingMark } from "./StandingMark.tsx";
import { WordList } from "../link/WordList.tsx";

interface PersonCardProps {
  readonly vault: Vault;
  readonly person: FoundPerson & { readonly pinnedAt: string };
}

/**
 * Somebody whose keys are pinned: their words, whether they were compared, and blocking them. The
 * directory is asked on a button alone, one name at a time: whoever asked for all of them would
 * tell the service whom this account knows.
 */
export function PersonCard({ vault, person }: PersonCardProps) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { userId, userName, standing, blocked, words, pinnedAt } = person;
  const act = usePersonAct();
  const check = useMutation({ mutationFn: () => vault.people.find(userName) });
  const now = check.data ?? null;
  const isGone = isPortalError(check.error, "not_found");
  const handleTrust = (found: FoundPerson) => {
    act.mutate(() => vault.people.pin(found), { onSuccess: check.reset });
  };
  return (
    <Card as="article" aria-label={userName}>
      <Stack $gap={3}>
        <Who>
          <h3>{userName}</h3>
          <StandingMark standing={standing} blocked={blocked} />
        </Who>
        <SmallText>{t("people.since_body", { when: formatsOf(language).date(pinnedAt) })}</SmallText>
        {now?.standing === "changed" ? (
          <ChangedPerson
            person={now}
            title={t("sender.changed_title", { name: userName })}
            body={t("sender.changed_body", { name: userName })}
            trustLabel={t("sender.trust_action")}
            pending={act.isPending}
            onTrust={() => handleTrust(now)}
          />
        ) : (
          <>
            <WordList words={words} label={t("sender.words_label", { name: userName })} />
            <Checkbox
              label={t("people.compared_label", { name: userName })}
              checked={standing === "compared"}
              disabled={act.isPending}
              onChange={(event) => {
                const { checked } = event.target;
                act.mutate(() => vault.people.setCompared(userId, checked));
              }}
            />
          </>
        )}
        {(isGone || (now !== null && now.standing !== "changed")) && (
          <SmallText role="status">{t(isGone ? "people.gone_status" : "people.same_status")}</SmallText>
        )}
        {check.error !== null && !isGone && <ErrorNotice error={check.error} />}
        <ErrorNotice error={act.error} />
        <SpacedRow>
          {now?.standing !== "changed" && (
            <Button
              tone="quiet"
              size="small"
              icon={<RefreshCw aria-hidden />}
              pending={check.isPending}
              onClick={() => check.mutate()}
            >
              {t("people.check_action")}
            </Button>
          )}
          <Button
            tone="quiet"
            size="small"
            icon={<Ban aria-hidden />}
            pending={act.isPending}
            onClick={() => act.mutate(() => vault.people.setBlocked(person, !blocked))}
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
function usePersonAct() {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (act: () => Promise<void>) => act(),
    onSettled: () => client.invalidateQueries({ queryKey: receivedKeys.all(user.userId) }),
  });
}

const Who = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)};
  overflow-wrap: anywhere;
`;
